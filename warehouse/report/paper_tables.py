"""The report's tables of the paper, any of them, with intervals and published values."""

from typing import Any

from warehouse.report.cells import (
    MISSING,
    Cell,
    Column,
    Table,
    count,
    runnable,
    score,
    score_decimals,
)
from warehouse.report.facts import Facts
from warehouse.report.paper import DataNote, PaperRow, PaperTable

WHOLE = 1000
"""Whole estimates from here on are counts."""

COMPARABLE, INCOMPARABLE, UNKNOWN = "", "not comparable", "comparability unknown"


def paper_tables(facts: Facts) -> tuple[Table, ...]:
    """Every table of the paper that the study has rows of."""
    return tuple(_table(table, facts) for table in facts.paper.tables)


def data_note(data: DataNote | None) -> str:
    """What a reader must know before comparing with the paper."""
    if data is None:
        return "Published values are shown without a check of the data: comparability unknown."
    if data.is_official:
        return f"Published values stand beside ours: {data.why}."
    return f"not the official data: not comparable ({data.why})."


def written(value: Any) -> str:
    """Write what a row is of, or a number with three significant digits.

    Examples
    --------
    >>> written("blend"), written(None), written(0.00031), written(8289.0), written(True)
    ('blend', '–', '0.000310', '8,289', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (
        isinstance(value, float) and value.is_integer() and abs(value) >= WHOLE
    ):
        return count(int(value))
    if isinstance(value, float):
        return score(value, score_decimals([value]))
    return MISSING if value is None else str(value)


def _table(table: PaperTable, facts: Facts) -> Table:
    rows = table.rows
    groups = tuple(
        Column(
            name.replace("_", " ").capitalize(),
            is_number=all(isinstance(row.of[name], int | float) for row in rows),
        )
        for name in table.columns
    )
    columns = [*groups, Column("Estimate")]
    intervals = [
        (level, f"lower_{level}", f"upper_{level}")
        for level in (90, 95)
        if any(getattr(row, f"lower_{level}") is not None for row in rows)
    ]
    columns += [
        Column("Interval", f"{level}%", "Percentile bootstrap") for level, _, _ in intervals
    ]
    has_published = any(row.published is not None for row in rows)
    if has_published:
        columns.append(Column("Paper", "published", "The value that the paper gives"))
    label = _label(facts.paper.data)
    return Table(
        table.purpose[:1].upper() + table.purpose[1:],
        tuple(columns),
        tuple(
            (
                *(Cell(written(row.of[name])) for name in table.columns),
                Cell(written(row.estimate), row.reason or ""),
                *(_interval(row, lower, upper) for _, lower, upper in intervals),
                *((_published(row, label),) if has_published else ()),
            )
            for row in rows
        ),
        runnable(table.query, facts.study),
        f"Paper: {table.paper}. View: {table.name}.",
    )


def _label(data: DataNote | None) -> str:
    if data is None:
        return UNKNOWN
    return COMPARABLE if data.is_official else INCOMPARABLE


def _published(row: PaperRow, label: str) -> Cell:
    return Cell(MISSING) if row.published is None else Cell(written(row.published), label)


def _interval(row: PaperRow, lower: str, upper: str) -> Cell:
    low, high = getattr(row, lower), getattr(row, upper)
    if low is None or high is None:
        return Cell(MISSING)
    decimals = score_decimals([low, high])
    return Cell(f"[{score(low, decimals)}, {score(high, decimals)}]")
