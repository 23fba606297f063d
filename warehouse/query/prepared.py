"""Bind all views of a warehouse once, and cache them as a DuckDB file for every connection.

Binding the views takes seconds; attaching them takes milliseconds. They are the same for every
warehouse, since a variable of the connection lists the files to read. The file's name is a digest
of its inputs, so that another version of the views has another file.
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
from decaf.foundation.files import convert_os_errors
from warehouse import storage
from warehouse.query import functions, materialized_views, views
from warehouse.query.provided import provide_files
from warehouse.query.receipt_tables import create_tables
from warehouse.query.scratch import scratch_folder
from warehouse.query.views import create_views, staging_view
from warehouse.storage.cache import cache_folder
from warehouse.tables.declarations import TABLES

CATALOGUE = "warehouse"
"""Name of the database with the views; their inputs are in DuckDB's database ``memory``."""
SHARED_SCHEMA = f"{CATALOGUE}.{materialized_views.SCHEMA}"
"""Schema of the views whose rows a connection can store."""


def attach_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Attach all views and macros to a connection in memory, read-only."""
    name = f"{_digest()}.duckdb"
    cached_file = cache_folder() / "views" / name
    try:
        _attach_file(connection, cached_file)
    except duckdb.Error:
        # Not cached yet, or damaged. This process attaches its own file; later processes, the copy.
        new_file = _bind_views(name)
        with suppress(OSError):
            _save(new_file, cached_file)
        _attach_file(connection, new_file)
    connection.execute(f"SET search_path = 'memory,{CATALOGUE},{SHARED_SCHEMA}'")


def _digest() -> str:
    """Digest of the inputs of the cached file: SQL as text, versions, schemas and signatures."""
    tables = (f"{staging_view(table).sql}{table.schema}" for table in TABLES.values())
    signatures = (f"{f.name}{f.parameters}{f.returns}" for f in functions.FUNCTIONS)
    schemas = (SHARED_SCHEMA, *materialized_views.SHARED_VIEWS)
    versions = "\0".join((duckdb.__version__, *schemas, *tables, *signatures))
    files = []
    for folder, _, names in os.walk(views.SQL_FOLDER):  # a fifth of the time of rglob
        for path in (Path(folder, name) for name in names):
            file = path.stat()
            files.append((path, file.st_mtime_ns, file.st_size))
    return _digest_of(versions, views.SQL_FOLDER, tuple(sorted(files)))


@cache
def _digest_of(versions: str, root: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    """Digest, cached by times and sizes of files: a command opens a warehouse many times."""
    digest = hashlib.sha256(versions.encode())
    for path, *_ in files:
        digest.update(f"\0{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _attach_file(
    connection: duckdb.DuckDBPyConnection, path: Path, mode: str = " (READ_ONLY)"
) -> None:
    quoted = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {CATALOGUE}{mode}")


@cache
def _bind_views(name: str) -> Path:
    """Write a temporary file of this process with all views bound; returns its path."""
    folder = Path(tempfile.mkdtemp(dir=scratch_folder()))
    remedy = "set TMPDIR to a folder that can be written"
    with (
        convert_os_errors(WarehouseError, f"views cannot be written to {folder}", remedy),
        duckdb.connect() as connection,
    ):
        functions.register(connection)
        create_tables(connection)
        provide_files(connection, storage.open(folder), [])
        _attach_file(connection, folder / name, mode="")
        connection.execute(f"CREATE SCHEMA {SHARED_SCHEMA}")
        connection.execute(f"SET search_path = '{CATALOGUE},{SHARED_SCHEMA},memory'")
        views.forget_views()  # the file's name is a digest of the current files
        schemas = dict.fromkeys(materialized_views.SHARED_VIEWS, SHARED_SCHEMA)
        create_views(connection, views.sort_views(), schemas)
    return folder / name


def _save(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{uuid4().hex}.tmp")
    shutil.copyfile(source, temporary)
    temporary.replace(target)
