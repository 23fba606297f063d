"""What the SQL files take as given: which files hold the rows of a table, and the receipts."""

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.commits.current import resolve
from warehouse.commits.receipts import Receipt
from warehouse.commits.seeds import stored_seeds
from warehouse.storage import Content, Storage

RECEIPTS = {
    "kind": "VARCHAR",
    "study": "VARCHAR",
    "key": "VARCHAR",
    "model_id": "VARCHAR",
    "committed_at": "TIMESTAMPTZ",
}
COMMITTED_UNITS = {"study": "VARCHAR", "unit_key": "VARCHAR", "commit_key": "VARCHAR"}
"""Units of work whose rows are committed, and by which commit."""
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


def provide(
    connection: duckdb.DuckDBPyConnection,
    store: Storage,
    committed: list[Receipt],
) -> None:
    """Set what the SQL files take as given: the variable ``files``, and the receipts.

    Raises
    ------
    WarehouseError
        When a seed is missing or damaged.
    """
    seeds = stored_seeds(store)
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
        }
        for receipt in committed
    ]
    _create_table(connection, "receipts", RECEIPTS, rows)
    held = [
        {"study": receipt.study, "unit_key": key, "commit_key": receipt.key}
        for receipt in committed
        if receipt.kind == "units"  # upgrades name units that they left behind
        for key in receipt.units
    ]
    _create_table(connection, "committed_units", COMMITTED_UNITS, held)
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


def _is_readable(path: Path, byte_count: int) -> bool:
    """Whether the file is there and whole; its footer is read only when the size is another."""
    try:
        return path.stat().st_size == byte_count or bool(pq.read_metadata(path))
    except (OSError, pa.ArrowException):
        return False
