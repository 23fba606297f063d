"""The command that copies tables and views: ``decaf export``."""

from functools import partial
from pathlib import Path

from rich.console import Console

from decaf.errors import BadInput, number_of
from flows.commands.terminal import say, warn
from warehouse.query.database import export_database
from warehouse.query.export import export_views
from warehouse.query.query_process import run_in_process
from warehouse.query.workbook import export_workbook
from warehouse.storage import Storage

DATABASE, WORKBOOK, TABLE = "duckdb", "xlsx", "latex"
"""Formats of one file, by its ending, and of papers."""
PICKED = (WORKBOOK, TABLE)
"""Formats for a few named views, not for every table."""


def copy_views(
    console: Console,
    target: Path,
    names: list[str],
    store: Storage,
    study: str | None,
    file_format: str | None,
    memory: int,
) -> None:
    """Export views into a folder, a DuckDB file or a workbook, and print the rows of each.

    Raises BadInput if target and format do not fit each other, or the format needs names, and the
    errors of the exports.
    """
    chosen = _choose_format(target, file_format)
    if chosen in PICKED and not names:
        raise BadInput(
            f"found no view to write as {chosen}; name some, as in decaf export {target} "
            "out_model_profiles (decaf views lists them)"
        )
    is_file = chosen in (DATABASE, WORKBOOK)
    if chosen == DATABASE:
        write = partial(export_database, target=target, names=names, study=study)
    elif chosen == WORKBOOK:
        write = partial(export_workbook, target=target, names=names, study=study)
    else:
        write = partial(export_views, folder=target, names=names, file_format=chosen, study=study)
    # With several threads, the last bits of sums differ from one export to the next.
    folder = target.parent if is_file else target
    exported = run_in_process(write, store, memory, warn, threads=1, folder=folder)
    if exported is None:
        say(console, f"{target} is up to date with this warehouse; nothing to do")
        return
    for each in exported:
        say(console, f"{each.row_count:>12,}  {each.name if is_file else each.file}")
    nouns = {DATABASE: "table", WORKBOOK: "sheet"}
    count = number_of(len(exported), nouns.get(chosen, "file"))
    count += "" if is_file else " and manifest.json"
    say(console, f"{count} in {target}")


def _choose_format(target: Path, file_format: str | None) -> str:
    """Format of the ending of a file, or of the files in a folder."""
    of_target = target.suffix.removeprefix(".")
    if of_target in (DATABASE, WORKBOOK):
        if file_format not in (None, of_target):
            raise BadInput(
                f"{target} is one {of_target} file, not {file_format}; leave --format out, or name "
                "a folder"
            )
        return of_target
    if file_format == WORKBOOK:
        raise BadInput(f"{target}: a workbook is one file; expected a name that ends in .xlsx")
    return file_format or "parquet"
