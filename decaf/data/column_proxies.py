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
"""Largest share of changed rows that may break a relation that counts as kept."""


class ChangedRows(NamedTuple):
    """Counterfactual rows of a pair type."""

    pair_type: str
    parts: Sequence[NDArray[Any]]
    """Packed rows, among others."""
    number: NDArray[np.int64]
    """(m,) positions of the rows in ``parts``."""
    place: NDArray[np.int64]
    """(m,) positions of their factual rows."""


def list_proxies(
    columns: FrameSchema,
    factual: Sequence[NDArray[Any]],
    changes: Iterable[ChangedRows],
    changed_columns: Mapping[str, Sequence[str]],
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Unchanged columns of which one follows from a changed one, or the other way round.

    By pair type and changed column, in the order of the table. A column follows from another if the
    most frequent value for each value of the other is right in so many rows that Goodman and
    Kruskal's lambda is at least ``LEAST_GAIN``: the share of the rows without the most frequent
    value of all that become right. Rows whose value of the other column is missing or occurs once
    do not count. Relations that the changed rows keep are left out, such as that of town and
    country if towns are permuted within each country. ``factual`` are packed rows
    (:meth:`FrameSchema.pack`), and ``changed_columns`` names by pair type.
    """
    names = [column.name for column in columns.columns]
    parts = [part[_spread(len(part))] for part in factual]
    codes = [_number_values(part) for part in parts]

    @cache
    def follows(target: int, place: int) -> bool:
        has_presence = columns.columns[place].has_presence
        chosen = parts[place][:, 1] > 0 if has_presence else np.full(len(codes[place]), True)
        counts = np.bincount(codes[place][chosen])
        if chosen.sum() < max(FEWEST_ROWS, ROWS_PER_VALUE * np.count_nonzero(counts)):
            return False
        chosen[chosen] = counts[codes[place][chosen]] > 1
        return _gain(codes[place][chosen], codes[target][chosen]) >= LEAST_GAIN

    def is_broken(
        first: int, second: int, changed: Sequence[NDArray[Any]], rows: NDArray[np.int64]
    ) -> bool:
        return follows(second, first) and _count_misfits(
            (parts[first], parts[second]), (changed[first][rows], changed[second][rows])
        ) > MOST_MISFITS * len(rows)

    proxies: dict[str, dict[str, tuple[str, ...]]] = {}
    for change in changes:
        changed = [names.index(name) for name in changed_columns.get(change.pair_type, ())]
        unchanged = [place for place in range(len(names)) if place not in changed]
        for place in changed:
            before, after = factual[place][change.place], change.parts[place][change.number]
            rows = change.number[differing_rows(before, after)]
            rows = rows[_spread(len(rows))]
            own_proxies = tuple(
                names[candidate]
                for candidate in unchanged
                if is_broken(place, candidate, change.parts, rows)
                or is_broken(candidate, place, change.parts, rows)
            )
            if own_proxies:
                proxies.setdefault(change.pair_type, {})[names[place]] = own_proxies
    return proxies


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
