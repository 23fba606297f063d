"""Typed files without rows, which keep every view valid while a table is empty."""

import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from decaf.errors import WarehouseError
from decaf.foundation.files import convert_os_errors
from warehouse.tables.declarations import TABLES


class Seeds(NamedTuple):
    """The folder of the seeds, and the path of each by table."""

    folder: str
    paths: dict[str, str]


@cache
def write_seeds(scratch: Path) -> Seeds:
    """Write the seed of every table into a new folder, once in a process.

    The folders of a seed are the table's partition keys without values: DuckDB reads files together
    only if they have the same partition keys. Raises WarehouseError when ``scratch``, the temporary
    folder of this process, cannot be written.
    """
    remedy = "free some space, or set TMPDIR to a folder that can be written"
    paths = {}
    with convert_os_errors(WarehouseError, f"files cannot be written to {scratch}", remedy):
        folder = tempfile.mkdtemp(dir=scratch)
        for table in TABLES.values():
            keys = (f"{column}=" for column in table.partition)
            path = Path(folder, table.name, *keys, "seed.parquet")
            path.parent.mkdir(parents=True)
            pq.ParquetWriter(path, table.schema).close()  # a table would import pandas
            paths[table.name] = str(path)
    return Seeds(folder, paths)
