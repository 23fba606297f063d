"""Pairs of cases that respond equally strongly but behave differently (paper, appendix F)."""

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

DEFAULT_TOLERANCE = 0.05
"""Relative difference in magnitude that a matched pair may have."""


def match_cases(
    magnitude: ArrayLike,
    labels: ArrayLike,
    identities: Sequence[ArrayLike],
    tolerance: float = DEFAULT_TOLERANCE,
) -> NDArray[np.int64]:
    """Match cases one to one by magnitude, each with one of another label pattern.

    Greedy: cases with at least one label are sorted by magnitude, then identity. Each in turn takes
    the nearest unused case after it with a different label pattern, if their magnitudes differ by
    at most ``tolerance`` times the larger. Takes time proportional to the number of cases times the
    number of different label patterns.

    Magnitudes are (n_cases,) finite numbers from 0, labels (n_cases, n_labels) truth values.
    Identities are columns of shape (n_cases,), such as ``(model_ids, pair_ids)``, that order cases
    of equal magnitude, the first one first: they make the pairs independent of the order of the
    rows. The tolerance is from 0 (only equal magnitudes) to below 1.

    Returns (n_pairs, 2) int64 rows of the cases, the smaller magnitude first, sorted by that
    magnitude.

    >>> labels = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> match_cases([1.00, 1.01, 1.02, 1.08], labels, [["a", "b", "c", "d"]]).tolist()
    [[0, 2]]
    """
    values, is_labelled = np.asarray(magnitude, np.float64), np.asarray(labels, bool)
    order = np.lexsort([*map(np.asarray, reversed(identities)), values])
    order = order[is_labelled[order].any(axis=1)]
    patterns, pattern_of = np.unique(is_labelled[order], axis=0, return_inverse=True)
    pairs = _scan(values[order].tolist(), pattern_of.tolist(), len(patterns), tolerance)
    return order[pairs]


def _scan(
    magnitude: list[float], pattern_of: list[int], pattern_count: int, tolerance: float
) -> NDArray[np.int64]:
    """Positions of the pairs; every queue holds the cases of a pattern that are still ahead."""
    end = len(magnitude)
    queues: list[deque[int]] = [deque() for _ in range(pattern_count)]
    for position, pattern in enumerate(pattern_of):
        queues[pattern].append(position)
    for queue in queues:
        queue.append(end)
    used: set[int] = set()
    pairs = []
    for position, pattern in enumerate(pattern_of):
        if position in used:
            used.remove(position)
            continue
        queues[pattern].popleft()
        heads = (queue[0] for number, queue in enumerate(queues) if number != pattern)
        nearest = min(heads, default=end)
        if nearest < end and _is_near(magnitude[position], magnitude[nearest], tolerance):
            used.add(queues[pattern_of[nearest]].popleft())
            pairs.append((position, nearest))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _is_near(smaller: float, larger: float, tolerance: float) -> bool:
    return larger == smaller or (larger - smaller) / larger <= tolerance
