"""All views of a warehouse bound once, and kept as a file of DuckDB that every opening attaches.

To bind the views takes seconds, to attach them milliseconds. They are the same for every warehouse:
which files they read is a variable of the connection. The file is named by a digest of all that it
is made of, so that another version of the views has another file.
"""

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

import duckdb

from decaf.errors import WarehouseError
from decaf.foundation.files import refusals_as
from warehouse import storage
from warehouse.commits.seeds import write_missing_seeds
from warehouse.query import functions, views
from warehouse.query.provided import provide_files
from warehouse.query.receipt_tables import create_tables
from warehouse.query.scratch import scratch_folder
from warehouse.query.views import create_views, staging
from warehouse.storage.cache import cache_folder
from warehouse.tables.declarations import TABLES

CATALOGUE = "warehouse"
"""Name of the database that has the views; what they are given lies in DuckDB's ``memory``."""


def attach_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Make all views and macros known to a connection in memory, which cannot change them."""
    name = f"{_digest()}.duckdb"
    kept = cache_folder() / "views" / name
    try:
        _attach(connection, kept)
    except duckdb.Error:
        # Not there yet, or damaged. Where it cannot be kept, this process has it all the same.
        bound = _bound(name)
        with suppress(OSError):
            _keep(bound, kept)
        _attach(connection, bound)
    connection.execute(f"SET search_path = 'memory,{CATALOGUE}'")


def _digest() -> str:
    """Digest of what the file is made of; reads files as they are, since parsing takes longer."""
    tables = (f"{staging(table).sql}{table.schema}" for table in TABLES.values())
    signatures = (f"{f.name}{f.parameters}{f.returns}" for f in functions.FUNCTIONS)
    known = "\0".join((duckdb.__version__, *tables, *signatures))
    found = []
    for folder, _, names in os.walk(views.SQL_FOLDER):  # a fifth of what rglob takes
        for path in (Path(folder, name) for name in names):
            file = path.stat()
            found.append((path, file.st_mtime_ns, file.st_size))
    return _digest_of(known, views.SQL_FOLDER, tuple(sorted(found)))


@cache
def _digest_of(known: str, root: Path, found: tuple[tuple[Path, int, int], ...]) -> str:
    """The same for files of these moments and sizes: a command opens a warehouse many times."""
    digest = hashlib.sha256(known.encode())
    for path, *_ in found:
        digest.update(f"\0{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, mode: str = " (READ_ONLY)") -> None:
    quoted = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {CATALOGUE}{mode}")


@cache
def _bound(name: str) -> Path:
    """A file of this name, gone with this process, in which all views lie bound."""
    folder = Path(tempfile.mkdtemp(dir=scratch_folder()))
    remedy = "set TMPDIR to a folder that can be written"
    with (
        refusals_as(WarehouseError, f"no views can be made in {folder}", remedy),
        duckdb.connect() as connection,
    ):
        functions.register(connection)
        store = storage.open(folder / "seeds")
        store.prepare()
        write_missing_seeds(store)
        create_tables(connection)
        provide_files(connection, store, [])
        _attach(connection, folder / name, mode="")
        connection.execute(f"SET search_path = '{CATALOGUE},memory'")
        views.read_again()  # the file is named by the files of this moment
        create_views(connection, views.in_order())
    return folder / name


def _keep(bound: Path, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    temporary = kept.with_name(f"{kept.name}.{uuid4().hex}.tmp")
    shutil.copyfile(bound, temporary)
    temporary.replace(kept)
