"""Typed files without rows, which keep every view valid while a table is empty."""

import pyarrow.parquet as pq

from warehouse import layout, storage
from warehouse.schemas import TABLES
from warehouse.storage import Root


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
