"""The views, macros and checks: files of ``sql/``, each of which defines what its name says.

A header states what a file is and what it reads, which gives the order in which views are created.
The views of the tables themselves are made from the declarations of these (``warehouse.tables``).
"""

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import duckdb

from decaf.errors import WarehouseError
from warehouse.query.placeholders import filled, views_of
from warehouse.tables.columns import SQL_TYPES, Table
from warehouse.tables.declarations import TABLES

SQL_FOLDER = Path(__file__).parents[2] / "sql"
CHECKS = "checks"
"""Folder of ``sql/`` whose files are queries to run, not views to create."""
QUERIES = "queries"
"""Folder of ``sql/`` whose files are queries that reports and upkeep ask."""
STAGING = "staging"
"""Folder, as it were, of the views of tables."""
MACRO = "macro"
HEADER = re.compile(r"^-- (purpose|grain|inputs|paper): (.+(?:\n--   .+)*)", re.MULTILINE)
"""One field of a header; lines that go on are indented by two more spaces."""
COMMENTS = re.compile(r"\A(--.*\n)+")


class View(NamedTuple):
    """What the header of a SQL file says, or the declaration of a table.

    ``inputs`` are names of other views and macros, or of what :mod:`warehouse.query.provided`
    provides; ``folder`` is relative to ``sql/``.
    """

    name: str
    folder: str
    purpose: str
    grain: str
    inputs: tuple[str, ...]
    paper: str
    sql: str

    @property
    def kind(self) -> str:
        """``macro``, or what the name of a view begins with, such as ``core`` or ``paper``."""
        return (
            MACRO if f"CREATE OR REPLACE {MACRO.upper()}" in self.sql else self.name.split("_")[0]
        )


def views() -> list[View]:
    """Views of all tables and all files of ``sql/`` but queries, sorted by folder and name."""
    queries = SQL_FOLDER / QUERIES
    files = (path for path in SQL_FOLDER.rglob("*.sql") if queries not in path.parents)
    return sorted(
        [*map(_staging, TABLES.values()), *map(_parse, files)],
        key=lambda view: (view.folder, view.name),
    )


@cache
def query(name: str) -> str:
    """Text of a query such as ``report/models``, a file of ``sql/queries``, without its header."""
    text = (SQL_FOLDER / QUERIES / f"{name}.sql").read_text(encoding="utf-8")
    return COMMENTS.sub("", text).rstrip()


def in_order() -> list[View]:
    """Views and macros, each after its inputs; without the checks."""
    scripts = {view.name: view for view in views() if view.folder != CHECKS}
    order = TopologicalSorter({name: view.inputs for name, view in scripts.items()})
    return [scripts[name] for name in order.static_order() if name in scripts]


def create_views(connection: duckdb.DuckDBPyConnection, scripts: list[View]) -> None:
    """Create views and macros over what is given, such as the variable ``files``.

    Parameters
    ----------
    scripts
        What to create, each after its inputs, as :func:`in_order` gives them.
    """
    for script in scripts:
        connection.execute(script.sql)


def _staging(table: Table) -> View:
    """The view of a table: the rows of all its committed files, every column with its type."""
    folders = dict.fromkeys(table.partition, "VARCHAR")
    types = folders | {column.name: SQL_TYPES[column.type] for column in table.columns}
    columns = ",\n".join(f"    {name}::{type_} AS {name}" for name, type_ in types.items())
    hive_types = ", ".join(f"{name}: {type_}" for name, type_ in folders.items())
    sql = f"""CREATE OR REPLACE VIEW stg_{table.name} AS
SELECT
{columns}
FROM read_parquet(
    getvariable('files').{table.name},
    hive_partitioning = true,
    hive_types = {{{hive_types}}}
);
"""
    inputs = (f"files.{table.name}",)
    return View(f"stg_{table.name}", STAGING, table.purpose, table.grain, inputs, table.paper, sql)


def _parse(path: Path) -> View:
    text = path.read_text(encoding="utf-8")
    sql = filled(text, SQL_FOLDER)
    header = {
        field: " ".join(text.replace("\n--", " ").split()) for field, text in HEADER.findall(sql)
    }
    missing = {"purpose", "grain", "inputs", "paper"} - header.keys()
    if missing:
        raise WarehouseError(f"{path}: the header lacks {', '.join(sorted(missing))}")
    inputs = tuple(name.strip() for name in header["inputs"].split(",") if name.strip() != "none")
    inputs += tuple(views_of(text, SQL_FOLDER))
    return View(
        path.stem,
        path.parent.relative_to(SQL_FOLDER).as_posix(),
        header["purpose"],
        header["grain"],
        inputs,
        header["paper"],
        sql,
    )
