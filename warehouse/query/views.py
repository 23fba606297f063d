"""The views, macros and checks: files of ``sql/``, each of which defines what its name says.

A header states what a file is and what it reads, which gives the order in which views are created.
"""

import re
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import duckdb

from decaf.errors import WarehouseError
from warehouse.query.placeholders import filled, views_of

SQL_FOLDER = Path(__file__).parents[2] / "sql"
CHECKS = "checks"
"""Folder of ``sql/`` whose files are queries to run, not views to create."""
MACRO = "macro"
HEADER = re.compile(r"^-- (purpose|grain|inputs|paper): (.+(?:\n--   .+)*)", re.MULTILINE)
"""One field of a header; lines that go on are indented by two more spaces."""


class View(NamedTuple):
    """What the header of one SQL file says.

    ``inputs`` are names of other files, or of what :mod:`warehouse.query.provided` provides;
    ``folder`` is relative to ``sql/``.
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
    """All files of ``sql/`` with what their headers say, sorted by folder and name."""
    return [_parse(path) for path in sorted(SQL_FOLDER.rglob("*.sql"))]


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
