"""Views over tables of a few rows instead of files."""

import csv
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from warehouse.query.provided import RECEIPT_FILES
from warehouse.query.receipt_tables import TABLES as OF_RECEIPTS
from warehouse.query.views import CHECKS, MACRO, STAGING, sort_views, views
from warehouse.tables.columns import SQL_TYPES, TEXT
from warehouse.tables.declarations import TABLES

VIEWS = {view.name: view for view in views()}
UNSAID = {"weight": "1"}
ARROW = {name: arrow for arrow, name in SQL_TYPES.items()}


def staged_schemas():
    """Arrow schema of everything that lies below the core views, by name; NULL is allowed."""
    staged = {
        f"stg_{table.name}": pa.schema(
            [(name, TEXT) for name in table.partition]
            + [(column.name, column.type) for column in table.columns]
        )
        for table in TABLES.values()
    }
    files = pa.schema([("path", TEXT), ("row_count", pa.int64())])
    given = {
        name: pa.schema([(column, ARROW[type_]) for column, type_ in columns.items()])
        for name, columns in (
            ("receipts", OF_RECEIPTS["receipts"]),
            ("committed_units", OF_RECEIPTS["committed_units"]),
            ("receipt_files", RECEIPT_FILES),
        )
    }
    return staged | {"stg_files": files} | given


def define(connection, name):
    """Create a view or macro and the views that it needs, over existing relations."""
    for needed in VIEWS[name].inputs:
        if is_defined(needed):
            define(connection, needed)
    if VIEWS[name].folder != CHECKS:
        execute(connection, VIEWS[name])


def define_over(connection, name, columns, given):
    """Create a view over text rows of its inputs; inputs without rows are empty."""
    for relation in relations(name):
        create(connection, relation, columns[relation], given.get(relation, []))
    define(connection, name)


def execute(connection, view):
    """Create a view or macro whose inputs are there.

    One that reads nothing is a table of hundreds of typed values, which are parsed once.
    """
    if reads_nothing(view):
        typed = _typed_values(view.name)  # noqa: F841 - found by DuckDB
        connection.execute(f"CREATE OR REPLACE TABLE {view.name} AS FROM typed")
    else:
        connection.execute(view.sql)


def reads_nothing(view):
    return view.kind != MACRO and not view.inputs


@cache
def _typed_values(name):
    with duckdb.connect() as connection:
        connection.execute(VIEWS[name].sql)
        return connection.table(name).to_arrow_table()


def relations(name):
    """Names of the relations that a view reads itself or through macros."""
    found = set()
    for needed in VIEWS[name].inputs:
        found |= relations(needed) if is_defined(needed) else {needed}
    return found


def is_defined(name):
    """True for relations that tests do not write: macros, and tables of typed values."""
    return name in VIEWS and (VIEWS[name].kind == MACRO or reads_nothing(VIEWS[name]))


def create(connection, name, columns, rows):
    """Create a table from text rows; absent columns and empty cells are NULL, weights 1."""
    text = {column: [row.get(column) or UNSAID.get(column) for row in rows] for column in columns}
    strangers = {column for row in rows for column in row} - columns.keys()
    assert not strangers, f"{name} has no column {sorted(strangers)}"
    table = pa.table(text, pa.schema([(column, TEXT) for column in columns]))
    cast = [
        duckdb.ColumnExpression(column).cast(connection.type(type_)).alias(column)
        for column, type_ in columns.items()
    ]
    connection.from_arrow(table).select(*cast).create(name)


def text_rows(frame):
    """Rows of a data frame with their cells as text; a missing cell is left out."""
    rows = frame.to_dict("records")
    return [{name: str(value) for name, value in row.items() if value == value} for row in rows]


def read_rows(path: Path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def columns_of(relation):
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def catalogue_columns(connection):
    """Columns and types of every table and view, from DuckDB's catalogue: nothing is bound."""
    rows = connection.sql(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() ORDER BY column_index"
    ).fetchall()
    columns = {}
    for name, column, type_ in rows:
        columns.setdefault(name, {})[column] = type_
    return columns


def above_staging():
    """Views and macros over the staging tables, each after its inputs."""
    return [view for view in sort_views() if view.folder != STAGING]
