"""Open a warehouse for reading: an in-memory DuckDB whose views lie over the committed files.

A connection sees the commits of the moment it was opened.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from decaf.errors import QueryError, WarehouseError
from warehouse import functions, layout, receipts, storage
from warehouse.current import resolve
from warehouse.migrations import check_version
from warehouse.receipts import Receipt
from warehouse.schemas import TABLES
from warehouse.storage import Content, Root, Storage
from warehouse.views import create_views, in_order
from warehouse.writer import open_root

RECEIPTS = {
    "kind": "VARCHAR",
    "study": "VARCHAR",
    "key": "VARCHAR",
    "model_id": "VARCHAR",
    "committed_at": "TIMESTAMPTZ",
    "pairs_digest": "VARCHAR",
}
"""``pairs_digest`` is of the pairs that went into the commit; NULL where none did."""
RECEIPT_FILES = {
    "kind": "VARCHAR",
    "study": "VARCHAR",
    "key": "VARCHAR",
    "table_name": "VARCHAR",
    "path": "VARCHAR",
    "row_count": "BIGINT",
    "byte_count": "BIGINT",
    "sha256": "VARCHAR",
    "file_name": "VARCHAR",
    "is_readable": "BOOLEAN",
}

WRITING_NODE = re.compile(r'"type":"\w+_QUERY_NODE"')
"""How DuckDB's syntax tree shows COPY, INSERT and the like inside WITH."""


BATCH_ROWS = 10_000
"""Rows that :func:`stream_query` holds at a time."""


class Rows(NamedTuple):
    """Rows of a query that are made while they are read."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def connect(
    root: Root, *, memory_limit: str = "4GB", threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """Open a warehouse with all its views; nothing can be changed through :func:`run_query`.

    Files that a receipt names but that are missing or damaged are left out, so that the rest can
    be read; ``check_rows_match_receipts`` reports them. Outside the warehouse, DuckDB can neither
    read nor write a file, and no setting can be changed.

    Parameters
    ----------
    memory_limit
        Bound of DuckDB's memory, as in ``"4GB"``; larger queries spill to the temporary folder.
    threads
        DuckDB's threads; all cores if it is not given.

    Raises
    ------
    WarehouseError
        When there is no warehouse, it is of a newer version, or a receipt or seed is damaged.
    """
    root = storage.resolved(root)
    store = storage.open(root)
    check_version(root)
    committed = list(receipts.read(root))
    settings = {
        "memory_limit": memory_limit,
        "temp_directory": str(Path(tempfile.gettempdir()) / f"decaf-{uuid4().hex}"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    } | ({"threads": threads} if threads else {})
    try:
        with ExitStack() as on_failure:
            connection = on_failure.enter_context(duckdb.connect(config=settings))
            functions.register(connection)
            # A view opens the files it is bound to: seeds have the types, and are few.
            seeds = _seeds(store)
            provide(connection, store, seeds, [])
            create_views(connection, in_order())
            provide(connection, store, seeds, committed)
            _lock(connection, store)
            on_failure.pop_all()
    except duckdb.Error as error:
        raise WarehouseError(f"warehouse {root} cannot be opened: {error}") from error
    return connection


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
        reader = _relation(connection, sql, parameters).to_arrow_reader(BATCH_ROWS)
    return Rows(reader.schema, _batches(reader))


def stream_view(connection: duckdb.DuckDBPyConnection, name: str, study: str | None = None) -> Rows:
    """Rows of a view, of one study if it is named, batch by batch as :func:`stream_query` does."""
    with _explained():
        rows = connection.view(name)
        if study is not None:
            rows = rows.filter(duckdb.ColumnExpression("study") == duckdb.ConstantExpression(study))
        reader = rows.to_arrow_reader(BATCH_ROWS)
    return Rows(reader.schema, _batches(reader))


def provide(
    connection: duckdb.DuckDBPyConnection,
    store: Storage,
    seeds: dict[str, Path],
    committed: list[Receipt],
) -> None:
    """Set what the SQL files take as given: the variable ``files``, and the receipts."""
    read = resolve(committed).read
    wanted = {f.path: Content(f.byte_count, f.sha256) for receipt in read for f in receipt.files}
    paths = store.bring(wanted)
    readable = {key for key, path in paths.items() if _is_readable(path, wanted[key].byte_count)}
    files = [
        {
            "kind": receipt.kind,
            "study": receipt.study,
            "key": receipt.key,
            "table_name": file.table,
            "path": file.path,
            "row_count": file.row_count,
            "byte_count": file.byte_count,
            "sha256": file.sha256,
            "file_name": str(paths[file.path]) if file.path in readable else None,
            "is_readable": file.path in readable,
        }
        for receipt in read
        for file in receipt.files
    ]
    by_table = {table: [] for table in seeds}
    for table, path in dict.fromkeys(
        (file["table_name"], file["file_name"]) for file in files if file["is_readable"]
    ):
        by_table[table].append(path)
    # DuckDB guesses the size of a table from its first file; a seed, which is empty, comes last.
    for table, path in seeds.items():
        by_table[table].append(str(path))
    by_table["any"] = [path for paths in by_table.values() for path in paths]
    connection.execute("SET VARIABLE files = ?", [by_table])
    rows = [
        {
            "kind": receipt.kind,
            "study": receipt.study,
            "key": receipt.key,
            "model_id": receipt.model_id,
            "committed_at": receipt.committed_at,
            "pairs_digest": receipt.inputs.get("pairs"),
        }
        for receipt in committed
    ]
    _create_table(connection, "receipts", RECEIPTS, rows)
    _create_table(connection, "receipt_files", RECEIPT_FILES, files)


def _create_table(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: dict[str, str],
    rows: list[dict[str, Any]],
) -> None:
    """Create a table of the rows, a list for each column: as JSON it takes five times as long."""
    lists = ", ".join(f"unnest(${name}::{type_}[]) AS {name}" for name, type_ in columns.items())
    connection.execute(
        f"CREATE OR REPLACE TABLE {table} AS SELECT {lists}",
        {name: [row[name] for row in rows] for name in columns},
    )


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


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    with _explained():
        yield from reader


@contextmanager
def _explained() -> Iterator[None]:
    """Tell every failure of a query as a :class:`QueryError`."""
    try:
        yield
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        raise QueryError(f"{error}\nAll views with their columns: SHOW ALL TABLES") from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        # Arrow reports what DuckDB says while rows are read as an error of input and output.
        raise QueryError(str(error)) from error


def _seeds(store: Storage) -> dict[str, Path]:
    """The first file of every table."""
    keys = {name: layout.seed(name) for name in TABLES}
    paths = store.bring(dict.fromkeys(keys.values()))
    for key in keys.values():
        if key not in paths:
            raise WarehouseError(
                f"{store.place(key)} is missing; it belongs to the warehouse, and the next decaf "
                "run writes it anew"
            )
    return {name: paths[key] for name, key in keys.items()}


def _is_readable(path: Path, byte_count: int) -> bool:
    """Whether the file is there and whole; its footer is read only when the size is another."""
    try:
        return path.stat().st_size == byte_count or bool(pq.read_metadata(path))
    except (OSError, pa.ArrowException):
        return False


def _is_read_only(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    tree = connection.sql("SELECT json_serialize_sql($sql)", params={"sql": sql}).fetchall()[0][0]
    return not (json.loads(tree)["error"] or WRITING_NODE.search(tree))


def _lock(connection: duckdb.DuckDBPyConnection, store: Storage) -> None:
    folders = [str(folder) for folder in store.readable_folders]
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET allowed_directories = ?", [folders])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
