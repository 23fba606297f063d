"""Catalogues in memory, whose staging relations are tables."""

from contextlib import contextmanager
from hashlib import sha256
from uuid import uuid4

import duckdb
import pyarrow as pa
import pytest
from random_audit import random_audit
from view_tables import (
    VIEWS,
    above_staging,
    catalogue_columns,
    columns_of,
    define,
    execute,
    staged_schemas,
)

from warehouse.query import functions, prepared
from warehouse.query.views import CHECKS
from warehouse.storage.cache import cache_folder

SCHEMAS = staged_schemas()


@pytest.fixture(scope="session")
def bound_views():
    """Database file in which all views lie bound; to bind them takes longer than most tests."""
    content = sha256(f"{prepared._digest()}{SCHEMAS}".encode()).hexdigest()
    file = cache_folder() / "test_views" / f"{content[:16]}.duckdb"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(f".{uuid4().hex}")
        with open_tables() as connection:
            connection.execute(f"ATTACH '{unfinished}' AS bound")
            connection.execute("SET search_path = 'bound,memory'")
            for view in above_staging():
                execute(connection, view)
        unfinished.replace(file)
    return file


@pytest.fixture(scope="session")
def idle():
    """Open catalogues whose tables have no rows."""
    unused = []
    yield unused
    for connection in unused:
        connection.close()


def open_catalogue(bound_views):
    """Open a database in memory with tables without rows, and the views that read them."""
    connection = open_tables()
    connection.execute(f"ATTACH '{bound_views}' AS bound (READ_ONLY)")
    connection.execute("SET search_path = 'memory,bound'")
    return connection


def open_tables():
    """Open a database in memory with the tables that views read, without rows."""
    connection = duckdb.connect(config={"threads": 2})
    functions.register(connection)
    for name, schema in SCHEMAS.items():
        connection.from_arrow(schema.empty_table()).create(name)
    return connection


@pytest.fixture(scope="session")
def columns(idle, bound_views):
    """Columns and types of every relation, views included, from a catalogue without rows."""
    idle.append(connection := open_catalogue(bound_views))
    checks = (view for view in VIEWS.values() if view.folder == CHECKS)
    return catalogue_columns(connection) | {
        view.name: columns_of(connection.sql(view.sql)) for view in checks
    }


@pytest.fixture
def catalogue(idle, bound_views):
    """Open all views over the given staging tables; tables that are not given have no rows.

    Pairs have the weight 1 where none is given.
    """
    used = []

    def fill(given):
        connection = idle.pop() if idle else open_catalogue(bound_views)
        used.append((connection, given))
        for name, rows in given.items():
            said = [{"weight": 1.0} | row for row in rows] if name == "stg_pairs" else rows
            table = pa.Table.from_pylist(said, SCHEMAS[name])
            connection.from_arrow(table).insert_into(name)
        return connection

    yield fill
    for connection, given in used:
        for name in given:
            connection.execute(f"DELETE FROM {name}")
        idle.append(connection)


@pytest.fixture
def audit():
    return random_audit(0)


@pytest.fixture(scope="session")
def shared_database():
    """Open a database in memory with the functions: to open one takes longer than most views."""
    with duckdb.connect(config={"threads": 2}) as connection:
        functions.register(connection)
        yield connection


@pytest.fixture(scope="session")
def open_schema(shared_database):
    """Open an empty schema that is dropped after the block: with open_schema() as connection."""

    @contextmanager
    def opened():
        name = f"schema_{uuid4().hex}"
        with shared_database.cursor() as connection:
            connection.execute(f"CREATE SCHEMA {name}")
            connection.execute(f"USE {name}")
            yield connection
            connection.execute("USE main")
            connection.execute(f"DROP SCHEMA {name} CASCADE")

    return opened


@pytest.fixture
def ask(open_schema):
    """Rows of a query with a view or macro over tables of a few rows: ask(name, sql, **tables)."""

    def query(name, sql, **tables):
        with open_schema() as connection:
            for table, rows in tables.items():
                connection.from_arrow(pa.table(rows)).create(table)
            define(connection, name)
            return connection.sql(sql).to_arrow_table().to_pylist()

    return query
