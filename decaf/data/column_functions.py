"""Columns of a table that are functions of another column, such as a region of a postcode."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.change_remarks import differing_rows
from decaf.data.frames import FrameSchema

FEWEST_ROWS = 20
"""Fewest rows that suggest a function."""
ROWS_PER_VALUE = 2
"""Smallest mean number of rows per value of a column that suggests a function of it."""


def list_functions(
    columns: FrameSchema, parts: Sequence[NDArray[Any]], names: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Columns that are functions of a column in ``names``, by its name.

    ``parts`` are packed rows (:meth:`FrameSchema.pack`). A column is a function if all rows with
    one value of the named column have one value of it, and it varies among the rows whose value of
    the named column occurs twice or more. Rows without a value of the named column do not count.
    """
    functions = {}
    for column, part in zip(columns.columns, parts, strict=True):
        if column.name not in names:
            continue
        is_present = part[:, 1] > 0 if column.has_presence else np.full(len(part), True)
        rows = np.flatnonzero(is_present)
        values = part[rows] if part.ndim == 1 else part[rows, 0]
        _, first, codes, counts = np.unique(
            values, return_index=True, return_inverse=True, return_counts=True
        )
        if len(rows) < max(FEWEST_ROWS, ROWS_PER_VALUE * len(first)):
            continue
        is_repeated = counts[codes] > 1
        pairs = rows[is_repeated], rows[first[codes[is_repeated]]]
        own_functions = tuple(
            candidate.name
            for candidate, candidate_part in zip(columns.columns, parts, strict=True)
            if candidate is not column and _is_function(candidate_part, *pairs)
        )
        if own_functions:
            functions[column.name] = own_functions
    return functions


def _is_function(
    part: NDArray[Any], rows: NDArray[np.int64], first_rows: NDArray[np.int64]
) -> bool:
    """True if ``rows`` equal the first row of their value, and not all of them are equal."""
    is_equal = not differing_rows(part[rows], part[first_rows]).any()
    return is_equal and bool(differing_rows(part[rows], part[rows[:1]]).any())
