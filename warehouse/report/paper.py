"""Tables of the paper as a study's own numbers: every view of ``sql/paper/`` that has rows of it.

Such a view has the column ``study``, columns that say what a row is of, and those of
:data:`NUMBERS`; the report needs to know no more of it.
"""

from typing import Any, NamedTuple

import duckdb

from warehouse.views import views

FOLDER = "paper"
NUMBERS = (
    "estimate",
    "lower_90",
    "upper_90",
    "lower_95",
    "upper_95",
    "published",
    "reason",
)
"""Columns that every table has: NULL where there is no interval, or the paper gives no value."""


class PaperRow(NamedTuple):
    """One row: what it is of, by column, and its numbers."""

    of: dict[str, Any]
    estimate: float | None
    lower_90: float | None
    upper_90: float | None
    lower_95: float | None
    upper_95: float | None
    published: float | None
    reason: str | None


class PaperTable(NamedTuple):
    """A view with its rows of one study; ``purpose`` and ``paper`` are those of its header."""

    name: str
    purpose: str
    paper: str
    columns: tuple[str, ...]
    """Columns that say what a row is of, without the study."""
    rows: tuple[PaperRow, ...]

    @property
    def query(self) -> str:
        """The query that fills it; ``?`` is the study."""
        return f"SELECT *\nFROM {self.name}\nWHERE study = ?"


class DataNote(NamedTuple):
    """Whether the study's data are those of the published values, and why it is said."""

    is_official: bool
    why: str

    query = "SELECT is_official, why\nFROM paper_data\nWHERE study = ?"


class Paper(NamedTuple):
    """Tables of the paper that a study has; no note where nothing is known of its data."""

    tables: tuple[PaperTable, ...]
    data: DataNote | None

    def table(self, name: str) -> tuple[PaperRow, ...]:
        """Rows of one view; none where the study has none."""
        return next((table.rows for table in self.tables if table.name == name), ())

    def without_models(self, left_out: set[str]) -> "Paper":
        """The same without rows of some models; rows over all models stay."""
        return self._replace(
            tables=tuple(
                table._replace(
                    rows=tuple(row for row in table.rows if row.of.get("model_id") not in left_out)
                )
                for table in self.tables
            )
        )


def read_paper(connection: duckdb.DuckDBPyConnection, study: str) -> Paper:
    """Read the tables that have rows of a study, in the order of their names."""
    tables = []
    for view in views():
        if view.folder != FOLDER:
            continue
        columns = connection.sql(f"SELECT * FROM {view.name} LIMIT 0").columns
        if not set(NUMBERS) <= set(columns):
            continue  # a view about the data, as paper_data
        table = PaperTable(
            view.name,
            view.purpose,
            view.paper,
            tuple(name for name in columns if name not in ("study", *NUMBERS)),
            (),
        )
        found = connection.sql(table.query, params=[study]).fetchall()
        rows = tuple(_row(dict(zip(columns, values, strict=True))) for values in found)
        if rows:
            tables.append(table._replace(rows=rows))
    notes = connection.sql(DataNote.query, params=[study]).fetchall() if tables else []
    return Paper(tuple(tables), DataNote(*notes[0]) if notes else None)


def _row(values: dict[str, Any]) -> PaperRow:
    numbers = [values.pop(name) for name in NUMBERS]
    del values["study"]
    return PaperRow(values, *numbers)
