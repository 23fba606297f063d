"""Catalogues in memory, whose staging relations are tables."""

import duckdb
import pyarrow as pa
import pytest
from random_audit import random_audit
from view_tables import (
    VIEWS,
    above_staging,
    columns_of,
    define,
    execute,
    reads_nothing,
    staged_schemas,
)

from warehouse.query import functions
from warehouse.query.views import CHECKS

READABLE = ("core", "out", "paper")
SCHEMAS = staged_schemas()


@pytest.fixture(scope="session")
def idle():
    """Catalogues whose tables have no rows; making one takes longer than most tests."""
    unused = []
    yield unused
    for connection in unused:
        connection.close()


@pytest.fixture(scope="session")
def columns(idle):
    """Columns and types of every relation, views included, from a catalogue without rows."""
    idle.append(connection := empty_catalogue())
    checks = {
        view.name: connection.sql(view.sql) for view in VIEWS.values() if view.folder == CHECKS
    }
    tables = {*SCHEMAS, *(view.name for view in VIEWS.values() if reads_nothing(view))}
    named = {
        name: connection.table(name) if name in tables else connection.view(name)
        for name in [*SCHEMAS, *(v.name for v in VIEWS.values() if v.kind in READABLE)]
    }
    return {name: columns_of(relation) for name, relation in (named | checks).items()}


@pytest.fixture
def catalogue(idle):
    """Open all views over the given staging tables; tables that are not given have no rows.

    Pairs have the weight 1 where none is given.
    """
    used = []

    def open_tables(given):
        connection = idle.pop() if idle else empty_catalogue()
        used.append((connection, given))
        for name, rows in given.items():
            said = [{"weight": 1.0} | row for row in rows] if name == "stg_pairs" else rows
            table = pa.Table.from_pylist(said, SCHEMAS[name])
            connection.from_arrow(table).insert_into(name)
        return connection

    yield open_tables
    for connection, given in used:
        for name in given:
            connection.execute(f"DELETE FROM {name}")
        idle.append(connection)


@pytest.fixture(params=[0, 1])
def audit(request):
    return random_audit(request.param)


@pytest.fixture
def ask():
    """Rows of a query with a view or macro over tables of a few rows: ask(name, sql, **tables)."""

    def query(name, sql, **tables):
        with duckdb.connect(config={"threads": 2}) as connection:
            functions.register(connection)
            for table, rows in tables.items():
                connection.from_arrow(pa.table(rows)).create(table)
            define(connection, name)
            return connection.sql(sql).to_arrow_table().to_pylist()

    return query


def empty_catalogue():
    connection = duckdb.connect(config={"threads": 2})
    functions.register(connection)
    for name, schema in SCHEMAS.items():
        connection.from_arrow(schema.empty_table()).create(name)
    for view in above_staging():
        execute(connection, view)
    return connection
