"""Read the paper's tables with the numbers of a study: views of ``sql/studies/`` with rows of it.

Such a view has the column ``study``, columns that identify a row, the columns :data:`REQUIRED` and
any of :data:`NUMBERS`; the report needs no other. A view with the columns of
:data:`DataNote` states whether each study of its data set has the paper's data.
"""

from typing import Any, NamedTuple

import duckdb

from warehouse.query.views import views

KIND = "paper"
STATISTIC = "statistic"
BUDGET = "share_of_papers_budget"
"""Statistic: budget of a method in this study, as a share of its budget in the paper."""
SAME_BUDGET = 1e-6
"""Shares that differ from 1 by at most this count as the paper's budget."""
REQUIRED = ("estimate", "published", "reason")
"""Columns of every table: NULL if a number is undefined, or the paper gives no value."""
ANY_DATA = "any data"
"""Mark of a table whose published values hold for any audited data."""
LONGEST = 300
"""Most lines of a table in the report; its pictures and its query use all lines."""

COLUMNS_OF = (
    "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns() "
    "WHERE starts_with(table_name, ?) GROUP BY table_name ORDER BY table_name"
)
"""Query for the columns of views, which does not bind their inputs."""


class PaperRow(NamedTuple):
    """One row: its identifying columns and its numbers."""

    keys: dict[str, Any]
    estimate: float | None
    published: float | None
    reason: str | None
    lower_90: float | None = None
    upper_90: float | None = None
    lower_95: float | None = None
    upper_95: float | None = None
    published_lower_95: float | None = None
    published_upper_95: float | None = None
    difference: float | None = None
    """Estimate minus published value."""


NUMBERS = frozenset(PaperRow._fields) - {"keys"}
"""Columns that do not identify a row."""


class PaperTable(NamedTuple):
    """A view with its rows of one study; ``purpose`` and ``paper`` are those of its header."""

    name: str
    purpose: str
    paper: str
    columns: tuple[str, ...]
    """Columns that identify a row, without the study."""
    has_intervals: bool
    rows: tuple[PaperRow, ...]
    published: str = ""
    """``any data``, or the subject of :class:`DataNote` whose data have the published values."""
    curve: str = ""
    """Column along which rows form a curve: a picture shows it, the table lists only its ends."""

    @property
    def title(self) -> str:
        """Its purpose as a heading."""
        return self.purpose[:1].upper() + self.purpose[1:]

    @property
    def is_wide(self) -> bool:
        """True if statistics are shown side by side: each is one number, without an interval."""
        return STATISTIC in self.columns and not self.has_intervals

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the statistics of a wide table, in the order of its rows."""
        return tuple(dict.fromkeys(row.keys[STATISTIC] for row in self.rows))

    @property
    def groups(self) -> tuple[str, ...]:
        """Columns that identify a line of a wide table."""
        return tuple(name for name in self.columns if name != STATISTIC)

    @property
    def lines(self) -> dict[tuple[Any, ...], dict[str, PaperRow]]:
        """Rows of a wide table by the columns of its lines and by statistic, in their order."""
        lines: dict[tuple[Any, ...], dict[str, PaperRow]] = {}
        for row in self.rows:
            line = lines.setdefault(tuple(row.keys[name] for name in self.groups), {})
            line[row.keys[STATISTIC]] = row
        return lines

    @property
    def first_lines(self) -> list[Any]:
        """First lines of the table: the items of ``lines``, or rows of a long table.

        Of a curve, these are the lines at both ends.
        """
        rows = self.rows
        if self.curve and rows:
            along = [row.keys[self.curve] for row in rows]
            ends = min(along), max(along)
            rows = tuple(row for row in rows if row.keys[self.curve] in ends)
        shown_table = self._replace(rows=rows)
        return list(shown_table.lines.items() if self.is_wide else rows)[:LONGEST]

    @property
    def length(self) -> int:
        """Number of lines."""
        return len(self.lines if self.is_wide else self.rows)

    @property
    def query(self) -> str:
        """The query for its rows; ``$study`` is the study."""
        return f"SELECT *\nFROM {self.name}\nWHERE study = $study"


class Statistic(NamedTuple):
    """Title of a statistic, its unit, the better direction if there is one, and its definition."""

    title: str
    unit: str
    better: str | None
    definition: str

    query = "SELECT statistic, title, unit_of_value, better, definition FROM core_statistics"

    @property
    def meaning(self) -> str:
        """One line that explains the statistic."""
        direction = f"; {self.better} is better" if self.better else ""
        return f"{self.definition} ({self.unit}{direction})"


class DataNote(NamedTuple):
    """Note on the data of a study: whether the published values hold for them, and why.

    A view must have the fields without a default, and may have the fields with one.
    """

    is_official: bool
    why: str
    pairs_digest: str | None = None
    """Fingerprint of the audited pairs."""
    training_digest: str | None = None
    """Fingerprint of the rows that models were fitted on, or a note that there are several."""
    subject: str | None = None
    """Part of the paper that the study is compared with, if the paper has several."""


class Paper(NamedTuple):
    """Tables of the paper that a study has; ``data`` is None if the data are unknown."""

    tables: tuple[PaperTable, ...]
    data: DataNote | None
    statistics: dict[str, Statistic]

    def table(self, name: str) -> tuple[PaperRow, ...]:
        """Rows of one view; empty if the study has none."""
        return next((table.rows for table in self.tables if table.name == name), ())

    def is_comparable(self, table: PaperTable) -> bool | None:
        """True if the paper's values of a table hold for the study's data; None if unknown."""
        if table.published == ANY_DATA:
            return True
        if self.data is None:
            return None
        is_other_part = table.published not in ("", self.data.subject or table.published)
        return self.data.is_official and not is_other_part

    @property
    def other_budgets(self) -> dict[str, float]:
        """Budgets that differ from the paper's, as shares of it, by method."""
        return {
            row.keys["method"]: row.estimate
            for table in self.tables
            for row in table.rows
            if row.keys.get(STATISTIC) == BUDGET and abs(row.difference or 0) > SAME_BUDGET
        }

    def without_models(self, left_out: set[str]) -> "Paper":
        """Copy without rows of some models; rows about all models stay."""
        return self._replace(
            tables=tuple(
                table._replace(
                    rows=tuple(
                        row for row in table.rows if row.keys.get("model_id") not in left_out
                    )
                )
                for table in self.tables
            )
        )


NO_PAPER = Paper((), None, {})
"""Stand-in for a page that shows no tables of the paper."""


def studies_of_the_paper() -> list[str]:
    """Folders of ``sql/studies/`` that have tables of the paper."""
    return sorted({view.folder.rpartition("/")[2] for view in views() if view.kind == KIND})


def read_paper(connection: duckdb.DuckDBPyConnection, study: str) -> Paper:
    """Read the tables that have rows of a study, in the order of their names.

    If a data set has a view ``paper_<data set>_data`` without the study, its tables are not
    queried, since that may take minutes on the trajectories of an unrelated study. Tables of other
    data sets are queried for every study.
    """
    columns = dict(connection.execute(COLUMNS_OF, [f"{KIND}_"]).fetchall())
    notes: dict[str, DataNote | None] = {}
    for name, column_names in columns.items():
        if set(DataNote._fields) - DataNote._field_defaults.keys() <= set(column_names):
            fields = [field for field in DataNote._fields if field in column_names]
            note_query = f"SELECT {', '.join(fields)} FROM {name} WHERE study = $study"
            row = connection.execute(note_query, {"study": study}).fetchone()
            note = None if row is None else DataNote(**dict(zip(fields, row, strict=True)))
            notes[name.removesuffix("data")] = note
    foreign = tuple(prefix for prefix, note in notes.items() if note is None)
    tables = []
    for view in views():
        is_table = set(REQUIRED) <= set(columns.get(view.name, ()))
        if view.name.startswith(foreign) or not is_table:
            continue
        names = columns[view.name]
        table = PaperTable(
            view.name,
            view.purpose,
            view.paper,
            tuple(name for name in names if name not in ("study", *NUMBERS)),
            "lower_95" in names,
            (),
            view.published,
            view.curve,
        )
        value_rows = connection.execute(table.query, {"study": study}).fetchall()
        rows = tuple(_row(dict(zip(names, values, strict=True))) for values in value_rows)
        if rows:
            tables.append(table._replace(rows=rows))
    statistics = {
        name: Statistic(*described)
        for name, *described in connection.execute(Statistic.query).fetchall()
    }
    note = next(filter(None, notes.values()), None) if tables else None
    return Paper(tuple(tables), note, statistics)


def _row(values: dict[str, Any]) -> PaperRow:
    numbers = {name: values.pop(name) for name in NUMBERS if name in values}
    del values["study"]
    return PaperRow(values, **numbers)
