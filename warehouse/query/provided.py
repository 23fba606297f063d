"""Provide inputs of the SQL files: the files with the rows of each table, and their receipts."""

from collections.abc import Collection
from typing import NamedTuple

import duckdb

from warehouse.query.row_tables import create_table
from warehouse.query.scratch import scratch_folder
from warehouse.query.seeds import write_seeds
from warehouse.storage import Content, Storage

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


class ReadFile(NamedTuple):
    """A file that readers open, and its commit."""

    kind: str
    study: str
    key: str
    table_name: str
    path: str
    """Relative to the root of the warehouse."""
    row_count: int
    byte_count: int
    sha256: str


def provide_files(
    connection: duckdb.DuckDBPyConnection,
    store: Storage,
    read: list[ReadFile],
    without: Collection[str] = (),
) -> tuple[str, ...]:
    """Set the variables ``files`` and ``row_counts`` and create the relation ``receipt_files``.

    Returns the folders of the files; they hold no files of other warehouses.

    Leaves out files with the keys ``without`` and files that are missing or unreadable. Raises
    WarehouseError when the temporary folder cannot be written.
    """
    seeds = write_seeds(scratch_folder())
    contents = {file.path: Content(file.byte_count, file.sha256) for file in read}
    readable = store.find_readable({key: contents[key] for key in contents if key not in without})
    paths = readable.places
    if readable.filesystem:
        connection.register_filesystem(readable.filesystem)
    by_table = {table: [] for table in seeds.paths}
    for table, key in dict.fromkeys((file.table_name, file.path) for file in read):
        if key in paths:
            by_table[table].append(paths[key])
    # A seed, which is empty, comes last.
    for table, path in seeds.paths.items():
        by_table[table].append(path)
    by_table["any"] = [path for paths in by_table.values() for path in paths]
    connection.execute("SET VARIABLE files = ?", [by_table])
    # DuckDB would guess the size of a table from its first file, and order joins badly.
    row_counts = dict.fromkeys(seeds.paths, 0)
    for table, key, count in {(file.table_name, file.path, file.row_count) for file in read}:
        row_counts[table] += count if key in paths else 0
    connection.execute("SET VARIABLE row_counts = ?", [row_counts])
    files = [(*file, paths.get(file.path), file.path in paths) for file in read]
    create_table(connection, "receipt_files", RECEIPT_FILES, files)
    return *readable.folders, seeds.folder
