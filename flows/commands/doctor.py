"""Carry out ``decaf doctor``: check whether this machine can run an audit."""

import json
from pathlib import Path

from rich.console import Console
from rich.text import Text

from decaf.errors import ChecksFailed
from decaf.plan.study import Study
from flows.commands.options import open_study
from flows.commands.terminal import say
from tasks.health import Setup, examine
from tasks.progress import announce
from warehouse.storage import Storage

STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def doctor(
    console: Console, config: Path | None, store: Storage, *, tries_models: bool, is_json: bool
) -> None:
    """Print the result of each check, for a study or for the default folders.

    Raises ChecksFailed if a check found a problem that prevents an audit.
    """
    study, store = open_study(config) if config else (None, store)
    workspace = study.workspace if study else Study.model_fields["workspace"].default
    setup = Setup(store, workspace, study, tries_models)
    results = []
    for result in examine(setup):
        results.append(result)
        if is_json:
            announce(f"checked: {result.subject}")
        else:
            advice = f"; {result.advice}" if result.advice else ""
            level = Text(f"{result.level:<7}  ", STYLES[result.level])
            console.print(
                level.append(f"{result.subject}: {result.found}{advice}", ""), soft_wrap=True
            )
    if is_json:
        say(console, json.dumps([result._asdict() for result in results], indent=2))
    if count := sum(result.level == "problem" for result in results):
        raise ChecksFailed(f"{count} of {len(results)} checks found a problem; see the lines above")
