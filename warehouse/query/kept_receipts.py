"""What all receipts say, as tables of one file that is attached as long as no receipt changes.

To read the receipts of a large audit takes seconds, and every command would. A folder changes its
own moment with every file that is made, replaced or deleted in it, so a few moments tell whether
the tables still hold. What somebody writes into a receipt that is there, they do not tell;
``decaf check`` reads every receipt.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import duckdb

from warehouse.commits import layout, receipts
from warehouse.query.prepared import CATALOGUE
from warehouse.query.provided import READ_FILE_TYPES, ReadFile, create_table, provide_receipts
from warehouse.storage import Root, Storage
from warehouse.storage.cache import cache_folder, note_use, prune_unused

COMMITS = "commits"
"""Name of the database that has the tables."""
RECEIPTS, COMMITTED_UNITS, READ_FILES = "receipts", "committed_units", "read_files"
LEVELS = 2
"""Folders of receipts are those of a kind, and in it those of a study."""
MANY = 1000
"""Receipts from so many on are kept; fewer are read in a tenth of a second."""


def attach_receipts(
    connection: duckdb.DuckDBPyConnection, root: Root, store: Storage
) -> list[ReadFile]:
    """Give a connection ``receipts`` and ``committed_units``; return the files to read.

    Raises WarehouseError when a receipt is damaged.
    """
    # Before they are read: what comes later changes it.
    state = store.state(layout.RECEIPTS, LEVELS)
    folder = cache_folder() / "receipts" / hashlib.sha256(store.address.encode()).hexdigest()[:16]
    kept = folder / f"{state}.{COMMITS}"
    if state and kept.exists():
        with suppress(duckdb.Error, OSError):  # another process may have put a newer one there
            return _attached(connection, kept)
    committed = list(receipts.read(root))
    files = provide_receipts(connection, committed)
    if state and len(committed) >= MANY:
        with suppress(duckdb.Error, OSError):  # where it cannot be kept, it is read every time
            _keep(connection, files, kept)
    return files


def _attached(connection: duckdb.DuckDBPyConnection, kept: Path) -> list[ReadFile]:
    note_use(kept.parent)
    quoted = str(kept).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {COMMITS} (READ_ONLY)")
    connection.execute(f"SET search_path = 'memory,{COMMITS},{CATALOGUE}'")
    rows = connection.execute(f"FROM {COMMITS}.{READ_FILES}").fetchall()
    return [ReadFile(*row) for row in rows]


def _keep(connection: duckdb.DuckDBPyConnection, files: list[ReadFile], kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    prune_unused(kept.parent.parent)
    temporary = kept.with_name(f"{uuid4().hex}.tmp")
    try:
        with duckdb.connect(str(temporary)) as copy:
            for table in (RECEIPTS, COMMITTED_UNITS):
                copy.from_arrow(connection.table(table).to_arrow_table()).create(table)
            create_table(copy, READ_FILES, READ_FILE_TYPES, files)
        temporary.replace(kept)
    finally:
        temporary.unlink(missing_ok=True)
    for earlier in kept.parent.glob(f"*.{COMMITS}"):
        if earlier != kept:
            earlier.unlink(missing_ok=True)
