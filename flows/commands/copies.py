"""The command that copies tables and views: ``decaf export``."""

from functools import partial
from pathlib import Path

from rich.console import Console

from decaf.errors import BadInput, number_of
from flows.commands.terminal import say, warn
from warehouse.query.database import ENDING, export_database
from warehouse.query.export import export_views
from warehouse.query.query_process import run_in_process
from warehouse.storage import Storage


def copy_views(
    console: Console,
    target: Path,
    names: list[str],
    store: Storage,
    study: str | None,
    file_format: str | None,
    memory: int,
) -> None:
    """Export views into a folder or a DuckDB file, and print the number of rows of each.

    Raises BadInput if a format is named for a DuckDB file, and the errors of the exports.
    """
    is_database = target.suffix == ENDING
    if is_database and file_format:
        raise BadInput(f"{target} is one DuckDB file; leave --format out, or name a folder")
    write = (
        partial(export_database, target=target, names=names, study=study)
        if is_database
        else partial(
            export_views,
            folder=target,
            names=names,
            file_format=file_format or "parquet",
            study=study,
        )
    )
    # With several threads, the last bits of sums differ from one export to the next.
    folder = target.parent if is_database else target
    exported = run_in_process(write, store, memory, warn, threads=1, folder=folder)
    if exported is None:
        say(console, f"{target} is up to date with this warehouse; nothing to do")
        return
    for each in exported:
        say(console, f"{each.row_count:>12,}  {each.name if is_database else each.file}")
    count = number_of(len(exported), "table" if is_database else "file")
    count += "" if is_database else " and manifest.json"
    say(console, f"{count} in {target}")
