"""Carry out ``decaf accept``: record, undo and list acceptances of verdicts."""

import getpass
import os
from pathlib import Path

from rich.console import Console
from rich.text import Text

from decaf.errors import BadInput
from decaf.plan.study import Study
from decaf.registry.entries import LAST_PASSED
from decaf.registry.messages import finding
from flows.commands.display import table_of
from flows.commands.options import open_study
from flows.commands.terminal import say
from tasks.hold import hold_study
from tasks.publish import publish
from tasks.reaudit import standing
from tasks.reaudit.recorded import newest_reaudit
from tasks.reaudit.write_back import write_answers
from warehouse.storage import Storage


def accept(
    console: Console, config: Path, entry: str | None, why: str, *, is_undo: bool = False
) -> None:
    """Accept the verdict of an entry that did not pass, or undo an acceptance.

    Raises BadInput if the study was never re-audited, if no entry is named, or if the entry has no
    verdict to accept or to undo; AlreadyRunning while the study is being audited.
    """
    study, store = _open_audited(config)
    if entry is None:
        raise BadInput(f"no entry; expected decaf accept {config} ENTRY --why TEXT")
    with hold_study(study):
        verdict = standing.accept(store, study.study, entry, why, _user(), is_undo=is_undo)
    for row in verdict["rows"]:
        say(console, finding(row, study.names))
    state = "is accepted"
    if is_undo:
        state = "is no longer accepted; its verdict stands again"
    elif study.compare_with == LAST_PASSED:
        state = "is accepted; later versions are compared with it"
    say(console, f"{entry} {verdict['version']} {state}")
    publish(store, study, str(config))
    write_answers(store, study)


def list_acceptances(console: Console, config: Path) -> None:
    """Print all acceptances of a study and their withdrawals, the newest first."""
    study, store = _open_audited(config)
    names = ("at", "what", "entry", "version", "by", "why")
    table = table_of(f"{study.study}: accepted verdicts", names, 6)
    for row in standing.acceptances(store, study.study):
        cells = (row["entry"], row["version"], row["accepted_by"], row["why"])
        what = "undone" if row["is_undo"] else "accepted"
        table.add_row(row["accepted_at"][:16].replace("T", " "), what, *map(Text, cells))
    console.print(table)


def _open_audited(config: Path) -> tuple[Study, Storage]:
    study, store = open_study(config)
    if study.registry is None or newest_reaudit(store, study.study) is None:
        raise BadInput(
            f"the warehouse {store.address} has no re-audit of {study.study}; run "
            f"decaf reaudit {config} first"
        )
    return study, store


def _user() -> str:
    """Name of the user; its number if the machine has no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"
