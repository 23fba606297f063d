"""Copy views to one DuckDB file, which any DuckDB opens without this project."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import duckdb
import pyarrow as pa

from decaf.errors import WriteFailed
from warehouse.query.catalog import run_query, stream_view
from warehouse.query.export import ExportedView, check_study, find_view
from warehouse.query.formats import write_file_at
from warehouse.query.views import View, sort_views, views
from warehouse.tables.declarations import TABLES

KINDS = ("core", "out")
"""Kinds of views that a file has by default."""
PUBLISHED = "core_published"
STORAGE_VERSION = "v0.10.0"
"""Oldest format that DuckDB writes; releases from 1.1 on read all of decaf's types in it."""
ABOUT = "decaf_export"
"""Table of one row that states the source of the copy."""


def export_database(
    connection: duckdb.DuckDBPyConnection,
    target: Path,
    names: Sequence[str] = (),
    study: str | None = None,
) -> list[ExportedView] | None:
    """Write tables and views as tables of one file, with comments on them and their columns.

    ``duckdb_tables()`` and ``duckdb_columns()`` show the comments. Rows are copied while they are
    read; the file is replaced whole or not at all. Returns None and writes nothing if the file is
    already this copy of this warehouse.

    Raises BadInput for an unknown table, view or study, and for a target that cannot be a file;
    WriteFailed when the disk cannot be written.

    Parameters
    ----------
    names
        Views, or tables by their plain names; by default every core and outcome view except those
        with the paper's values.
    study
        Only rows of this study, in views that have a column ``study``.
    """
    views_by_name = {view.name: view for view in views()}
    sources = {
        name: views_by_name[find_view(name)]
        for name in dict.fromkeys(names or _list_default_views())
    }
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
    if _read_origin(target) == about:
        return None

    def write(temporary: Path) -> list[ExportedView]:
        temporary.unlink()  # DuckDB cannot open an empty file as a database
        try:
            with duckdb.connect() as copy:
                place, storage = _text(str(temporary)), _text(STORAGE_VERSION)
                copy.execute(f"ATTACH {place} AS copy (STORAGE_VERSION {storage})")
                copy.execute("USE copy")
                written = [
                    _copy_view(connection, copy, *source, study) for source in sources.items()
                ]
                columns = ", ".join(f"${name}::VARCHAR AS {name}" for name in about)
                copy.execute(f"CREATE TABLE {ABOUT} AS SELECT {columns}", about)
                copy.execute("CHECKPOINT copy")  # closing would hide an error of the disk
        except duckdb.IOException as error:
            raise WriteFailed(f"{target} could not be written: {error}; free some space") from error
        finally:
            temporary.with_name(f"{temporary.name}.wal").unlink(missing_ok=True)
        return written

    return write_file_at(target, write)


def _list_default_views() -> list[str]:
    """Core and outcome views, except those that compare results with the paper's values."""
    compares = {PUBLISHED}
    usual = []
    for view in sort_views():
        if compares & {view.name, *view.inputs}:
            compares.add(view.name)
        elif view.kind in KINDS:
            usual.append(view.name)
    return usual


def _snapshot(connection: duckdb.DuckDBPyConnection) -> str:
    """Digest of the commits that the connection sees, and of the views."""
    commits = run_query(
        connection, "SELECT kind, study, key FROM receipts ORDER BY ALL"
    ).to_pylist()
    text = json.dumps([commits, [view.sql for view in views()]])
    return hashlib.sha256(text.encode()).hexdigest()


def _read_origin(target: Path) -> dict[str, str | None] | None:
    """Read the source of a copy; None if there is no file, or it is not such a copy."""
    if target.is_file():
        with suppress(duckdb.Error), duckdb.connect(str(target), read_only=True) as copy:
            (row,) = copy.sql(f"FROM {ABOUT}").to_arrow_table().to_pylist()
            return row
    return None


def _copy_view(
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
    docs_by_column = (
        {column.name: column.doc for column in TABLES[name].columns} if name in TABLES else {}
    )
    for column in rows.schema.names:
        if meaning := docs_by_column.get(column) or MEANINGS.get(column):
            copy.execute(f'COMMENT ON COLUMN "{name}"."{column}" IS {_text(meaning)}')
    (count,) = copy.sql(f'SELECT count(*) FROM "{name}"').fetchall()[0]
    return ExportedView(name, count)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _meanings() -> dict[str, str]:
    docs_by_column: dict[str, Counter[str]] = {}
    for table in TABLES.values():
        for column in table.columns:
            docs_by_column.setdefault(column.name, Counter())[column.doc] += 1
    commonest = {name: docs.most_common(1)[0] for name, docs in docs_by_column.items()}
    return {
        name: doc
        for name, (doc, count) in commonest.items()
        if 2 * count > docs_by_column[name].total()
    }


MEANINGS = _meanings()
"""Meaning of a column of views, by its name: the one that most tables with this column state."""
