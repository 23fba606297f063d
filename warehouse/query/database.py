"""A copy of views as one DuckDB file, which any DuckDB opens without this project."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from decaf.errors import WriteFailed
from warehouse.query.catalog import run_query, stream_view
from warehouse.query.export import check_study, view_of
from warehouse.query.formats import write_file_at
from warehouse.query.views import View, in_order, views
from warehouse.tables.declarations import TABLES

ENDING = ".duckdb"
KINDS = ("core", "out")
"""Kinds of views that a file has where none are named."""
PUBLISHED = "core_published"
STORAGE_VERSION = "v0.10.0"
"""Oldest format that DuckDB writes; releases from 1.1 on read all of our types in it."""
ABOUT = "decaf_export"
"""Table of one row: what the file is a copy of."""


class ExportedView(NamedTuple):
    """One table of the file."""

    name: str
    row_count: int


def export_database(
    connection: duckdb.DuckDBPyConnection,
    target: Path,
    names: Sequence[str] = (),
    study: str | None = None,
) -> list[ExportedView] | None:
    """Write tables and views as tables of one file, with what each and its columns mean.

    The meaning is there as comments (``duckdb_tables()``, ``duckdb_columns()``). Rows are copied
    while they are read; the file is replaced whole or not at all. Returns None, and writes nothing,
    where the file is such a copy of this very warehouse already.

    Raises BadInput for an unknown table, view or study, and for a place that takes no file;
    WriteFailed when the disk refuses.

    Parameters
    ----------
    names
        Views, or tables by their plain names; every core and outcome view if none are named, but
        those of the paper's values.
    study
        Rows of this study alone, where a view has studies.
    """
    known = {view.name: view for view in views()}
    sources = {name: known[view_of(name)] for name in dict.fromkeys(names or _usual())}
    if study is not None:
        checked = [view.name for view in sources.values()] if names else []
        check_study(connection, study, checked)
    about = {
        "warehouse": _snapshot(connection),
        "decaf": version("decaf-audit"),
        "storage_version": STORAGE_VERSION,
        "study": study,
        "names": json.dumps(list(sources)),
    }
    if _about(target) == about:
        return None

    def write(temporary: Path) -> list[ExportedView]:
        temporary.unlink()  # DuckDB takes no empty file for a database
        try:
            with duckdb.connect() as copy:
                place, storage = _text(str(temporary)), _text(STORAGE_VERSION)
                copy.execute(f"ATTACH {place} AS copy (STORAGE_VERSION {storage})")
                copy.execute("USE copy")
                written = [_copied(connection, copy, *one, study) for one in sources.items()]
                columns = ", ".join(f"${name}::VARCHAR AS {name}" for name in about)
                copy.execute(f"CREATE TABLE {ABOUT} AS SELECT {columns}", about)
                copy.execute("CHECKPOINT copy")  # to close it would hide that the disk refuses
        except duckdb.IOException as error:
            raise WriteFailed(f"{target} could not be written: {error}; make room") from error
        finally:
            temporary.with_name(f"{temporary.name}.wal").unlink(missing_ok=True)
        return written

    return write_file_at(target, write)


def _usual() -> list[str]:
    """Views of the kinds that are copied, but for those that set results against the paper's."""
    compares = {PUBLISHED}
    usual = []
    for view in in_order():
        if compares & {view.name, *view.inputs}:
            compares.add(view.name)
        elif view.kind in KINDS:
            usual.append(view.name)
    return usual


def _snapshot(connection: duckdb.DuckDBPyConnection) -> str:
    """Digest of the commits that the connection sees, and of the views over them."""
    seen = run_query(connection, "SELECT kind, study, key FROM receipts ORDER BY ALL").to_pylist()
    text = json.dumps([seen, [view.sql for view in views()]])
    return hashlib.sha256(text.encode()).hexdigest()


def _about(target: Path) -> dict[str, str | None] | None:
    """What a file is a copy of; None where there is none, or it is no such copy."""
    if target.is_file():
        with suppress(duckdb.Error), duckdb.connect(str(target), read_only=True) as copy:
            (row,) = copy.sql(f"FROM {ABOUT}").to_arrow_table().to_pylist()
            return row
    return None


def _copied(
    connection: duckdb.DuckDBPyConnection,
    copy: duckdb.DuckDBPyConnection,
    name: str,
    view: View,
    study: str | None,
) -> ExportedView:
    has_study = "study" in connection.view(view.name).columns
    rows = stream_view(connection, view.name, study if has_study else None)
    copy.register("rows", pa.RecordBatchReader.from_batches(rows.schema, rows.batches))
    copy.execute(f'CREATE TABLE "{name}" AS FROM rows')
    copy.unregister("rows")
    copy.execute(f'COMMENT ON TABLE "{name}" IS {_text(f"{view.purpose}; {view.grain}")}')
    own = {column.name: column.doc for column in TABLES[name].columns} if name in TABLES else {}
    for column in rows.schema.names:
        if meaning := own.get(column) or MEANINGS.get(column):
            copy.execute(f'COMMENT ON COLUMN "{name}"."{column}" IS {_text(meaning)}')
    (count,) = copy.sql(f'SELECT count(*) FROM "{name}"').fetchall()[0]
    return ExportedView(name, count)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _meanings() -> dict[str, str]:
    said: dict[str, Counter[str]] = {}
    for table in TABLES.values():
        for column in table.columns:
            said.setdefault(column.name, Counter())[column.doc] += 1
    found = {name: docs.most_common(1)[0] for name, docs in said.items()}
    return {name: doc for name, (doc, count) in found.items() if 2 * count > said[name].total()}


MEANINGS = _meanings()
"""What columns of views mean, by their names: what most tables say that have one of the name."""
