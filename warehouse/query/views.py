"""The views, macros and checks: files of ``sql/``, each of which defines what its name says.

A header states what a file is and what it reads, which gives the order in which views are created.
"""

import re
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import duckdb

from decaf.errors import WarehouseError

SQL_FOLDER = Path(__file__).parents[2] / "sql"
CHECKS = "checks"
"""Folder of ``sql/`` whose files are queries to run, not views to create."""
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

    Parameters
    ----------
    scripts
        What to create, each after its inputs, as :func:`in_order` gives them.
    """
    for script in scripts:
        connection.execute(script.sql)


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
