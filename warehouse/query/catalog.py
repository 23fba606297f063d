"""Open a warehouse for reading: an in-memory DuckDB with views over the committed files.

A connection sees the commits that existed when it was opened.
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
from warehouse.commits.version import check_version
from warehouse.commits.writer import open_root
from warehouse.query import functions
from warehouse.query.prepared import attach_views
from warehouse.query.provided import provide_files
from warehouse.query.receipt_tables import read_receipts
from warehouse.query.scratch import scratch_folder
from warehouse.query.store_errors import find_store_error
from warehouse.storage import Root, Storage

WRITING_NODE = re.compile(r'"type":"\w+_QUERY_NODE"')
"""Mark of COPY, INSERT and other writing statements inside WITH, in DuckDB's syntax tree."""
PREFIX = re.compile(r"^(out|core|stg)_")
"""Prefix of a view's name: `out` for users, `core` for other views, `stg` for a stored table."""
UNKNOWN_VIEW = re.compile(r'.*Table with name "?(?P<name>[\w.]+)"? does not exist\b!?')

BATCH_ROWS = 10_000
"""Rows that :func:`stream_query` holds at a time."""


DEFAULT_GIGABYTES = 2
SPILLED_SHARE = 0.5
"""Largest share of the temporary folder's free space that queries of one connection use."""
TOO_LARGE = (
    "the query needs more memory than its limit, or more than half of the temporary folder's free "
    "space; filter or aggregate earlier, or raise the limit: --memory GB, DECAF_MEMORY=GB in the "
    "environment, or memory_limit= of connect from Python"
)


class Rows(NamedTuple):
    """Rows of a query, computed while they are read."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def connect(
    warehouse: Root | Storage,
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    without: Collection[str] = (),
) -> duckdb.DuckDBPyConnection:
    """Open a warehouse with all its views; :func:`run_query` cannot change it.

    Missing and damaged files are left out, so that the other files can be read;
    ``check_rows_match_receipts`` reports them. DuckDB cannot read or write files outside the
    warehouse, and its settings cannot be changed.

    Parameters
    ----------
    warehouse
        Folder, URL or open storage.
    memory_limit
        Limit of DuckDB's memory, as in ``"4GB"``; larger queries spill to the temporary folder, up
        to half of its free space. By default ``DECAF_MEMORY`` of the environment, in GB, or
        ``DEFAULT_GIGABYTES``.
    threads
        DuckDB's threads; by default one for each core.
    without
        Keys of further files to leave out (:func:`warehouse.query.damage.find_damage`).

    Raises
    ------
    BadInput
        If ``DECAF_MEMORY`` is no whole number of GB.
    WarehouseError
        If there is no warehouse, it has another schema version, or a receipt is damaged, or
        the temporary folder cannot be written.
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
    """Read ``DECAF_MEMORY``; raises BadInput unless it is a whole number of GB, at least 1."""
    text = os.environ.get("DECAF_MEMORY") or str(DEFAULT_GIGABYTES)
    if not (text.isascii() and text.isdigit() and int(text)):
        raise BadInput(f"DECAF_MEMORY: found {text!r}; expected a whole number of GB, at least 1")
    return f"{int(text)}GB"


@contextmanager
def connect_empty() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open all views without rows, to read their columns."""
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
        When a file differs from its receipt, or an object store cannot deliver it.
    """
    with _raise_query_errors(connection):
        return _relation(connection, sql, parameters).to_arrow_table()


def stream_query(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None
) -> Rows:
    """Run a query as :func:`run_query` does, and return its rows batch by batch.

    The connection can run no other query until the batches are read or deleted.

    Raises
    ------
    QueryError
        At once, or while the batches are read: a conversion can fail on any row.
    """
    with _raise_query_errors(connection):
        return _stream(_relation(connection, sql, parameters))


def stream_view(connection: duckdb.DuckDBPyConnection, name: str, study: str | None = None) -> Rows:
    """Stream the rows of a view, or those of one study, as :func:`stream_query` does."""
    with _raise_query_errors():
        return _stream(filter_study(connection.view(name), study))


def filter_study(rows: duckdb.DuckDBPyRelation, study: str | None) -> duckdb.DuckDBPyRelation:
    """Select the rows of one study; all rows if ``study`` is None."""
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
    bound_names, used_names = set(parameters or {}), statements[0].named_parameters
    if bound_names != used_names:
        raise QueryError(
            f"found values for the parameters {_dollars(bound_names)}; expected those of the "
            f"query: {_dollars(used_names)}"
        )
    return connection.sql(sql, params=dict(parameters) if parameters else None)


def _dollars(names: set[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(names)) or "none"


def _stream(relation: duckdb.DuckDBPyRelation) -> Rows:
    reader = relation.to_arrow_reader(BATCH_ROWS)

    def batches() -> Iterator[pa.RecordBatch]:
        with _raise_query_errors():
            yield from reader

    return Rows(reader.schema, batches())


@contextmanager
def _raise_query_errors(connection: duckdb.DuckDBPyConnection | None = None) -> Iterator[None]:
    """Raise every failure of a query inside the block as a QueryError or WarehouseError.

    With a connection, the error for an unknown view suggests views of the connection.
    """
    try:
        yield
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        message = str(error)
        unknown = UNKNOWN_VIEW.search(message)
        if connection and unknown and (views := _views_of_word(connection, unknown["name"])):
            message = f"{unknown[0]}\nDid you mean {views}?"
        raise QueryError(f"{message}\nAll views with their columns: SHOW ALL TABLES") from error
    except (duckdb.OutOfMemoryException, pa.ArrowMemoryError) as error:
        raise QueryError(TOO_LARGE) from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        # Arrow raises DuckDB's errors while rows are read as OSError.
        raise find_store_error(error) or QueryError(str(error)) from error


def _views_of_word(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    """Views with the name of an unknown view but another prefix, ``out_x`` for ``core_x``.

    Users' views come first. Empty if there are none: DuckDB then suggests similar names.
    """
    word = PREFIX.sub("", name.rpartition(".")[2])
    rows = connection.sql("SELECT DISTINCT name FROM (SHOW ALL TABLES)").fetchall()
    views = [view for (view,) in rows if PREFIX.sub("", view) == word]
    views.sort(key=lambda view: ("stg_" in view, "core_" in view, view))
    return " or ".join(f'"{view}"' for view in views)


def _is_read_only(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    # DuckDB reads the field: the depth of JSON that Python can read depends on its version.
    tree, error = connection.sql(
        "SELECT tree, tree ->> 'error' FROM (SELECT json_serialize_sql($sql) AS tree)",
        params={"sql": sql},
    ).fetchall()[0]
    return error == "false" and not WRITING_NODE.search(tree)


def _lock(connection: duckdb.DuckDBPyConnection, folders: tuple[str, ...]) -> None:
    most = int(shutil.disk_usage(tempfile.gettempdir())[2] * SPILLED_SHARE)
    # DuckDB 2.0 ignores this setting in connect().
    connection.execute(f"SET max_temp_directory_size = '{most}B'")
    connection.execute("SET TimeZone = 'UTC'")
    # With `python -c`, DuckDB would print a progress bar into the output.
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET allowed_directories = ?", [[*folders]])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
