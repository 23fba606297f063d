"""Typed files without rows, which keep every view valid while a table is empty."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from decaf.errors import WarehouseError, abridge
from warehouse.commits import layout
from warehouse.storage import Storage
from warehouse.tables.columns import Table
from warehouse.tables.declarations import TABLES


def write_missing_seeds(store: Storage) -> list[str]:
    """Publish seeds that a warehouse lacks, and replace damaged seeds and those with other columns.

    Returns the tables whose seeds it wrote.

    Raises WarehouseError when a table with other columns has rows, which no view could read.
    """
    paths = store.bring(entry.key for entry in store.entries(layout.SEEDS, (".parquet",)))
    written = []
    for table in TABLES.values():
        key = layout.seed(table.name)
        if key in paths:
            difference = _difference(table, paths[key])
            if difference == "":
                continue
            if difference:
                _refuse_rows(store, table.name, difference)
        empty = table.schema.empty_table()
        store.publish(
            key, lambda file, empty=empty: pq.write_table(empty, file, compression="zstd")
        )
        written.append(table.name)
    return written


def stored_seeds(store: Storage) -> dict[str, Path]:
    """Local path of the seed of every table.

    Raises WarehouseError when a seed is missing, damaged, or has other columns.
    """
    keys = {name: layout.seed(name) for name in TABLES}
    paths = store.bring(keys.values())
    for name, key in keys.items():
        place, upgrades = store.place(key), "decaf compact, or the next decaf run, replaces it"
        if key not in paths:
            raise WarehouseError(
                f"{place} is missing: the warehouse was written by an earlier decaf that had no "
                f"table {name}, or the file was deleted; {upgrades}"
            )
        difference = _difference(TABLES[name], paths[key])
        if difference is None:
            raise WarehouseError(f"{place} is damaged; {upgrades}")
        if difference:
            _refuse_rows(store, name, difference)
            raise WarehouseError(
                f"{place} was written by another version of decaf, whose table {name} "
                f"{difference}; {upgrades}"
            )
    return {name: paths[key] for name, key in keys.items()}


def _refuse_rows(store: Storage, table: str, difference: str) -> None:
    """Raise WarehouseError if a table with other columns has rows, which no view could read."""
    if any(store.entries(f"{layout.DATA}/{table}", (".parquet",))):
        raise WarehouseError(
            f"warehouse {store.address} was written by another version of decaf: its table {table} "
            f"{difference}, and has rows, which this version cannot read; choose another folder "
            "('warehouse:', --warehouse or DECAF_WAREHOUSE), or read this warehouse with that "
            "version"
        )


def _difference(table: Table, path: Path) -> str | None:
    """Describe how a seed's columns differ from the table's; None if the file is not a seed."""
    try:
        stored = pq.read_schema(path)
    except (OSError, ValueError, pa.ArrowException):  # a name in it may not be UTF-8
        return None
    if (stored.metadata or {}).get(b"decaf.table") != table.name.encode():
        return None
    missing = [field.name for field in table.schema if field.name not in stored.names]
    if missing:
        return f"has no {'column' if len(missing) == 1 else 'columns'} {abridge(missing)}"
    return "" if stored.equals(table.schema) else "has other columns"
