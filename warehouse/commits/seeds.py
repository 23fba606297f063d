"""Typed files without rows, which keep every view valid while a table is empty."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from decaf.errors import WarehouseError
from warehouse import storage
from warehouse.commits import layout
from warehouse.storage import Root, Storage
from warehouse.tables.columns import Table
from warehouse.tables.declarations import TABLES


def write_missing_seeds(root: Root) -> None:
    """Publish the seeds that a warehouse lacks; those that are there stay."""
    store = storage.open(root)
    there = {entry.key for entry in store.entries(layout.SEEDS, (".parquet",))}
    for table in TABLES.values():
        if (key := layout.seed(table.name)) not in there:
            empty = table.schema.empty_table()
            store.publish(
                key, lambda path, empty=empty: pq.write_table(empty, path, compression="zstd")
            )


def stored_seeds(store: Storage) -> dict[str, Path]:
    """The seed of every table.

    Raises WarehouseError when one is missing or damaged.
    """
    keys = {name: layout.seed(name) for name in TABLES}
    paths = store.bring(dict.fromkeys(keys.values()))
    for name, key in keys.items():
        if key not in paths or not _is_seed_of(TABLES[name], paths[key]):
            state = "damaged" if key in paths else "missing"
            raise WarehouseError(
                f"{store.place(key)} is {state}; it belongs to the warehouse: delete it if it is "
                "there, and the next decaf run writes it anew"
            )
    return {name: paths[key] for name, key in keys.items()}


def _is_seed_of(table: Table, path: Path) -> bool:
    try:
        return pq.read_schema(path).equals(table.schema)
    except (OSError, ValueError, pa.ArrowException):  # a name in it may be no UTF-8
        return False
