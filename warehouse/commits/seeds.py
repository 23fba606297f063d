"""Typed files without rows, which keep every view valid while a table is empty."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from decaf.errors import WarehouseError, listed
from warehouse.commits import layout
from warehouse.storage import Storage
from warehouse.tables.columns import Table
from warehouse.tables.declarations import TABLES


def write_missing_seeds(store: Storage) -> list[str]:
    """Publish the seeds that a warehouse lacks, and anew those that have other columns or none.

    Returns the tables whose seeds it wrote.

    Raises WarehouseError when a table with other columns has rows, which nothing could read.
    """
    there = store.bring(entry.key for entry in store.entries(layout.SEEDS, (".parquet",)))
    written = []
    for table in TABLES.values():
        key = layout.seed(table.name)
        if key in there:
            another = _difference(table, there[key])
            if another == "":
                continue
            if another:
                _refuse_rows(store, table.name, another)
        empty = table.schema.empty_table()
        store.publish(
            key, lambda file, empty=empty: pq.write_table(empty, file, compression="zstd")
        )
        written.append(table.name)
    return written


def stored_seeds(store: Storage) -> dict[str, Path]:
    """The seed of every table.

    Raises WarehouseError when one is missing, damaged, or has other columns.
    """
    keys = {name: layout.seed(name) for name in TABLES}
    paths = store.bring(keys.values())
    for name, key in keys.items():
        place, upgrades = store.place(key), "decaf compact, or the next decaf run, writes it anew"
        if key not in paths:
            raise WarehouseError(
                f"{place} is missing: the warehouse was written by an earlier decaf that had no "
                f"table {name}, or the file was deleted; {upgrades}"
            )
        another = _difference(TABLES[name], paths[key])
        if another is None:
            raise WarehouseError(f"{place} is damaged; {upgrades}")
        if another:
            _refuse_rows(store, name, another)
            raise WarehouseError(
                f"{place} is of another version of decaf, whose table {name} {another}; {upgrades}"
            )
    return {name: paths[key] for name, key in keys.items()}


def _refuse_rows(store: Storage, table: str, another: str) -> None:
    """Raise WarehouseError where a table with other columns has rows, which nothing could read."""
    if any(store.entries(f"{layout.DATA}/{table}", (".parquet",))):
        raise WarehouseError(
            f"warehouse {store.address} was written by another version of decaf: its table {table} "
            f"{another}, and has rows, which this version cannot read; have it write to another "
            "folder ('warehouse:', --warehouse or DECAF_WAREHOUSE), which it fills anew, or ask "
            "this one with that version"
        )


def _difference(table: Table, path: Path) -> str | None:
    """How the columns in a seed differ from the table's, in words; None where it is no seed."""
    try:
        stored = pq.read_schema(path)
    except (OSError, ValueError, pa.ArrowException):  # a name in it may be no UTF-8
        return None
    if (stored.metadata or {}).get(b"decaf.table") != table.name.encode():
        return None
    lacking = [field.name for field in table.schema if field.name not in stored.names]
    if lacking:
        return f"has no {'column' if len(lacking) == 1 else 'columns'} {listed(lacking)}"
    return "" if stored.equals(table.schema) else "has other columns"
