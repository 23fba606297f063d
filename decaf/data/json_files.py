"""JSON files of other people: read, and refused by name where they are of another form."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from decaf.errors import DataError
from decaf.foundation.files import open_file, refusals_as

Read = TypeVar("Read")


def read_json(file: Path, what: str, expected: str, taken: Callable[[Any], Read]) -> Read:
    """What is taken from the content of a file, which may be of any form.

    Raises DataError when the file cannot be read or is no JSON, and for what ``taken`` raises:
    ValueError with what is wrong, LookupError or TypeError where something is missing or another.
    """
    with refusals_as(DataError, f"{what} {file} cannot be read", expected), open_file(file) as read:
        content = read.read()
    try:
        return taken(json.loads(content))
    except ValueError as error:
        raise DataError(f"{what} {file}: {error}; {expected}") from error
    except (LookupError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"{what} {file}: {type(error).__name__}: {error}; {expected}") from error
