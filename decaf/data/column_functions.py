"""Columns of a table that follow from a changed column, such as a region from a postcode."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.change_remarks import differing_rows
from decaf.data.table_rows import Counterfactuals, PackedRows

FEWEST_ROWS = 20
"""Fewest rows that suggest a function."""
MOST_ROWS = 50_000
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
    """Unchanged columns from which a changed one follows, or that follow from it, or almost.

    By pair type and changed column, in the order of the table. A column follows from another if
    each row gets the most frequent value of its value of the other column, instead of the most
    frequent value of all rows, and at least ``LEAST_GAIN`` of the wrong values become right
    (Goodman and Kruskal's lambda). Rows whose value of the other column is missing or occurs once
    do not count. Relations that the changed rows keep are left out, such as that to the country if
    towns are permuted within each country. ``changed_columns`` are by pair type.
    """
    names = [column.name for column in factual.columns.columns]
    parts = [part[_spread(len(part))] for part in factual.parts]
    codes = [_number_values(part) for part in parts]

    @cache
    def follows(other: int, place: int) -> bool:
        has_presence = factual.columns.columns[place].has_presence
        chosen = parts[place][:, 1] > 0 if has_presence else np.full(len(codes[place]), True)
        counts = np.bincount(codes[place][chosen])
        if chosen.sum() < max(FEWEST_ROWS, ROWS_PER_VALUE * np.count_nonzero(counts)):
            return False
        chosen[chosen] = counts[codes[place][chosen]] > 1
        return _gain(codes[place][chosen], codes[other][chosen]) >= LEAST_GAIN

    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for origin in origins:
        for code, pair_type in enumerate(origin.pair_type.values):
            changed = [names.index(name) for name in changed_columns.get(pair_type, ())]
            of_type = np.flatnonzero(origin.pair_type.codes == code)
            for place in changed:
                before, after = factual.parts[place], origin.rows.parts
                is_changed = differing_rows(before[origin.place[of_type]], after[place][of_type])
                rows = of_type[is_changed]
                rows = rows[_spread(len(rows))]
                own_functions = tuple(
                    names[other]
                    for other in range(len(names))
                    if other not in changed
                    and any(
                        follows(second, first)
                        and _count_misfits(
                            (parts[first], parts[second]), (after[first][rows], after[second][rows])
                        )
                        > MOST_MISFITS * len(rows)
                        for first, second in ((place, other), (other, place))
                    )
                )
                if own_functions:
                    found.setdefault(pair_type, {})[names[place]] = own_functions
    return found


def _spread(count: int) -> slice:
    return slice(None, None, -(-count // MOST_ROWS) or 1)


def _gain(codes: NDArray[np.int64], values: NDArray[np.int64]) -> float:
    """Goodman and Kruskal's lambda of values, given codes; 0 if all values are equal."""
    most_frequent = np.bincount(values, minlength=1).max()
    if most_frequent == len(values):
        return 0.0
    right = np.count_nonzero(_most_frequent(codes, values)[codes] == values)
    return float((right - most_frequent) / (len(values) - most_frequent))


def _count_misfits(
    factual: tuple[NDArray[Any], NDArray[Any]], changed: tuple[NDArray[Any], NDArray[Any]]
) -> int:
    """Changed rows, (column, function), that break the relation of the factual rows.

    A value of the column that no factual row has breaks it, too.
    """
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
