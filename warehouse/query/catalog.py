"""Open a warehouse for reading: an in-memory DuckDB whose views lie over the committed files.

A connection sees the commits of the moment it was opened.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import duckdb
import pyarrow as pa

from decaf.errors import BadInput, QueryError, WarehouseError
from warehouse import storage
from warehouse.commits.migrations import check_version
from warehouse.commits.writer import open_root
from warehouse.query import functions
from warehouse.query.prepared import attach_views
from warehouse.query.provided import provide_files
from warehouse.query.receipt_tables import read_receipts
from warehouse.query.scratch import scratch_folder
from warehouse.query.store_errors import of_store
from warehouse.storage import Root, Storage

WRITING_NODE = re.compile(r'"type":"\w+_QUERY_NODE"')
"""How DuckDB's syntax tree shows COPY, INSERT and the like inside WITH."""


BATCH_ROWS = 10_000
"""Rows that :func:`stream_query` holds at a time."""


DEFAULT_GIGABYTES = 2
SPILLED_SHARE = 2
"""Of the room that is free in the temporary folder, queries of one connection may take a half."""
TOO_LARGE = (
    "the query needs more memory than it may have, or more than half of the temporary folder's "
    "free room; filter or aggregate earlier, or allow more: --memory GB, DECAF_MEMORY=GB in the "
    "environment, or memory_limit= of connect from Python"
)


class Rows(NamedTuple):
    """Rows of a query that are made while they are read."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def connect(
    warehouse: Root | Storage,
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    without: Collection[str] = (),
) -> duckdb.DuckDBPyConnection:
    """Open a warehouse with all its views; nothing can be changed through :func:`run_query`.

    Files that a receipt names but that are missing or damaged are left out, so that the rest can
    be read; ``check_rows_match_receipts`` reports them. Outside the warehouse, DuckDB can neither
    read nor write a file, and no setting can be changed.

    Parameters
    ----------
    warehouse
        Its folder or URL, or its storage where that is open.
    memory_limit
        Bound of DuckDB's memory, as in ``"4GB"``; larger queries spill to the temporary folder,
        up to half of the room that is free there. Without it, ``DECAF_MEMORY`` of the environment
        in GB, else ``DEFAULT_GIGABYTES``.
    threads
        DuckDB's threads; all cores if it is not given.
    without
        Keys of files to leave out, too (:func:`warehouse.query.damage.find_damage`).

    Raises
    ------
    WarehouseError
        When there is no warehouse, it is of a newer version, or a receipt or seed is damaged.
    """
    store = warehouse if isinstance(warehouse, Storage) else storage.open(warehouse)
    check_version(store)
    spill = scratch_folder() / uuid4().hex
    settings = {
        "memory_limit": memory_limit or _default_memory_limit(),
        "temp_directory": str(spill),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    } | ({"threads": threads} if threads else {})
    try:
        with ExitStack() as on_failure:
            connection = on_failure.enter_context(duckdb.connect(config=settings))
            functions.register(connection)
            attach_views(connection)
            files = read_receipts(connection, store)
            _lock(connection, provide_files(connection, store, files, without))
            on_failure.pop_all()
    except duckdb.Error as error:
        raise WarehouseError(f"warehouse {store.address} cannot be opened: {error}") from error
    return connection


def _default_memory_limit() -> str:
    """Read ``DECAF_MEMORY``; raises BadInput where it is no whole number of GB from 1 on."""
    text = os.environ.get("DECAF_MEMORY") or str(DEFAULT_GIGABYTES)
    if not (text.isascii() and text.isdigit() and int(text)):
        raise BadInput(f"DECAF_MEMORY: found {text!r}; expected a whole number of GB from 1 on")
    return f"{int(text)}GB"


@contextmanager
def connect_empty() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open all views over no rows, to ask what their columns are."""
    with tempfile.TemporaryDirectory() as folder, connect(open_root(Path(folder))) as connection:
        yield connection


def run_query(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None
) -> pa.Table:
    """Run one ``SELECT`` (or ``WITH``, ``FROM``, ``DESCRIBE``, ``SHOW``, ``SUMMARIZE``).

    Parameters
    ----------
    parameters
        Values of ``$name`` in the query: bound, never part of its text.

    Raises
    ------
    QueryError
        For SQL that does not run, with DuckDB's own suggestions, and for SQL that would write.
    WarehouseError
        When a file is not what its receipt says, or an object store does not give it.
    """
    with _explained():
        return _relation(connection, sql, parameters).to_arrow_table()


def stream_query(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None
) -> Rows:
    """Run a query as :func:`run_query` does, its rows batch by batch.

    The connection can run nothing else until the batches have been read or let go.

    Raises
    ------
    QueryError
        At once, or while the batches are read: a conversion may fail on any row.
    """
    with _explained():
        return _streamed(_relation(connection, sql, parameters))


def stream_view(connection: duckdb.DuckDBPyConnection, name: str, study: str | None = None) -> Rows:
    """Rows of a view, of one study if it is named, batch by batch as :func:`stream_query` does."""
    with _explained():
        return _streamed(of_study(connection.view(name), study))


def of_study(rows: duckdb.DuckDBPyRelation, study: str | None) -> duckdb.DuckDBPyRelation:
    """Rows of one study, if it is named."""
    if study is None:
        return rows
    return rows.filter(duckdb.ColumnExpression("study") == duckdb.ConstantExpression(study))


def _relation(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None
) -> duckdb.DuckDBPyRelation:
    statements = connection.extract_statements(sql)
    if len(statements) != 1 or not _is_read_only(connection, sql):
        kinds = ", ".join(statement.type.name for statement in statements) or "nothing"
        raise QueryError(
            f"found {kinds}; expected one SELECT that writes nothing (WITH, FROM, DESCRIBE, "
            "SHOW and SUMMARIZE are fine, and PIVOT with a list: ON column IN (…))"
        )
    given, used = set(parameters or {}), statements[0].named_parameters
    if given != used:
        raise QueryError(
            f"the query has the parameters {_dollars(used)}; given were {_dollars(given)}"
        )
    return connection.sql(sql, params=dict(parameters) if parameters else None)


def _dollars(names: set[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(names)) or "none"


def _streamed(relation: duckdb.DuckDBPyRelation) -> Rows:
    reader = relation.to_arrow_reader(BATCH_ROWS)

    def batches() -> Iterator[pa.RecordBatch]:
        with _explained():
            yield from reader

    return Rows(reader.schema, batches())


@contextmanager
def _explained() -> Iterator[None]:
    """Tell every failure of a query as a :class:`QueryError`."""
    try:
        yield
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        raise QueryError(f"{error}\nAll views with their columns: SHOW ALL TABLES") from error
    except (duckdb.OutOfMemoryException, pa.ArrowMemoryError) as error:
        raise QueryError(TOO_LARGE) from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        # Arrow reports what DuckDB says while rows are read as an error of input and output.
        raise of_store(error) or QueryError(str(error)) from error


def _is_read_only(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    # DuckDB reads the field: how deep Python can read JSON depends on Python's version.
    tree, error = connection.sql(
        "SELECT tree, tree ->> 'error' FROM (SELECT json_serialize_sql($sql) AS tree)",
        params={"sql": sql},
    ).fetchall()[0]
    return error == "false" and not WRITING_NODE.search(tree)


def _lock(connection: duckdb.DuckDBPyConnection, folders: tuple[str, ...]) -> None:
    most = shutil.disk_usage(tempfile.gettempdir())[2] // SPILLED_SHARE
    # DuckDB 2.0 shows what it is given with the other settings, and does not keep to it.
    connection.execute(f"SET max_temp_directory_size = '{most}B'")
    connection.execute("SET TimeZone = 'UTC'")
    # In `python -c` DuckDB would print a bar among the answers.
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET allowed_directories = ?", [[*folders]])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
