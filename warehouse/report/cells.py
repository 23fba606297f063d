"""Cells, columns and tables of the report, and how its numbers are written."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

MISSING = "–"
"""What stands in a cell that has no value."""

HASH_CHARACTERS = 12
"""Length of a digest's prefix, enough to tell weights apart at a glance."""


class Cell(NamedTuple):
    """One cell: its text, a smaller second line, and an explanation on hover."""

    text: str
    note: str = ""
    hover: str = ""


class Column(NamedTuple):
    """One column: heading, unit, meaning (shown on hover), alignment and colour."""

    label: str
    unit: str = ""
    meaning: str = ""
    is_number: bool = True
    metric: str = ""


@dataclass(frozen=True)
class Table:
    """A table with the query that reproduces it; ``total`` is an optional last row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sql: str
    note: str = ""
    total: tuple[Cell, ...] = ()


class Field(NamedTuple):
    """A column, and what a row has in it."""

    column: Column
    cell: Callable[[Any], Cell]


def text(value: str | None) -> str:
    """Write a name or a remark."""
    return MISSING if value is None else value


def field(
    name: str,
    label: str,
    unit: str = "",
    meaning: str = "",
    write: Callable[[Any], str] = text,
    *,
    is_number: bool | None = None,
    note: str = "",
    hover: str = "",
) -> Field:
    """Column of one field of a row.

    Parameters
    ----------
    write
        Writes its value.
    is_number
        Whether it is aligned as numbers are; if it is not given, all but plain text is.
    note, hover
        Fields with the second line and the explanation of each cell, where it has them; both may
        be NULL.
    """

    def cell(row: Any) -> Cell:
        more = (getattr(row, other) or "" if other else "" for other in (note, hover))
        return Cell(write(getattr(row, name)), *more)

    is_right = write is not text if is_number is None else is_number
    return Field(Column(label, unit, meaning, is_right), cell)


def table(
    title: str, fields: Iterable[Field], rows: Iterable[Any], sql: str, note: str = ""
) -> Table:
    """Table of what the fields say of each row."""
    columns, cells = zip(*fields, strict=True)
    return Table(title, columns, tuple(tuple(c(row) for c in cells) for row in rows), sql, note)


def score_decimals(values: Iterable[float | None]) -> int:
    """Decimals that write the largest score with three significant digits, three at least.

    Examples
    --------
    >>> score_decimals([0.4, None]), score_decimals([12.0]), score_decimals([0.0123])
    (3, 3, 4)
    """
    largest = max((abs(value) for value in values if value), default=1.0)
    return min(12, max(3, 2 - math.floor(math.log10(largest))))


def score(value: float | None, decimals: int) -> str:
    """Write a score; a value that would be written as zero shows its bound instead.

    Examples
    --------
    >>> score(0.12345, 3), score(1e-6, 3), score(0.0, 3), score(None, 3)
    ('0.123', '<0.001', '0.000', '–')
    """
    if value is None:
        return MISSING
    bound = 10.0**-decimals
    if 0 < abs(value) < bound / 2:
        return f"<{bound:.{decimals}f}" if value > 0 else f">-{bound:.{decimals}f}"
    return f"{value:.{decimals}f}"


def with_interval(
    value: float | None, lower: float | None, upper: float | None, decimals: int
) -> Cell:
    """Show a score with its interval below, if it has one."""
    limits = (score(lower, decimals), score(upper, decimals))
    return Cell(score(value, decimals), "" if MISSING in limits else f"[{', '.join(limits)}]")


def percent(fraction: float | None) -> str:
    """Write a fraction as a percentage with one decimal."""
    return MISSING if fraction is None else f"{100 * fraction:.1f}%"


def count(value: int | None) -> str:
    """Write a count with thousands separators."""
    return MISSING if value is None else f"{value:,}"


def number(value: float | None, decimals: int = 1) -> str:
    """Write a measurement with thousands separators."""
    return MISSING if value is None else f"{value:,.{decimals}f}"


def digest(sha256: str) -> Cell:
    """Show the prefix of a digest; the whole of it is on hover."""
    short = len(sha256) > HASH_CHARACTERS
    return Cell(sha256[:HASH_CHARACTERS] + ("…" if short else ""), hover=sha256)


def runnable(query: str, study: str) -> str:
    """Put the study into a query as an SQL literal.

    Examples
    --------
    >>> runnable("SELECT 1 WHERE study = ?", "it's")
    "SELECT 1 WHERE study = 'it''s'"
    """
    literal = "'" + study.replace("'", "''") + "'"
    return query.replace("?", literal)
