"""Run `decaf data` on a study in this process."""

import json
from io import StringIO

import pytest
from rich.console import Console

from decaf.errors import BadInput
from flows.commands.data import show_data


def look_at(config, html=None):
    """Answer of `decaf data --json` for a configuration; raises the error of the command."""
    console = Console(file=StringIO())
    show_data(console, config, html, is_json=True)
    return json.loads(console.file.getvalue())


def refuse_to_look(config, *values, html=None):
    """Assert that `decaf data` refuses a configuration, with these values in its message."""
    with pytest.raises(BadInput) as refusal:
        look_at(config, html)
    for value in values:
        assert value in str(refusal.value), str(refusal.value)
