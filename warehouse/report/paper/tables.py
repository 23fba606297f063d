"""The report's tables of the paper, with intervals and published values."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from decaf.foundation.number_text import MINUS, MISSING, count_text, score_text, signed_text
from warehouse.report.cells import Cell, Column, Field, Table, runnable
from warehouse.report.cells import table as of_fields
from warehouse.report.paper.reading import ANY_DATA, DataNote, Paper, PaperRow, PaperTable

WHOLE = 2
"""Whole estimates of at least this are counts; 0 and 1 are the ends of most scales."""

LABELS = {True: "", False: "not comparable", None: "comparability unknown"}
"""Label next to a published value, by whether it can be compared with ours."""


def paper_tables(paper: Paper, study: str) -> list[Table]:
    """Every table of the paper that the study has rows of."""
    tables = []
    for table in paper.tables:
        label = LABELS[paper.is_comparable(table)]
        fields = _wide(table, paper, label) if table.is_wide else _long(table, label)
        note = f"Paper: {table.paper}. View: {table.name}. {table_note(table)}".rstrip()
        query = runnable(table.query, study)
        tables.append(of_fields(table.title, fields, table.first_lines, query, note))
    return tables


def data_note(data: DataNote | None) -> str:
    """State whether the data allow a comparison with the paper."""
    if data is None:
        return "Published values are shown without a check of the data: comparability unknown."
    if data.is_official:
        return f"Published values stand beside ours: {data.why}."
    return f"not the official data: not comparable ({data.why})."


def fingerprints(data: DataNote | None) -> dict[str, str]:
    """Whole digests of the audited pairs and of the training data, by name."""
    digests = {} if data is None else {"pairs": data.pairs_digest, "training": data.training_digest}
    return {name: value for name, value in digests.items() if value}


def table_note(table: PaperTable) -> str:
    """Note on a table: its published values hold for any data, or only some lines are listed."""
    words = ["Its published values hold for any data."] if table.published == ANY_DATA else []
    if table.length > len(table.first_lines):
        ends = f"lines of the least and the largest {table.curve}" if table.curve else "first lines"
        words.append(f"The {ends}, {len(table.first_lines)} of {table.length:,}; its view has all.")
    return " ".join(words)


def budget_note(paper: Paper) -> str:
    """Names of methods whose budget differs from the paper's; empty without any."""
    shares = [f"{name} {write_value(share)}" for name, share in paper.other_budgets.items()]
    return (
        f"Other budgets than the paper's, as shares of it: {', '.join(shares)}." if shares else ""
    )


def write_value(value: Any) -> str:
    """Write an identifying value of a row, or a number.

    Examples
    --------
    >>> write_value("blend"), write_value(None), write_value(0.0123), write_value(8289.0)
    ('blend', '–', '0.012', '8,289')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or is_count(value):
        return count_text(int(value))
    if isinstance(value, float):
        return score_text(value)
    return MISSING if value is None else str(value)


def is_count(value: Any) -> bool:
    """True if an estimate looks like a count: a whole number, at least 2."""
    return isinstance(value, float) and value.is_integer() and abs(value) >= WHOLE


def is_number(table: PaperTable, name: str) -> bool:
    """True if the filled cells of an identifying column are all numbers."""
    values = [row.keys[name] for row in table.rows if row.keys[name] is not None]
    return bool(values) and all(type(value) in (int, float) for value in values)  # not bool


def whole_difference(row: PaperRow) -> str | None:
    """Write the difference of a count from the paper's; None if neither is a count."""
    has_count = is_count(row.estimate) or is_count(row.published)
    return count_change(row.difference) if has_count and row.difference.is_integer() else None


def count_change(value: float) -> str:
    """Write the change of a count.

    >>> count_change(3.0), count_change(-1200.0), count_change(0.0)
    ('+3', '−1,200', '0')
    """
    return f"{value:+,.0f}".replace("-", MINUS) if value else "0"


def difference(row: PaperRow) -> str:
    """Write the difference of a row from the paper.

    Examples
    --------
    >>> rows = [(0.5123, 0.5, 0.0123), (90.0, 93.0, -3.0), (0.5, 0.5, 0.0), (0.5, None, None)]
    >>> [difference(PaperRow({}, one, other, None, difference=d)) for one, other, d in rows]
    ['+0.012', '−3', '0', '–']
    """
    if row.difference is None:
        return MISSING
    return whole_difference(row) or signed_text(row.difference)


def interval(low: float | None, high: float | None) -> str:
    """Write both limits.

    Examples
    --------
    >>> interval(0.25, 0.75), interval(None, None)
    ('[0.250, 0.750]', '–')
    """
    if low is None or high is None:
        return MISSING
    return f"[{score_text(low)}, {score_text(high)}]"


def shown_levels(table: PaperTable) -> list[tuple[int, str, str]]:
    """Levels of the intervals that any row has, with the names of their limits."""
    return [
        (level, f"lower_{level}", f"upper_{level}")
        for level in (90, 95)
        if any(getattr(row, f"lower_{level}") is not None for row in table.rows)
    ]


def heading(name: str) -> str:
    """Write the name of a column, or of a statistic, as a heading."""
    return name.replace("_", " ").capitalize()


def title(paper: Paper, name: str) -> str:
    """Write the title of a statistic, or its name if it has no description."""
    described = paper.statistics.get(name)
    return described.title if described else heading(name)


def groups(table: PaperTable, names: tuple[str, ...]) -> list[Column]:
    """Columns that identify a row."""
    return [Column(heading(name), is_number=is_number(table, name)) for name in names]


def _wide(table: PaperTable, paper: Paper, label: str) -> Iterator[Field]:
    """One column for each statistic: our number, with the paper's and the difference below."""
    for place, column in enumerate(groups(table, table.groups)):
        yield Field(column, lambda line, place=place: Cell(write_value(line[0][place])))
    for name in table.statistics:
        described = paper.statistics.get(name)
        column = Column(title(paper, name), meaning=described.meaning if described else "")
        yield Field(column, lambda line, name=name: _compare(line[1].get(name), label))


def _long(table: PaperTable, label: str) -> Iterator[Field]:
    """One row for each estimate, with its intervals and the paper's value."""
    for name, column in zip(table.columns, groups(table, table.columns), strict=True):
        yield Field(column, lambda row, name=name: Cell(write_value(row.keys[name])))
    yield Field(Column("Estimate"), lambda row: Cell(write_value(row.estimate), row.reason or ""))
    for level, *limits in shown_levels(table):
        column = Column("Interval", f"{level} %", "Percentile bootstrap")
        of_level = attrgetter(*limits)
        yield Field(column, lambda row, of_level=of_level: Cell(interval(*of_level(row))))
    if any(row.published is not None for row in table.rows):
        column = Column("Paper", "published", "The value that the paper gives")
        yield Field(column, lambda row: _published_cell(row, label))
    if any(row.difference is not None for row in table.rows):
        column = Column("Difference", "ours - paper's", "The estimate less the paper's value")
        yield Field(column, lambda row: Cell(difference(row)))


def _compare(row: PaperRow | None, label: str) -> Cell:
    if row is None:
        return Cell(MISSING)
    notes = []
    if row.published is not None:
        difference_text = "" if row.difference is None else f", {difference(row)}"
        notes = [f"paper {write_value(row.published)}{difference_text} {label}".rstrip()]
    if row.estimate is None:
        return Cell(MISSING, *notes, hover=row.reason or "")
    if row.reason:
        notes.append(row.reason)  # on the page, since few readers look for a remark on hover
    return Cell(write_value(row.estimate), "; ".join(notes))


def _published_cell(row: PaperRow, label: str) -> Cell:
    if row.published is None:
        return Cell(MISSING)
    limits = interval(row.published_lower_95, row.published_upper_95)
    text = write_value(row.published)
    return Cell(text if limits == MISSING else f"{text} {limits}", label)
