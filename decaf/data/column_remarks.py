"""Remarks on columns that are rarely intended: many categories, and marks.

A mark is a number far from all others of its column that many rows hold, such as -999. A path moves
between a mark and real values, and XGBoost's own files do not store which number is a mark.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.frames import FrameSchema
from decaf.errors import MOST_KNOWN, abridge
from decaf.foundation.names import quote

MOST_EXPECTED = 50
"""Most categories of a column that need no remark."""
FEWEST_ROWS, SMALLEST_SHARE = 5, 0.01
"""Fewest rows, and smallest share of rows, that hold a mark."""
FEWEST_VALUES = 5
"""Fewest different values, without marks, of a column that is searched for marks."""
USUAL_MARKS = [-1, -7, -8, -9]
USUAL_MARKS += [int(f"{sign}{digit * n}") for sign in "-+" for digit in "789" for n in range(2, 8)]
"""Numbers that data sets use as marks: -1, -9, 99, -999 …"""
USUAL_GAP, OTHER_GAP = 0.25, 3.0
"""Smallest distance of a usual and of any other mark from the values, as a share of their range."""
MARKS = "numbers that seem to mark missing values: "
"""Beginning of the remark on marks."""


class Mark(NamedTuple):
    """A number that seems to mark missing values of a column."""

    number: float
    rows: int
    lowest: float
    """Smallest value of the column without its marks."""
    highest: float


def remark_widths(
    columns: FrameSchema, remedy: str, used: Container[str] | None = None
) -> Iterator[str]:
    """Remark on each column with more than ``MOST_EXPECTED`` categories.

    ``used`` are the columns that the model uses, if they are known; others get no remark.
    """
    for column in columns.columns:
        is_used = used is None or column.name in used
        if is_used and len(column.categories) > MOST_EXPECTED:
            yield (
                f"column {quote(column.name)} has {len(column.categories):,} categories, which "
                f"take as many of the {columns.width:,} input values of a row; if it is a date, an "
                "id or free text, make it a number or a few groups before training, or, if the "
                f"model does not use it, {remedy}"
            )


def number_columns(
    columns: FrameSchema, parts: Sequence[NDArray[Any]]
) -> Iterator[tuple[str, NDArray[np.floating]]]:
    """Name of each column of numbers, and its values in packed rows that are not missing."""
    for column, part in zip(columns.columns, parts, strict=True):
        if column.kind in ("number", "whole"):
            values = part[:, 0]
            is_present = np.isfinite(values) if column.missing is None else part[:, 1] > 0
            yield quote(column.name), values[is_present]


def remark_marks(columns: Iterable[tuple[str, NDArray[np.number]]]) -> tuple[str, ...]:
    """Remark on the numbers that seem to mark missing values in named columns, if there are any."""
    words = [
        f"column {name} has {mark.number:.7g} in {mark.rows:,} of {len(values):,} rows, and "
        f"{mark.lowest:.7g} to {mark.highest:.7g} otherwise"
        for name, values in columns
        for mark in find_marks(values)
    ]
    if not words:
        return ()
    return (
        f"{MARKS}{abridge(words, MOST_KNOWN)}; the file of an XGBoost model does not store such a "
        "number: state it as 'missing:' on the card. If other models accept missing values, leave "
        "these cells empty: a path would otherwise show numbers between the mark and real values",
    )


def find_marks(values: NDArray[np.number]) -> list[Mark]:
    """Numbers of a column, ascending, that seem to mark missing values.

    Many rows hold a mark, and all other values lie on one side of it. A usual mark is negative
    while no value is, or its distance from the values is at least a quarter of their range. The
    distance of any other mark is at least three times their range; 0 is never a mark.
    """
    numbers, counts = np.unique(values, return_counts=True)
    is_frequent = counts >= max(FEWEST_ROWS, SMALLEST_SHARE * len(values))
    is_usual = is_frequent & np.isin(numbers, USUAL_MARKS)
    is_end = np.isin(np.arange(len(numbers)), (0, len(numbers) - 1)) & is_frequent & (numbers != 0)
    for candidates, gap in ((is_usual, USUAL_GAP), (is_end & ~is_usual, OTHER_GAP)):
        values_apart = numbers[~candidates]
        if len(values_apart) < FEWEST_VALUES:
            continue
        lowest, highest = float(values_apart[0]), float(values_apart[-1])
        marks = [
            Mark(number, count, lowest, highest)
            for number, count in zip(
                numbers[candidates].tolist(), counts[candidates].tolist(), strict=True
            )
            if max(lowest - number, number - highest) >= gap * (highest - lowest)
            or (gap == USUAL_GAP and number < 0 <= lowest)
        ]
        if marks:
            return marks
    return []
