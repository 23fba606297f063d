"""Copy views to one Excel workbook, a sheet for each view."""

import shutil
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from decaf.errors import BadInput
from decaf.foundation.extras import optional
from warehouse.query.catalog import filter_study, stream_view
from warehouse.query.export import ExportedView, find_sources
from warehouse.query.formats import to_json, write_file_at
from warehouse.query.values import json_ready

if TYPE_CHECKING:
    from xlsxwriter import Workbook

MOST_ROWS = 1_048_576
"""Most rows of a sheet, including the row of names."""
MOST_CHARACTERS = 32_767
"""Most characters of a cell."""
NAME_CHARACTERS = 31
"""Most characters of the name of a sheet; names of views differ in their first 31."""
EXACT = 2**53
"""Excel's numbers are floats: larger integers are written as text, with all digits."""
CREATED = datetime(2026, 1, 1)  # noqa: DTZ001 - the format has no time zone
"""Stated in every workbook, so that two exports of one warehouse have the same bytes."""


def export_workbook(
    connection: duckdb.DuckDBPyConnection,
    target: Path,
    names: Sequence[str],
    study: str | None = None,
) -> list[ExportedView]:
    """Write views, or tables by their plain names, as sheets of one workbook.

    Text stays text, even if it begins with ``=``, ``+``, ``-`` or ``@``. NULL is an empty cell;
    lists are JSON text, dates ISO text. Rows are copied while they are read; the file is replaced
    whole or not at all. ``study`` keeps the rows of one study.

    Raises BadInput for an unknown table, view or study, for more rows than a sheet has, for a text
    that no cell holds, and for a target that cannot be a file; WriteFailed when the disk cannot be
    written; MissingPackage without XlsxWriter.
    """
    with optional():
        from xlsxwriter import Workbook
        from xlsxwriter.exceptions import FileCreateError
    sources = find_sources(connection, names, study)
    for view in sources.values():
        _check_size(connection, view, study)

    def write(temporary: Path) -> list[ExportedView]:
        # XlsxWriter leaves its archive open if the disk is full, so it writes to scratch first.
        with tempfile.TemporaryFile() as archive:
            try:
                # The book closes its temporary files even if a value is refused.
                with Workbook(archive, {"constant_memory": True}) as book:
                    book.set_properties({"created": CREATED})
                    written = [
                        _write_sheet(book, connection, name, view, study)
                        for name, view in sources.items()
                    ]
            except FileCreateError as error:
                raise error.args[0] from error  # the OSError of the disk
            archive.seek(0)
            with temporary.open("wb") as sink:
                shutil.copyfileobj(archive, sink)
        return written

    return write_file_at(target, write)


def _check_size(connection: duckdb.DuckDBPyConnection, view: str, study: str | None) -> None:
    (count,) = filter_study(connection.view(view), study).count("*").fetchall()[0]
    if count >= MOST_ROWS:
        raise BadInput(
            f"{view} has {count:,} rows; a sheet has {MOST_ROWS:,} with the row of names; export "
            "it as Parquet, or one study with --study"
        )


def _write_sheet(
    book: "Workbook",
    connection: duckdb.DuckDBPyConnection,
    name: str,
    view: str,
    study: str | None,
) -> ExportedView:
    rows = stream_view(connection, view, study)
    sheet = book.add_worksheet(name[:NAME_CHARACTERS])
    sheet.freeze_panes(1, 0)
    for place, column in enumerate(rows.schema.names):
        sheet.write_string(0, place, column)
    count = 0
    for batch in rows.batches:
        for values in zip(*map(pa.Array.to_pylist, batch.columns), strict=True):
            count += 1
            for place, value in enumerate(map(_cell_value, values)):
                if isinstance(value, bool):
                    sheet.write_boolean(count, place, value)
                elif isinstance(value, str):
                    if len(value) > MOST_CHARACTERS:
                        raise BadInput(
                            f"{view}, column {rows.schema.names[place]}, data row {count:,}: found "
                            f"{len(value):,} characters; a cell has at most "
                            f"{MOST_CHARACTERS:,}; export it as Parquet or CSV"
                        )
                    sheet.write_string(count, place, value)
                elif value is not None:
                    sheet.write_number(count, place, value)
    return ExportedView(name, count)


def _cell_value(value: object) -> bool | float | str | None:
    """Value as a cell holds it: lists as JSON text, large integers as text."""
    ready = json_ready(value)
    if isinstance(ready, list | dict):
        return to_json(ready)
    return str(ready) if isinstance(ready, int) and abs(ready) > EXACT else ready
