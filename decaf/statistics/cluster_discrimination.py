"""AUROC and AUPRC in every replicate of a bootstrap that draws whole clusters, such as models.

A replicate says how often each cluster was drawn, so it needs only counts of units by level of the
score and cluster: matrix products serve all replicates at once. A level is a score that a positive
unit has; a negative unit between two levels belongs to the lower one.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError

CELLS_AT_ONCE = 1 << 18
"""Levels of the score times clusters and replicates held at once: bounds the memory, and keeps each
of the arrays in a core's cache, which more than halves the time of large groups."""


class _Units(NamedTuple):
    """Units with label and score, from the highest score down, and the draws they are judged in."""

    level: NDArray[np.int64]
    """Level of each unit; the number of levels for a unit below all levels."""
    level_count: int
    is_positive: NDArray[np.bool_]
    is_tied: NDArray[np.bool_]
    """Negative units that have the score of a level themselves."""
    cluster: NDArray[np.integer]
    weights: NDArray[np.float64]
    """(n_clusters, n_replicates) how often each cluster was drawn."""

    def totals(self, of: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(n_clusters,) how many of these units each cluster has."""
        return np.bincount(self.cluster[of], minlength=len(self.weights))


def auroc_of_clusters(
    labels: ArrayLike, scores: ArrayLike, clusters: ArrayLike, counts: ArrayLike
) -> NDArray[np.float64]:
    """(n_replicates,) area under the ROC curve in every replicate, in [0, 1]; ties count half.

    Labels are (n_units,) 0 or 1, or NaN where unknown, scores (n_units,) real numbers, or NaN where
    missing: a unit without either is left out. Clusters are the (n_units,) positions of theirs,
    from 0, counts (n_replicates, n_clusters) how often each was drawn. NaN with fewer than two
    classes. Raises ResponseError for labels that are not 0 or 1.

    >>> auroc_of_clusters([0, 1, 1], [1, 2, 1], [0, 0, 1], [[1, 1], [2, 0]]).tolist()
    [0.75, 1.0]
    """
    units = _sorted_units(labels, scores, clusters, counts)
    width, replicates = units.weights.shape
    positives, negatives = units.totals(units.is_positive), units.totals(~units.is_positive)
    wins = np.zeros(replicates)
    # Wins of a positive's cluster over a negative's, in half units; both draws multiply them.
    between = np.zeros((width, width))
    negatives_below = negatives.astype(np.float64)
    for here, called, tied in _by_level(units):
        below = negatives_below - np.cumsum(called, axis=0) + tied / 2
        negatives_below -= called.sum(axis=0)
        if width < replicates:
            between += here.T @ below
        else:
            wins += np.einsum("lr,lr->r", here @ units.weights, below @ units.weights)
    wins += np.einsum("cr,cr->r", units.weights, between @ units.weights)
    pairs = (positives @ units.weights) * (negatives @ units.weights)
    return np.divide(wins, pairs, out=np.full(replicates, np.nan), where=pairs > 0)


def auprc_of_clusters(
    labels: ArrayLike, scores: ArrayLike, clusters: ArrayLike, counts: ArrayLike
) -> NDArray[np.float64]:
    """Average precision in every replicate; a score that several units share is one step.

    Parameters, result and errors are those of :func:`auroc_of_clusters`.

    >>> auprc_of_clusters([0, 1, 1], [1, 2, 1], [0, 0, 1], [[1, 1], [2, 0]]).round(3).tolist()
    [0.833, 1.0]
    """
    units = _sorted_units(labels, scores, clusters, counts)
    width, replicates = units.weights.shape
    positive, negative = (
        units.totals(kind) @ units.weights for kind in (units.is_positive, ~units.is_positive)
    )
    gains, hits, false_alarms = np.zeros(replicates), np.zeros(width), np.zeros(width)
    for here, called, _ in _by_level(units):
        hits_here = here @ units.weights
        above = np.cumsum(here, axis=0) + hits
        precision = above @ units.weights
        above += np.cumsum(called, axis=0) + false_alarms
        all_called = above @ units.weights
        hits, false_alarms = hits + here.sum(axis=0), false_alarms + called.sum(axis=0)
        np.divide(precision, all_called, out=precision, where=all_called > 0)
        gains += np.einsum("lr,lr->r", hits_here, precision)
    has_both = (positive > 0) & (negative > 0)
    return np.divide(gains, positive, out=np.full(replicates, np.nan), where=has_both)


def _sorted_units(
    labels: ArrayLike, scores: ArrayLike, clusters: ArrayLike, counts: ArrayLike
) -> _Units:
    y, s = (np.asarray(side, dtype=np.float64) for side in (labels, scores))
    cluster, drawn = np.asarray(clusters), np.asarray(counts, dtype=np.float64)
    cluster = cluster if cluster.size else cluster.astype(np.int64)
    if not ((y == 0) | (y == 1) | np.isnan(y)).all():
        raise ResponseError("labels hold other values than 0, 1 and NaN")
    labelled = np.flatnonzero(~(np.isnan(y) | np.isnan(s)))
    order = labelled[np.argsort(-s[labelled])]
    is_positive, values = y[order] == 1, s[order]
    score = np.zeros(values.size, dtype=np.int64)
    np.cumsum(values[1:] != values[:-1], out=score[1:])
    has_positive = np.bincount(score[is_positive], minlength=values.size) > 0
    levels = np.cumsum(has_positive)
    level: NDArray[np.int64] = (levels - has_positive)[score]
    level_count = int(has_positive.sum())
    is_tied = ~is_positive & has_positive[score]
    return _Units(level, level_count, is_positive, is_tied, cluster[order], drawn.T)


def _by_level(units: _Units) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Numbers of units by level and cluster, some levels at a time from the highest down.

    Positive units; negative units that are called with the level; those of them that tie with it.
    """
    width, replicates = units.weights.shape
    step = max(1, CELLS_AT_ONCE // (width + replicates))
    for first in range(0, units.level_count, step):
        rows = min(step, units.level_count - first)
        inside = slice(*np.searchsorted(units.level, [first, first + rows]))
        is_positive = units.is_positive[inside]
        cells = (units.level[inside] - first) * width + units.cluster[inside]
        yield tuple(
            np.bincount(cells[kind], minlength=rows * width).reshape(rows, width)
            for kind in (is_positive, ~is_positive, units.is_tied[inside])
        )
