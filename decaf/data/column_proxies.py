"""Proxies of a changed column of a table, such as the region of a postcode."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.change_remarks import differing_rows
from decaf.data.frames import FrameSchema

FEWEST_ROWS = 20
"""Fewest rows that suggest a relation."""
MOST_ROWS = 50_000
"""Rows of the table, and of a pair type, that are looked at, evenly spread."""
ROWS_PER_VALUE = 2
"""Smallest mean number of rows per value of a column from which another follows."""
LEAST_GAIN = 0.9
"""Smallest lambda of Goodman and Kruskal with which a column follows from another."""
MOST_MISFITS = 0.1
"""A change keeps a relation if at most this share of its rows break it."""


class ChangedRows(NamedTuple):
    """Counterfactual rows of a pair type."""

    pair_type: str
    parts: Sequence[NDArray[Any]]
    """Packed rows of this change and of others; factual rows if it removes a column."""
    number: NDArray[np.int64]
    """(m,) positions of the rows in ``parts``."""
    factual_number: NDArray[np.int64]
    """(m,) positions of their factual rows."""
    is_removal: bool = False
    """True if the pair type removes a column."""


def list_proxies(
    columns: FrameSchema,
    factual: Sequence[NDArray[Any]],
    changes: Iterable[ChangedRows],
    changed_columns: Mapping[str, Sequence[str]],
) -> dict[str, dict[str, tuple[str, ...]]]:
    """List the unchanged columns that follow from a changed column, or from which it follows.

    The result is by pair type and changed column, in the order of the table. Predict column A by
    its most frequent value for each value of B: A follows from B if this corrects at least
    ``LEAST_GAIN`` of the errors of predicting A's overall most frequent value (Goodman and
    Kruskal's lambda). Rows whose value of B is missing or occurs once do not count. Relations that
    the changed rows keep are left out, such as that of town and country if towns are permuted
    within each country; a removal keeps none. ``factual`` are packed rows
    (:meth:`FrameSchema.pack`), and ``changed_columns`` names by pair type.
    """
    names = [column.name for column in columns.columns]
    parts = [part[_spread(len(part))] for part in factual]
    codes = [_number_values(part) for part in parts]

    @cache
    def follows(target: int, column: int) -> bool:
        has_presence = columns.columns[column].has_presence
        chosen = parts[column][:, 1] > 0 if has_presence else np.full(len(codes[column]), True)
        counts = np.bincount(codes[column][chosen])
        if chosen.sum() < max(FEWEST_ROWS, ROWS_PER_VALUE * np.count_nonzero(counts)):
            return False
        chosen[chosen] = counts[codes[column][chosen]] > 1
        return _lambda_of(codes[column][chosen], codes[target][chosen]) >= LEAST_GAIN

    def is_broken(first: int, second: int, change: ChangedRows, rows: NDArray[np.int64]) -> bool:
        if change.is_removal or not follows(second, first):
            return follows(second, first)
        changed = change.parts[first][rows], change.parts[second][rows]
        misfit_count = _count_misfits((parts[first], parts[second]), changed)
        return misfit_count > MOST_MISFITS * len(rows)

    proxies: dict[str, dict[str, tuple[str, ...]]] = {}
    for change in changes:
        changed = [names.index(name) for name in changed_columns.get(change.pair_type, ())]
        unchanged = [column for column in range(len(names)) if column not in changed]
        for column in changed:
            before = factual[column][change.factual_number]
            rows = change.number[differing_rows(before, change.parts[column][change.number])]
            rows = rows[_spread(len(rows))]
            earlier = proxies.get(change.pair_type, {}).get(names[column], ())
            own_proxies = tuple(
                names[candidate]
                for candidate in unchanged
                if names[candidate] in earlier
                or is_broken(column, candidate, change, rows)
                or is_broken(candidate, column, change, rows)
            )
            if own_proxies:
                proxies.setdefault(change.pair_type, {})[names[column]] = own_proxies
    return proxies


def _spread(count: int) -> slice:
    return slice(None, None, -(-count // MOST_ROWS) or 1)


def _lambda_of(codes: NDArray[np.int64], values: NDArray[np.int64]) -> float:
    """Goodman and Kruskal's lambda of values, given codes; 0 if all values are equal."""
    most_frequent = np.bincount(values, minlength=1).max()
    if most_frequent == len(values):
        return 0.0
    right = np.count_nonzero(_most_frequent(codes, values)[codes] == values)
    return float((right - most_frequent) / (len(values) - most_frequent))


def _count_misfits(
    factual: tuple[NDArray[Any], NDArray[Any]], changed: tuple[NDArray[Any], NDArray[Any]]
) -> int:
    """Number of changed rows whose second column is not what follows from the first.

    Both arguments are two parts. A value of the first that no factual row has follows from nothing.
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
