"""Pairs of units that react equally strongly but behave differently (paper, appendix F)."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.route import as_scores
from decaf.statistics.discrimination import as_labels, per_label_scores

DEFAULT_TOLERANCE = 0.05
"""Relative difference in magnitude that a matched pair may have."""


class MatchedAgreement(NamedTuple):
    """How well the role of a score agrees with the behaviours of matched pairs."""

    accuracy: float
    """Mean role credit of the two cases, over pairs, in [0, 1]."""
    ranking_accuracy: float
    """How often the member that carries a label scores higher on it, in [0, 1]; ties count half."""
    pair_count: int
    """Pairs in which both cases have scores."""
    ranking_count: int
    """Pairs and labels that differ within the pair, and have scores."""


def match_units(
    magnitude: ArrayLike,
    labels: ArrayLike,
    identities: Sequence[ArrayLike],
    tolerance: float = DEFAULT_TOLERANCE,
    groups: ArrayLike | None = None,
) -> NDArray[np.int64]:
    """Match units one to one by magnitude, each with one of another label pattern.

    Greedy: units with at least one label are sorted by magnitude, then identity; each in turn
    takes the nearest unused unit after it whose labels are not all the same, if the two differ
    by at most ``tolerance`` times the larger. Takes time proportional to the number of units
    times the number of different label patterns (and groups).

    Parameters
    ----------
    magnitude
        (n_units,) finite numbers, 0 or above.
    labels
        (n_units, n_labels) 0 or 1.
    identities
        Columns of shape (n_units,) that order units of equal magnitude, the first one first, such
        as ``(model_ids, pair_ids)``. They make the pairs independent of the order of the rows.
    tolerance
        From 0, only equal magnitudes, to below 1.
    groups
        (n_units,) labels such as model families; members of a pair lie in different ones.

    Returns
    -------
    (n_pairs, 2) int64
        Rows of the units, the smaller magnitude first; in ascending order of it.

    Raises
    ------
    ResponseError
        For shapes that do not match, no unit, a negative or non-finite magnitude, labels that are
        not 0 or 1, or a bad tolerance.

    Examples
    --------
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


def role_credit(scores: ArrayLike, labels: ArrayLike) -> NDArray[np.float64]:
    """Share of the largest coordinates of a unit that name a behaviour which the unit shows.

    One coordinate is largest: 1 if its label is active, otherwise 0. Several tie: the credit is
    divided among them. A score that is one number ties on all coordinates and so earns the number
    of active labels over the number of labels.

    Parameters
    ----------
    scores
        (n_units, n_labels) real numbers, or (n_units,) where one score stands for all labels.
    labels
        (n_units, n_labels) 0 or 1.

    Returns
    -------
    (n_units,) float64
        In [0, 1]; NaN where a score is missing.

    Raises
    ------
    ResponseError
        For labels that are not 0 or 1, no unit, or shapes that do not match.

    Examples
    --------
    >>> role_credit([[0.3, 0.1], [0.2, 0.2], [0.1, 0.2]], [[1, 0], [1, 0], [1, 0]]).tolist()
    [1.0, 0.5, 0.0]
    """
    y = as_labels(labels, ndim=2)
    s = per_label_scores(scores, y)
    is_largest = s == s.max(axis=1, keepdims=True)
    credit = (is_largest & y).sum(axis=1) / np.maximum(is_largest.sum(axis=1), 1)
    return np.where(np.isnan(s).any(axis=1), np.nan, credit)


def matched_agreement(scores: ArrayLike, labels: ArrayLike, pairs: ArrayLike) -> MatchedAgreement:
    """Judge the roles of scores on matched pairs.

    Parameters
    ----------
    scores, labels
        As for :func:`role_credit`.
    pairs
        (n_pairs, 2) rows of units, from :func:`match_units`.

    Returns
    -------
    MatchedAgreement
        NaN without a pair; a pair with a missing score is left out.

    Raises
    ------
    ResponseError
        As for :func:`role_credit`, and for pairs of units that are not there.

    Examples
    --------
    >>> found = matched_agreement([[0.3, 0.1], [0.2, 0.2]], [[1, 0], [0, 1]], [[0, 1]])
    >>> found.accuracy, found.ranking_accuracy
    (0.75, 1.0)
    """
    y = as_labels(labels, ndim=2)
    s = per_label_scores(scores, y)
    rows = np.asarray(pairs)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise ResponseError(f"pairs have shape {rows.shape}; expected (n_pairs, 2) rows of units")
    if rows.size and (rows.min() < 0 or rows.max() >= len(y)):
        raise ResponseError(
            f"pairs name rows {rows.min()} to {rows.max()}; expected rows of the {len(y)} units"
        )
    credit = role_credit(s, y)[rows].mean(axis=1)
    # Every pair and label, seen from the first of the two members.
    carried, facing = y[rows[:, 0]], y[rows[:, 1]]
    one, other = s[rows[:, 0]], s[rows[:, 1]]
    ahead = 0.5 + 0.5 * (one > other) - 0.5 * (one < other)
    wins = np.where(carried, ahead, 1 - ahead)
    wins = wins[(carried != facing) & ~np.isnan(one) & ~np.isnan(other)]
    credit = credit[~np.isnan(credit)]
    return MatchedAgreement(_mean(credit), _mean(wins), credit.size, wins.size)


def _kinds(labels: NDArray[np.bool_], groups: NDArray | None) -> tuple[list[int], list[list[int]]]:
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
    queues = [deque() for _ in partners]
    for position, kind in enumerate(kinds):
        queues[kind].append(position)
    for queue in queues:
        queue.append(end)
    used, pairs = set(), []
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


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else np.nan
