"""What all receipts say, as tables of one file that is attached as long as no receipt changes.

To read the receipts of a large audit takes seconds, and every command would. A folder changes its
own moment with every file that is made, replaced or deleted in it, so a few moments tell whether
the tables still hold. What somebody writes into a receipt that is there, they do not tell;
``decaf check`` reads every receipt. While an audit goes on they never hold, and the tables of
before are brought up to date: receipts are listed, and only those that are new are read.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import duckdb

from warehouse.commits import layout
from warehouse.query.prepared import CATALOGUE
from warehouse.query.provided import READ_FILE_TYPES, ReadFile
from warehouse.query.receipt_tables import (
    TABLES,
    copy_tables,
    count_receipts,
    create_tables,
    find_read_files,
    name_receipts,
    update_tables,
)
from warehouse.query.row_tables import create_table
from warehouse.storage import Storage
from warehouse.storage.cache import cache_folder, note_use, prune_unused

COMMITS = "commits"
"""Name of the database that has the tables, and ending of its file."""
READ_FILES = "read_files"
LEVELS = 2
"""Folders of receipts are those of a kind, and in it those of a study."""
MANY = 1000
"""Receipts from so many on are kept; fewer are read in a tenth of a second."""
WORTH_KEEPING = 0.1
"""Share of the receipts that was read from which to write all of them takes less than to read it
again."""


def attach_receipts(connection: duckdb.DuckDBPyConnection, store: Storage) -> list[ReadFile]:
    """Give a connection ``receipts`` and ``committed_units``; return the files to read.

    Raises WarehouseError when a receipt is damaged.
    """
    # Before they are read: what comes later changes it.
    state = store.state(layout.RECEIPTS, LEVELS)
    folder = cache_folder() / "receipts" / hashlib.sha256(store.address.encode()).hexdigest()[:16]
    kept = folder / f"{state or uuid4().hex}.{COMMITS}"
    if kept.exists():
        with suppress(duckdb.Error, OSError):  # another process may have put a newer one there
            return _attached(connection, kept)
    _begin(connection, folder)
    read, count = update_tables(connection, store), count_receipts(connection)
    files = [ReadFile(*row) for row in find_read_files(connection)]
    if count >= MANY and (state or read >= WORTH_KEEPING * count):
        with suppress(duckdb.Error, OSError):  # where it cannot be kept, it is read every time
            _keep(connection, files, kept)
            return _attached(connection, kept)
    name_receipts(connection)
    return files


def _begin(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Create the tables as they were kept last, or empty where they cannot be had."""
    for kept in sorted(folder.glob(f"*.{COMMITS}"), key=_moment, reverse=True):
        with suppress(duckdb.Error, OSError):
            _attach(connection, kept)
            try:
                copy_tables(connection, COMMITS)
            finally:
                connection.execute(f"DETACH {COMMITS}")
            return
    create_tables(connection)


def _moment(path: Path) -> float:
    with suppress(OSError):  # another process has deleted it
        return path.stat().st_mtime
    return 0.0


def _attach(connection: duckdb.DuckDBPyConnection, kept: Path, mode: str = " (READ_ONLY)") -> None:
    quoted = str(kept).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {COMMITS}{mode}")


def _attached(connection: duckdb.DuckDBPyConnection, kept: Path) -> list[ReadFile]:
    """Have queries read the tables of a file; those in memory are dropped."""
    note_use(kept.parent)
    _attach(connection, kept)
    try:
        rows = connection.execute(f"FROM {COMMITS}.{READ_FILES}").fetchall()
        for table in TABLES:
            connection.execute(f"DROP TABLE IF EXISTS memory.{table}")
        connection.execute(f"SET search_path = 'memory,{COMMITS},{CATALOGUE}'")
        name_receipts(connection)
    except duckdb.Error:
        connection.execute(f"SET search_path = 'memory,{CATALOGUE}'")
        connection.execute(f"DETACH {COMMITS}")
        raise
    return [ReadFile(*row) for row in rows]


def _keep(connection: duckdb.DuckDBPyConnection, files: list[ReadFile], kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    prune_unused(kept.parent.parent)
    temporary = kept.with_name(f"{uuid4().hex}.tmp")
    try:
        _attach(connection, temporary, mode="")
        try:
            for table in TABLES:
                connection.execute(f"CREATE TABLE {COMMITS}.{table} AS FROM memory.{table}")
            create_table(connection, f"{COMMITS}.{READ_FILES}", READ_FILE_TYPES, files)
        finally:
            connection.execute(f"DETACH {COMMITS}")
        temporary.replace(kept)
    finally:
        temporary.unlink(missing_ok=True)
    for earlier in kept.parent.glob(f"*.{COMMITS}"):
        if earlier != kept:
            earlier.unlink(missing_ok=True)
