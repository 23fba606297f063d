"""Views, macros and checks: files of ``sql/``, each of which defines the object of its name.

A header describes a file. Views are created after their inputs. The views of tables are generated
from the declarations of the tables (``warehouse.tables``).
"""

import re
from collections.abc import Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import duckdb

from decaf.errors import WarehouseError
from warehouse.query.placeholders import fill_placeholders
from warehouse.tables.columns import SQL_TYPES, Table
from warehouse.tables.declarations import TABLES

SQL_FOLDER = Path(__file__).parents[2] / "sql"
CHECKS = "checks"
"""Folder of ``sql/`` whose files are queries to run, not views to create."""
QUERIES = "queries"
"""Folder of ``sql/`` whose files are queries of reports and upkeep."""
STAGING = "staging"
"""Folder name of the generated views of tables."""
MACRO = "macro"
HEADER = re.compile(r"^-- (purpose|grain|paper|published|curve): (.+(?:\n--   .+)*)", re.MULTILINE)
"""One field of a header; continuation lines are indented by two more spaces."""
COMMENTS = re.compile(r"\A(--.*\n)+")
DEFINED = re.compile(r"CREATE OR REPLACE (?:MACRO|TABLE|VIEW) (\w+)")
PROVIDED = ("receipts", "committed_units", "receipt_files")
"""Names of the relations that :mod:`warehouse.query.provided` creates."""
TABLE_FILES = re.compile(r"getvariable\('(files)'\)(\.\w+)")
NOT_CODE = re.compile(r"--.*|'[^']*'")


class View(NamedTuple):
    """Header and SQL of one file, or of the view of one table.

    ``inputs`` are names of the views, macros and provided relations that its SQL reads. ``folder``
    is relative to ``sql/``. ``paper`` is ``none`` if the paper has no such result. ``published``
    names the data of the paper's values in a table, if not all data of the study: ``any data``, or
    one ``subject`` of the study's view ``…_data``.
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
        """``macro``, or the prefix of the view's name, such as ``core`` or ``paper``."""
        return (
            MACRO if f"CREATE OR REPLACE {MACRO.upper()}" in self.sql else self.name.split("_")[0]
        )

    @property
    def is_view(self) -> bool:
        """True for a view; False for a table, whose rows come from files of ``sql/``."""
        return "CREATE OR REPLACE VIEW" in self.sql


def views() -> tuple[View, ...]:
    """Views of all tables and all files of ``sql/`` except queries, sorted by folder and name.

    A process reads the files once; :func:`forget_views` makes the next call read them again.
    """
    return _views(SQL_FOLDER)


def forget_views() -> None:
    """Clear the cache of :func:`views`, so that its next call reads changed files."""
    _views.cache_clear()


@cache
def query(name: str) -> str:
    """Read a query such as ``report/models``, a file of ``sql/queries``, without its header."""
    text = (SQL_FOLDER / QUERIES / f"{name}.sql").read_text(encoding="utf-8")
    return COMMENTS.sub("", text).rstrip()


def sort_views() -> list[View]:
    """Sort views and macros so that each comes after its inputs; leaves out checks."""
    scripts = {view.name: view for view in views() if view.folder != CHECKS}
    order = TopologicalSorter({name: view.inputs for name, view in scripts.items()})
    return [scripts[name] for name in order.static_order() if name in scripts]


def create_views(
    connection: duckdb.DuckDBPyConnection,
    scripts: list[View],
    schemas: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Create views and macros over the provided inputs, such as the variable ``files``.

    While a view is bound, empty tables stand in for the views that it reads. Otherwise DuckDB would
    bind every input, and the inputs of that input, once for each view that reads it.

    Parameters
    ----------
    scripts
        Views and macros to create, each after its inputs, as :func:`sort_views` returns them.
    schemas
        Schema by view, for views outside of the first schema of the search path.
    """
    created_views = []
    connection.execute("BEGIN")
    for script in scripts:
        sql = script.sql
        if schema := schemas.get(script.name):
            sql = sql.replace(f" VIEW {script.name}", f" VIEW {schema}.{script.name}", 1)
        connection.execute(sql)
        if script.is_view:
            created_views.append((script.name, sql))
            prefix = f"{schema}." if schema else ""
            connection.execute(
                f"CREATE TABLE {prefix}view_as_table AS FROM {script.name} WITH NO DATA;"
                f"DROP VIEW {script.name};"
                f"ALTER TABLE view_as_table RENAME TO {script.name}"
            )
    for name, sql in reversed(created_views):
        connection.execute(f"DROP TABLE {name}; {sql}")
    connection.execute("COMMIT")


def staging_view(table: Table) -> View:
    """Make the view of a table: the rows of all its committed files, every column with its type."""
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
    unlinked = [*map(staging_view, TABLES.values()), *(read_view(path, folder) for path in files)]
    defined = {name: view.name for view in unlinked for name in DEFINED.findall(view.sql)}
    defined |= {name: name for name in PROVIDED}
    linked = (view._replace(inputs=_inputs(view, defined)) for view in unlinked)
    return tuple(sorted(linked, key=lambda view: (view.folder, view.name)))


def _inputs(view: View, files: dict[str, str]) -> tuple[str, ...]:
    """Names of files that define the views and macros in a view's SQL, and of its tables' files."""
    words = re.findall(r"\w+", NOT_CODE.sub("", view.sql))
    read = {files[word] for word in words if word in files} - {view.name}
    return (*sorted(read), *map("".join, TABLE_FILES.findall(view.sql)))


def read_view(path: Path, folder: Path) -> View:
    """Read one file of SQL below a folder; its inputs are not known yet.

    Raises WarehouseError if the header lacks a purpose or a grain.
    """
    sql = fill_placeholders(path.read_text(encoding="utf-8"), folder)
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
