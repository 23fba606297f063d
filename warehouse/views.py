"""The views, macros and checks: files of ``sql/``, each of which defines what its name says.

A header states what a file is and what it reads, which gives the order in which views are created.
"""

import json
import re
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import duckdb

from decaf.errors import WarehouseError

SQL_FOLDER = Path(__file__).parent.parent / "sql"
CHECKS = "checks"
"""Folder of ``sql/`` whose files are queries to run, not views to create."""
MACROS = "macros"
COLUMNS = SQL_FOLDER / "columns.json"
"""Columns of every view with their types, written by ``docs/make_reference.py``."""

Columns = dict[str, dict[str, str]]
"""DuckDB's types of the columns of every view."""

HEADER = re.compile(r"^-- (purpose|grain|inputs|paper): (.+(?:\n--   .+)*)", re.MULTILINE)
"""One field of a header; lines that go on are indented by two more spaces."""


class View(NamedTuple):
    """What the header of one SQL file says; ``inputs`` are names of other files, or given."""

    name: str
    folder: str
    purpose: str
    grain: str
    inputs: tuple[str, ...]
    paper: str
    sql: str


def views() -> list[View]:
    """All files of ``sql/`` with what their headers say, sorted by folder and name."""
    return [_parse(path) for path in sorted(SQL_FOLDER.glob("*/*.sql"))]


def in_order() -> list[View]:
    """Views and macros, each after its inputs; without the checks."""
    scripts = {view.name: view for view in views() if view.folder != CHECKS}
    order = TopologicalSorter({name: view.inputs for name, view in scripts.items()})
    return [scripts[name] for name in order.static_order() if name in scripts]


def create_views(connection: duckdb.DuckDBPyConnection, scripts: list[View]) -> None:
    """Create views and macros over what is given, such as the variable ``files``.

    DuckDB binds a view through everything below it, which takes seconds for all of them one upon
    another. So each is created over stand-ins of its inputs, from the uppermost view down; then
    every stand-in has been replaced, and every view has the columns that the views above it were
    bound to. Where :data:`COLUMNS` is not up to date, views are created from the bottom up.

    Parameters
    ----------
    scripts
        What to create, each after its inputs, as :func:`in_order` gives them.
    """
    if not _created_over_stand_ins(connection, scripts):
        for script in scripts:
            connection.execute(script.sql)


def column_types(connection: duckdb.DuckDBPyConnection) -> Columns:
    """Columns of every view of a connection, sorted by name."""
    found = connection.execute(
        "SELECT table_name, list(column_name ORDER BY column_index), "
        "list(data_type ORDER BY column_index) FROM duckdb_columns() "
        "JOIN duckdb_views() ON view_name = table_name WHERE NOT duckdb_columns.internal "
        "GROUP BY table_name ORDER BY table_name"
    ).fetchall()
    return {name: dict(zip(columns, types, strict=True)) for name, columns, types in found}


def _created_over_stand_ins(connection: duckdb.DuckDBPyConnection, scripts: list[View]) -> bool:
    """Whether the views could be created over stand-ins of the stated columns, and have them."""
    macros = [script for script in scripts if script.folder == MACROS]
    views = [script for script in scripts if script.folder != MACROS]
    known = json.loads(COLUMNS.read_text(encoding="utf-8"))
    stated = {script.name: known.get(script.name) for script in views}
    if None in stated.values():
        return False
    for name, columns in stated.items():
        nothing = ", ".join(f'NULL::{type_} AS "{column}"' for column, type_ in columns.items())
        connection.execute(f'CREATE VIEW "{name}" AS SELECT {nothing}')
    try:
        for script in macros + views[::-1]:
            connection.execute(script.sql)
    except (duckdb.BinderException, duckdb.CatalogException):
        # A stand-in lacks a column. SQL that is wrong itself fails again from the bottom up.
        return False
    found = column_types(connection)
    return all([*found[name].items()] == [*stated[name].items()] for name in stated)


def _parse(path: Path) -> View:
    sql = path.read_text(encoding="utf-8")
    header = {
        field: " ".join(text.replace("\n--", " ").split()) for field, text in HEADER.findall(sql)
    }
    missing = {"purpose", "grain", "inputs", "paper"} - header.keys()
    if missing:
        raise WarehouseError(f"{path}: the header lacks {', '.join(sorted(missing))}")
    inputs = tuple(name.strip() for name in header["inputs"].split(",") if name.strip() != "none")
    return View(
        path.stem,
        path.parent.name,
        header["purpose"],
        header["grain"],
        inputs,
        header["paper"],
        sql,
    )
