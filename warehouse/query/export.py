"""Export tables and views for other programs, with a manifest of their contents."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import duckdb

from decaf.errors import BadInput, UnknownName
from decaf.foundation.files import convert_os_errors
from warehouse.query.catalog import stream_view
from warehouse.query.formats import file_extension, write_file, write_rows
from warehouse.query.views import views
from warehouse.tables.declarations import TABLES

MANIFEST = "manifest.json"
EXPORTED_KINDS = ("core", "out", "paper", "stg")
"""Kinds of views that can be exported."""


class ExportedView(NamedTuple):
    """One view of an export to a single file: a table of a database or a sheet of a workbook."""

    name: str
    row_count: int


class ExportedFile(NamedTuple):
    """One file of an export, as its manifest describes it."""

    name: str
    file: str
    row_count: int
    byte_count: int
    sha256: str
    columns: tuple[str, ...]


def export_views(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    names: Sequence[str] = (),
    file_format: str = "parquet",
    study: str | None = None,
) -> list[ExportedFile]:
    """Write one file for each table or view, then the manifest.

    Rows are copied while they are read, so memory does not grow with them. Every file is replaced
    whole or not at all; a folder without a manifest holds an unfinished export.

    Raises BadInput for an unknown table, view or study, and for a folder that cannot be written;
    WriteFailed when the disk cannot be written.

    Parameters
    ----------
    names
        Views, or tables by their plain names (every committed row, of every run); by default all
        tables.
    file_format
        ``"parquet"`` or ``"csv"``, which has lists as JSON text; ``"spreadsheet"`` is CSV in which
        no text is a formula; ``"latex"`` is a table for a paper.
    study
        Only rows of this study.

    Example
    -------
    >>> with connect("runs/warehouse") as connection:
    ...     export_views(connection, Path("copies"), ["profiles", "out_costs"], study="demo")
    """
    sources = find_sources(connection, names or TABLES, study)
    _remove_manifest(folder)
    files = []
    for name, view in sources.items():
        rows = stream_view(connection, view, study)
        target = folder / f"{name}.{file_extension(file_format)}"
        count = write_file(target, lambda sink, rows=rows: write_rows(rows, file_format, sink))
        with target.open("rb") as written:
            digest = hashlib.file_digest(written, "sha256").hexdigest()
        size = target.stat().st_size
        files.append(ExportedFile(name, target.name, count, size, digest, tuple(rows.schema.names)))
    manifest = {
        "exported_at": datetime.now(UTC).isoformat(),
        "decaf": version("decaf-audit"),
        "study": study,
        "files": [file._asdict() for file in files],
    }
    text = json.dumps(manifest, indent=1) + "\n"
    write_file(folder / MANIFEST, lambda sink: sink.write(text.encode()))
    return files


def find_sources(
    connection: duckdb.DuckDBPyConnection, names: Iterable[str], study: str | None
) -> dict[str, str]:
    """Return the views of distinct names; raises BadInput as :func:`export_views` does."""
    sources = {name: find_view(name) for name in dict.fromkeys(names)}
    if study is not None:
        check_study(connection, study, sources.values())
    return sources


def find_view(name: str) -> str:
    """Return the name of a table's view, or of a view; raises UnknownName for another name."""
    exported_views = [view.name for view in views() if view.kind in EXPORTED_KINDS]
    view = f"stg_{name}" if name in TABLES else name
    if view not in exported_views:
        raise UnknownName.among("table or view", name, [*TABLES, *exported_views])
    return view


def check_study(connection: duckdb.DuckDBPyConnection, study: str, sources: Iterable[str]) -> None:
    """Raise BadInput unless there is such a study and all views have a column ``study``."""
    rows = connection.sql("SELECT DISTINCT study FROM receipts").fetchall()
    studies = [name for (name,) in rows]
    if study not in studies:
        raise UnknownName.among("study", study, studies)
    for view in sources:
        if "study" not in connection.view(view).columns:
            raise BadInput(f"{view} has no column study; export it without --study")


def _remove_manifest(folder: Path) -> None:
    """Remove the old manifest, which is wrong as soon as the first file is replaced."""
    with convert_os_errors(BadInput, f"{folder} cannot be written", "choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
