"""Remarks on counterfactual rows that differ from their factual rows in other ways than intended.

Parts are packed rows: a part for each column, as :meth:`FrameSchema.pack` gives them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.column_remarks import find_marks
from decaf.data.frames import FrameSchema
from decaf.errors import MOST_KNOWN, abridge
from decaf.foundation.names import quote
from decaf.foundation.number_text import percent_text

Parts = Sequence[NDArray[Any]]
LARGEST_OUTSIDE = 0.5
"""No remark up to this share of changed rows outside of the range of the column."""
MOST_ROWS = 0.5
"""Smallest share of rows, and of columns, that are most of them."""
FEWEST_ROWS = 20
"""Fewest rows that suggest anything about their order."""
FEWEST_DIFFERENT, FEWEST_REORDERED = 3, 2
"""Fewest columns that suggest other rows: all columns, and those with equal values elsewhere."""
MOST_PLACES = 16
"""Most values of a row of an array that are compared with other rows."""


def differing_rows(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) True for rows in which two parts of a column, (n,) or (n, values), differ."""
    is_other: NDArray[np.bool_] = before != after
    return is_other if is_other.ndim == 1 else np.asarray(is_other.any(axis=1))


def remark_outside(
    subject: str, reference: str, columns: FrameSchema, factual: Parts, before: Parts, after: Parts
) -> Iterator[str]:
    """Remark on columns whose changed numbers lie mostly outside of the factual range.

    ``before`` and ``after`` are the rows of pairs, and ``factual`` all rows, which give the range.
    Rows whose number stays or becomes missing do not count, and a column of one number has no
    range. ``subject`` and ``reference`` name the changed and the factual rows in the remark.
    """
    words = []
    for column, reference_part, old, new in zip(
        columns.columns, factual, before, after, strict=True
    ):
        if new is old or column.kind not in ("number", "whole"):
            continue
        is_changed = differing_rows(old, new)
        if column.missing is not None:
            is_changed &= new[:, 1] > 0
            reference_part = reference_part[reference_part[:, 1] > 0]
        numbers = new[is_changed, 0]
        if not reference_part.size or not numbers.size:
            continue
        low, high = reference_part[:, 0].min(), reference_part[:, 0].max()
        outside_count = np.count_nonzero((numbers < low) | (numbers > high))
        if low < high and outside_count > LARGEST_OUTSIDE * numbers.size:
            share = percent_text(outside_count / numbers.size)
            words.append(f"{quote(column.name)} {low:,.7g} to {high:,.7g} ({share} outside)")
    if words:
        yield (
            f"{subject}: most changed numbers lie outside of the values of {reference}, "
            f"{abridge(words, MOST_KNOWN)}; a model may never have seen such numbers: check their "
            "units, or choose a smaller change"
        )


def remark_moved_marks(
    subject: str, columns: FrameSchema, factual: Parts, before: Parts, after: Parts
) -> Iterator[str]:
    """Remark on columns in which a change moves numbers that seem to mark missing values.

    ``before`` and ``after`` are the rows of pairs, and ``factual`` all rows, which hold the marks
    (:func:`decaf.data.column_remarks.find_marks`).
    """
    words = []
    for column, reference_part, old, new in zip(
        columns.columns, factual, before, after, strict=True
    ):
        if new is old or column.kind not in ("number", "whole"):
            continue
        is_present = np.full(len(reference_part), True)
        if column.has_presence:
            is_present = reference_part[:, 1] > 0
        marks = [mark.number for mark in find_marks(reference_part[is_present, 0])]
        is_moved = differing_rows(old, new) & np.isin(old[:, 0], marks)
        if count := np.count_nonzero(is_moved):
            numbers = abridge([f"{mark:.7g}" for mark in marks])
            words.append(f"{numbers} of {quote(column.name)} in {count:,} rows")
    if words:
        yield (
            f"{subject} moves numbers that seem to mark missing values, {', '.join(words)}; "
            "changes and paths treat a mark as a number, also if a card states it as 'missing': "
            "leave these cells empty, which XGBoost counts as missing, too, or leave the rows out"
        )


def describe_other_rows(before: Parts, after: Parts) -> str:
    """Reason why counterfactual rows seem to be paired with wrong rows; empty if there is none.

    Of 20 rows or more, they seem so if every column, of three or more, differs in most rows, or if
    most columns, two or more, have equal values in another order.
    """
    if len(before[0]) < FEWEST_ROWS:
        return ""
    if reason := describe_reordered_rows(before, after):
        return reason
    different_count = sum(
        differing_rows(old, new).mean() > MOST_ROWS for old, new in zip(before, after, strict=True)
    )
    if FEWEST_DIFFERENT <= different_count == len(before):
        return "every column differs in most rows"
    return ""


def describe_reordered_rows(before: Parts, after: Parts, noun: str = "columns") -> str:
    """Say how many columns have equal values in another order; empty unless most of them do.

    Below 20 rows, and for a single column, it is always empty. ``noun`` is the word for columns.
    """
    if len(before[0]) < FEWEST_ROWS:
        return ""
    reordered_count = sum(
        bool(differing_rows(old, new).any())
        and np.array_equal(np.sort(old, axis=0), np.sort(new, axis=0))
        for old, new in zip(before, after, strict=True)
    )
    if FEWEST_REORDERED <= reordered_count > MOST_ROWS * len(before):
        return f"{reordered_count} of {len(before)} {noun} have equal values in other rows"
    return ""


def spread_places(row_size: int) -> list[int]:
    """Evenly spaced places of the values of a row of an array that are compared, 16 or fewer."""
    return np.unique(np.linspace(0, row_size - 1, MOST_PLACES).astype(int)).tolist()
