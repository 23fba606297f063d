"""Catalogues in memory, whose staging relations are tables."""

import duckdb
import pyarrow as pa
import pytest
from view_tables import VIEWS, above_staging, columns_of, staged_schemas

from warehouse import functions
from warehouse.views import CHECKS, create_views

READABLE = ("core", "out", "paper")


@pytest.fixture(scope="session")
def columns():
    """Columns and types of every relation, views included, from a catalogue without rows."""
    with duckdb.connect() as connection:
        functions.register(connection)
        staged = staged_schemas()
        for name, schema in staged.items():
            connection.from_arrow(schema.empty_table()).create(name)
        create_views(connection, above_staging())
        checks = {
            view.name: connection.sql(view.sql) for view in VIEWS.values() if view.folder == CHECKS
        }
        named = {
            name: connection.table(name) if name in staged else connection.view(name)
            for name in [*staged, *(v.name for v in VIEWS.values() if v.folder in READABLE)]
        }
        return {name: columns_of(relation) for name, relation in (named | checks).items()}


@pytest.fixture
def catalogue():
    """Open all views over the given staging tables; tables that are not given have no rows."""
    opened = []

    def open_tables(given):
        connection = duckdb.connect(config={"threads": 2})
        opened.append(connection)
        functions.register(connection)
        for name, schema in staged_schemas().items():
            table = pa.Table.from_pylist(given.get(name, []), schema)
            connection.from_arrow(table).create(name)
        create_views(connection, above_staging())
        return connection

    yield open_tables
    for connection in opened:
        connection.close()
