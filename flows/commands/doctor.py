"""What this machine has for an audit, line by line, with what to do."""

import json
from pathlib import Path

from rich.console import Console
from rich.text import Text

from decaf.errors import ChecksFailed
from decaf.plan.study import Study
from flows.commands.options import open_study
from flows.commands.terminal import say
from tasks.health import Asked, examine
from tasks.progress import announce
from warehouse.storage import Storage

STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def doctor(
    console: Console, config: Path | None, store: Storage, *, tries_models: bool, is_json: bool
) -> None:
    """Print what every check finds, of the folders of a study or of the usual ones.

    Raises ChecksFailed when something keeps an audit from running.
    """
    study, store = open_study(config) if config else (None, store)
    workspace = study.workspace if study else Study.model_fields["workspace"].default
    asked = Asked(store, workspace, study, tries_models)
    found = []
    for one in examine(asked):
        found.append(one)
        if is_json:
            announce(f"checked: {one.subject}")
        else:
            advice = f"; {one.advice}" if one.advice else ""
            level = Text(f"{one.level:<7}  ", STYLES[one.level])
            console.print(level.append(f"{one.subject}: {one.found}{advice}", ""), soft_wrap=True)
    if is_json:
        say(console, json.dumps([one._asdict() for one in found], indent=2))
    if count := sum(one.level == "problem" for one in found):
        raise ChecksFailed(f"{count} of {len(found)} lines are problems; see what each says")
