"""Pairs of units that react equally strongly but behave differently (paper, appendix F)."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.route import as_scores
from decaf.statistics.discrimination import as_labels

DEFAULT_TOLERANCE = 0.05
"""Relative difference in magnitude that a matched pair may have."""


def match_units(
    magnitude: ArrayLike,
    labels: ArrayLike,
    identities: Sequence[ArrayLike],
    tolerance: float = DEFAULT_TOLERANCE,
    groups: ArrayLike | None = None,
) -> NDArray[np.int64]:
    """Match units one to one by magnitude, each with one of another label pattern.

    Greedy: units with at least one label are sorted by magnitude, then identity; each in turn takes
    the nearest unused unit after it whose labels are not all the same, if the two differ by at most
    ``tolerance`` times the larger. Takes time proportional to the number of units times the number
    of different label patterns (and groups).

    Magnitudes are (n_units,) finite numbers from 0, labels (n_units, n_labels) 0 or 1. Identities
    are columns of shape (n_units,), such as ``(model_ids, pair_ids)``, that order units of equal
    magnitude, the first one first: they make the pairs independent of the order of the rows. The
    tolerance goes from 0, only equal magnitudes, to below 1. Groups are (n_units,) labels such as
    model families; members of a pair lie in different ones.

    Returns (n_pairs, 2) int64 rows of the units, the smaller magnitude first, in ascending order of
    it. Raises ResponseError for shapes that do not match, no unit, a negative or non-finite
    magnitude, labels that are not 0 or 1, or a bad tolerance.

    >>> labels = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> match_units([1.00, 1.01, 1.02, 1.08], labels, [["a", "b", "c", "d"]]).tolist()
    [[0, 2]]
    """
    is_real = isinstance(tolerance, int | float | np.integer | np.floating)
    if not is_real or isinstance(tolerance, bool) or not 0 <= tolerance < 1:
        raise ResponseError(f"tolerance is {tolerance!r}; expected a number from 0 to below 1")
    y = as_labels(labels, ndim=2)
    values = as_scores(magnitude, "magnitude")
    if values.min() < 0:
        raise ResponseError(f"magnitude goes down to {values.min()}; expected 0 or above")
    ties = [np.asarray(column) for column in identities]
    family = None if groups is None else np.asarray(groups)
    shapes = [column.shape for column in (values, *ties, family) if column is not None]
    if set(shapes) != {(len(y),)}:
        raise ResponseError(
            f"magnitude, identities and groups have shapes {', '.join(map(str, shapes))}; expected "
            f"({len(y)},) like the labels"
        )
    order = np.lexsort([*reversed(ties), values])
    order = order[y[order].any(axis=1)]
    kinds, partners = _kinds(y[order], None if family is None else family[order])
    return order[_scan(values[order].tolist(), kinds, partners, float(tolerance))]


def _kinds(
    labels: NDArray[np.bool_], groups: NDArray[Any] | None
) -> tuple[list[int], list[list[int]]]:
    """Kind of every unit, by labels and group, and the kinds which every kind may be matched to."""
    if not len(labels):
        return [], []
    sides = [np.unique(labels, axis=0, return_inverse=True)[1]]
    if groups is not None:
        sides.append(np.unique(groups, return_inverse=True)[1])
    kinds, kind_of = np.unique(np.stack(sides, axis=1), axis=0, return_inverse=True)
    differ = np.all(kinds[:, np.newaxis] != kinds, axis=2)
    return kind_of.tolist(), [np.flatnonzero(row).tolist() for row in differ]


def _scan(
    magnitude: list[float], kinds: list[int], partners: list[list[int]], tolerance: float
) -> NDArray[np.int64]:
    """Positions of the pairs; every queue holds the units of a kind that are still ahead."""
    end = len(magnitude)
    queues: list[deque[int]] = [deque() for _ in partners]
    for position, kind in enumerate(kinds):
        queues[kind].append(position)
    for queue in queues:
        queue.append(end)
    used: set[int] = set()
    pairs = []
    for position, kind in enumerate(kinds):
        if position in used:
            used.remove(position)
            continue
        queues[kind].popleft()
        nearest = min((queues[partner][0] for partner in partners[kind]), default=end)
        if nearest < end and _is_near(magnitude[position], magnitude[nearest], tolerance):
            used.add(queues[kinds[nearest]].popleft())
            pairs.append((position, nearest))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _is_near(smaller: float, larger: float, tolerance: float) -> bool:
    return larger == smaller or (larger - smaller) / larger <= tolerance
