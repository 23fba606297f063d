"""The views, macros and checks: files of ``sql/``, each of which defines what its name says.

A header states what a file is; what it reads gives the order in which views are created.
The views of the tables themselves are made from the declarations of these (``warehouse.tables``).
"""

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import duckdb

from decaf.errors import WarehouseError
from warehouse.query.placeholders import filled
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
HEADER = re.compile(r"^-- (purpose|grain|paper|published|curve): (.+(?:\n--   .+)*)", re.MULTILINE)
"""One field of a header; lines that go on are indented by two more spaces."""
COMMENTS = re.compile(r"\A(--.*\n)+")
DEFINED = re.compile(r"CREATE OR REPLACE (?:MACRO|TABLE|VIEW) (\w+)")
PROVIDED = ("receipts", "committed_units", "receipt_files")
"""Names of the relations that a connection is given."""
TABLE_FILES = re.compile(r"getvariable\('(files)'\)(\.\w+)")
NOT_CODE = re.compile(r"--.*|'[^']*'")


class View(NamedTuple):
    """What the header of a SQL file says, or the declaration of a table.

    ``inputs`` are names of the other files, and of what :mod:`warehouse.query.provided` provides,
    that its SQL reads; ``folder`` is relative to ``sql/``; ``paper`` is ``none`` where the paper
    has nothing of the kind. ``published`` says of which data the paper's values in a table are, if
    not of all that a study is measured against: ``any data``, or one ``subject`` of its ``…_data``.
    """

    name: str
    folder: str
    purpose: str
    grain: str
    inputs: tuple[str, ...]
    paper: str
    sql: str
    published: str = ""
    curve: str = ""

    @property
    def kind(self) -> str:
        """``macro``, or what the name of a view begins with, such as ``core`` or ``paper``."""
        return (
            MACRO if f"CREATE OR REPLACE {MACRO.upper()}" in self.sql else self.name.split("_")[0]
        )

    @property
    def is_view(self) -> bool:
        """Whether it is read anew with every query; a table has its rows from files of ``sql/``."""
        return "CREATE OR REPLACE VIEW" in self.sql


def views() -> tuple[View, ...]:
    """Views of all tables and all files of ``sql/`` but queries, sorted by folder and name.

    A process reads the files once; :func:`read_again` makes the next call read them anew.
    """
    return _views(SQL_FOLDER)


def read_again() -> None:
    """Have files that changed since they were read be seen."""
    _views.cache_clear()


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

    Every view is bound over empty tables in place of the views that it reads: DuckDB would bind
    those again, and all that they read, once for each view above them.

    Parameters
    ----------
    scripts
        What to create, each after its inputs, as :func:`in_order` gives them.
    """
    made = []
    connection.execute("BEGIN")
    for script in scripts:
        connection.execute(script.sql)
        if script.is_view:
            made.append(script)
            connection.execute(
                f"CREATE TABLE in_its_place AS FROM {script.name} WITH NO DATA;"
                f"DROP VIEW {script.name};"
                f"ALTER TABLE in_its_place RENAME TO {script.name}"
            )
    for script in reversed(made):
        connection.execute(f"DROP TABLE {script.name}; {script.sql}")
    connection.execute("COMMIT")


def staging(table: Table) -> View:
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
    explicit_cardinality = getvariable('row_counts').{table.name},
    hive_partitioning = true,
    hive_types = {{{hive_types}}}
);
"""
    return View(f"stg_{table.name}", STAGING, table.purpose, table.grain, (), table.paper, sql)


@cache
def _views(folder: Path) -> tuple[View, ...]:
    queries = folder / QUERIES
    files = (path for path in folder.rglob("*.sql") if queries not in path.parents)
    alone = [*map(staging, TABLES.values()), *(_parse(path, folder) for path in files)]
    defined = {name: view.name for view in alone for name in DEFINED.findall(view.sql)}
    defined |= {name: name for name in PROVIDED}
    whole = (view._replace(inputs=_inputs(view, defined)) for view in alone)
    return tuple(sorted(whole, key=lambda view: (view.folder, view.name)))


def _inputs(view: View, files: dict[str, str]) -> tuple[str, ...]:
    """Files of the views and macros that the words of its SQL name, and files of rows."""
    words = re.findall(r"\w+", NOT_CODE.sub("", view.sql))
    read = {files[word] for word in words if word in files} - {view.name}
    return (*sorted(read), *map("".join, TABLE_FILES.findall(view.sql)))


def _parse(path: Path, folder: Path) -> View:
    sql = filled(path.read_text(encoding="utf-8"), folder)
    header = {
        field: " ".join(text.replace("\n--", " ").split()) for field, text in HEADER.findall(sql)
    }
    missing = {"purpose", "grain"} - header.keys()
    if missing:
        raise WarehouseError(f"{path}: the header lacks {', '.join(sorted(missing))}")
    return View(
        path.stem,
        path.parent.relative_to(folder).as_posix(),
        header["purpose"],
        header["grain"],
        (),
        header.get("paper", "none"),
        sql,
        header.get("published", ""),
        header.get("curve", ""),
    )
