"""Columns of a table that almost depend on another column alone, such as a region of a postcode."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.change_remarks import differing_rows
from decaf.data.table_rows import Counterfactuals, PackedRows

FEWEST_ROWS = 20
"""Fewest rows that suggest a function."""
MOST_ROWS = 100_000
"""Rows of the table, and of a pair type, that are looked at, evenly spread."""
ROWS_PER_VALUE = 2
"""Smallest mean number of rows per value of a column that suggests a function of it."""
LEAST_GAIN = 0.9
"""Smallest share of the rows without the most frequent value that a function explains."""
MOST_MISFITS = 0.1
"""Largest share of changed rows that need not fit a function."""


def list_functions(
    factual: PackedRows,
    origins: Sequence[Counterfactuals],
    changed_columns: Mapping[str, Sequence[str]],
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Unchanged columns that are functions of a changed one, or almost: by pair type and column.

    A column is such a function if each row gets the most frequent value of its value of the changed
    column, instead of the most frequent value of all rows, and at least ``LEAST_GAIN`` of the wrong
    values become right (Goodman and Kruskal's lambda). Rows whose value of the changed column is
    missing or occurs once do not count. Functions that fit the changed rows are left out, such as
    the country if towns are permuted within each country. ``changed_columns`` are by pair type.
    """
    names = [column.name for column in factual.columns.columns]
    parts = [part[_spread(len(part))] for part in factual.parts]
    is_present = [
        part[:, 1] > 0 if column.has_presence else np.full(len(part), True)
        for column, part in zip(factual.columns.columns, parts, strict=True)
    ]

    @cache
    def functions_of(place: int) -> list[int]:
        codes, chosen = _number_values(parts[place]), is_present[place]
        counts = np.bincount(codes[chosen])
        if chosen.sum() < max(FEWEST_ROWS, ROWS_PER_VALUE * np.count_nonzero(counts)):
            return []
        chosen = chosen & (counts[codes] > 1)
        return [
            other
            for other, part in enumerate(parts)
            if other != place and _gain(codes[chosen], part[chosen]) >= LEAST_GAIN
        ]

    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for origin in origins:
        for code, pair_type in enumerate(origin.pair_type.values):
            changed = [names.index(name) for name in changed_columns.get(pair_type, ())]
            of_type = np.flatnonzero(origin.pair_type.codes == code)
            for place in changed:
                before, after = factual.parts[place], origin.rows.parts[place]
                is_changed = differing_rows(before[origin.place[of_type]], after[of_type])
                rows = of_type[is_changed]
                rows = rows[_spread(len(rows))]
                own_functions = tuple(
                    names[other]
                    for other in functions_of(place)
                    if other not in changed
                    and _count_misfits(
                        (parts[place], parts[other]),
                        (after[rows], origin.rows.parts[other][rows]),
                    )
                    > MOST_MISFITS * len(rows)
                )
                if own_functions:
                    found.setdefault(pair_type, {})[names[place]] = own_functions
    return found


def _spread(count: int) -> slice:
    return slice(None, None, -(-count // MOST_ROWS) or 1)


def _gain(codes: NDArray[np.int64], part: NDArray[Any]) -> float:
    """Goodman and Kruskal's lambda of a part, given codes; 0 if all its rows are equal."""
    values = _number_values(part)
    most_frequent = np.bincount(values, minlength=1).max()
    if most_frequent == len(values):
        return 0.0
    right = np.count_nonzero(_most_frequent(codes, values)[codes] == values)
    return float((right - most_frequent) / (len(values) - most_frequent))


def _count_misfits(
    factual: tuple[NDArray[Any], NDArray[Any]], changed: tuple[NDArray[Any], NDArray[Any]]
) -> int:
    """Changed rows, (column, function), that differ from the function, or have an unknown value."""
    codes, values = (
        _number_values(np.concatenate(both)) for both in zip(factual, changed, strict=True)
    )
    count = len(factual[0])
    expected = _most_frequent(codes[:count], values[:count], codes.max() + 1)[codes[count:]]
    return int(np.count_nonzero(expected != values[count:]))


def _most_frequent(
    codes: NDArray[np.int64], values: NDArray[np.int64], code_count: int = 0
) -> NDArray[np.int64]:
    """(codes,) most frequent value of each code, the smallest of several; -1 without rows."""
    value_count = values.max() + 1
    cells, counts = np.unique(codes * value_count + values, return_counts=True)
    # Written last, the cell with the most rows stays.
    ordered = cells[np.lexsort((-cells, counts))]
    result = np.full(max(code_count, codes.max() + 1), -1)
    result[ordered // value_count] = ordered % value_count
    return result


def _number_values(part: NDArray[Any]) -> NDArray[np.int64]:
    """(n,) numbers of the distinct rows of a part, (n,) or (n, values), from 0."""
    axis = None if part.ndim == 1 or part.shape[1] == 1 else 0
    return np.unique(part, axis=axis, return_inverse=True)[1].reshape(-1)
