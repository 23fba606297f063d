"""Create tables of receipts and committed units on a connection."""

import duckdb

from warehouse.commits import receipts
from warehouse.commits.current import resolve
from warehouse.query.provided import ReadFile
from warehouse.query.row_tables import create_table
from warehouse.storage import Storage

TABLES = {
    "receipts": {
        "kind": "VARCHAR",
        "study": "VARCHAR",
        "key": "VARCHAR",
        "model_id": "VARCHAR",
        "committed_at": "TIMESTAMPTZ",
    },
    # Units of work whose rows are committed, each with its commit.
    "committed_units": {"study": "VARCHAR", "unit_key": "VARCHAR", "commit_key": "VARCHAR"},
}


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables without rows."""
    for table, columns in TABLES.items():
        create_table(connection, table, columns)


def read_receipts(connection: duckdb.DuckDBPyConnection, store: Storage) -> list[ReadFile]:
    """Create the tables with a row for every receipt and unit; return the files to read.

    A receipt takes about 0.2 ms. Raises WarehouseError when one is damaged.
    """
    committed = list(receipts.read(store))
    rows = [(r.kind, r.study, r.key, r.model_id, r.committed_at) for r in committed]
    create_table(connection, "receipts", TABLES["receipts"], rows)
    units = [  # a withdrawal by an upgrade names units, too
        (receipt.study, unit, receipt.key)
        for receipt in committed
        if receipt.kind == "units"
        for unit in receipt.units
    ]
    create_table(connection, "committed_units", TABLES["committed_units"], units)
    return [
        ReadFile(
            receipt.kind,
            receipt.study,
            receipt.key,
            file.table,
            file.path,
            file.row_count,
            file.byte_count,
            file.sha256,
        )
        for receipt in resolve(committed).read
        for file in receipt.files
    ]
