"""Commands about registries of models. Each imports its own modules."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.options import (
    DEFAULT_WAREHOUSE,
    Config,
    Entries,
    StudyName,
    ToTheEnd,
    Warehouse,
)
from flows.commands.terminal import console


def reaudit(
    config: Config,
    plan_only: Annotated[
        bool,
        typer.Option("--plan", help="print changes, work and standing failures; audit nothing"),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON")] = False,
    entry: Entries = None,
    to_the_end: ToTheEnd = False,
) -> None:
    """Audit changed entries of a registry, compare and judge them, and send alerts."""
    from flows.commands import reaudits

    how = {"is_plan": plan_only, "is_json": as_json, "should_score_all": to_the_end}
    reaudits.reaudit(console, config, **how, only=entry or ())


def accept(
    config: Config,
    entry: Annotated[
        str | None,
        typer.Argument(help="entry of the registry: its name, or name@alias", metavar="ENTRY"),
    ] = None,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="reason, one line")] = "",
    undo: Annotated[
        bool, typer.Option("--undo", help="withdraw the acceptance; the verdict stands again")
    ] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="list acceptances, and accept nothing")
    ] = False,
) -> None:
    """Accept the current version of an entry of a registry, although it did not pass."""
    from flows.commands import acceptances

    if listing:
        acceptances.list_acceptances(console, config)
    else:
        acceptances.accept(console, config, entry, why, is_undo=undo)


def card(
    entry: Annotated[
        str, typer.Argument(help="entry of the registry: its name, or name@alias", metavar="ENTRY")
    ],
    config: Annotated[
        Path, typer.Option("--config", "-c", help="YAML file of the study with the registry")
    ],
) -> None:
    """Propose a card for an entry without one, from the data of its registry."""
    from flows.commands import reaudits

    reaudits.card(console, config, entry)


def history(
    entry: Annotated[
        str | None,
        typer.Argument(help="entry of the registry: its name, or name@alias", metavar="ENTRY"),
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    study: StudyName = None,
) -> None:
    """Print the versions of entries of a registry: failed gates, and M, E, C and F."""
    from flows.commands.history import print_history

    print_history(console, warehouse, entry, study)
