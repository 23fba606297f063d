"""AUROC and AUPRC in every replicate of a bootstrap that draws whole clusters, such as models.

A replicate is the number of draws of each cluster. The module counts units once, by score level and
cluster; matrix products of these counts and the draws give all replicates together. A level is a
score that a positive unit has; a negative unit between two levels belongs to the lower level.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError

CELLS_AT_ONCE = 1 << 18
"""Largest number of levels times (clusters plus replicates) at once. It bounds the memory and keeps
each array in the cache of a core, which more than halves the time of large groups."""


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

    def totals(self, is_counted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(n_clusters,) number of counted units of each cluster."""
        return np.bincount(self.cluster[is_counted], minlength=len(self.weights))


def auroc_of_clusters(
    labels: ArrayLike, scores: ArrayLike, clusters: ArrayLike, counts: ArrayLike
) -> NDArray[np.float64]:
    """(n_replicates,) area under the ROC curve in every replicate, in [0, 1]; ties count half.

    NaN where fewer than two classes were drawn. Raises ResponseError for labels that are not 0, 1
    or NaN.

    Parameters
    ----------
    labels
        (n_units,) 0 or 1; NaN where unknown: such a unit is left out.
    scores
        (n_units,) real numbers; NaN where missing: such a unit is left out.
    clusters
        (n_units,) position of the cluster of each unit, from 0.
    counts
        (n_replicates, n_clusters) number of draws of each cluster.

    Examples
    --------
    >>> auroc_of_clusters([0, 1, 1], [1, 2, 1], [0, 0, 1], [[1, 1], [2, 0]]).tolist()
    [0.75, 1.0]
    """
    units = _sorted_units(labels, scores, clusters, counts)
    width, replicates = units.weights.shape
    positives, negatives = units.totals(units.is_positive), units.totals(~units.is_positive)
    wins = np.zeros(replicates)
    # Pairs that the positive unit wins, by its cluster and that of the negative unit; a tie is half
    # a win. A replicate multiplies them by the draws of both clusters.
    between = np.zeros((width, width))
    negatives_below = negatives.astype(np.float64)
    for level_positives, level_negatives, tied in _by_level(units):
        below = negatives_below - np.cumsum(level_negatives, axis=0) + tied / 2
        negatives_below -= level_negatives.sum(axis=0)
        if width < replicates:
            between += level_positives.T @ below
        else:
            wins += np.einsum("lr,lr->r", level_positives @ units.weights, below @ units.weights)
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
    for level_positives, level_negatives, _ in _by_level(units):
        level_hits = level_positives @ units.weights
        above = np.cumsum(level_positives, axis=0) + hits
        precision = above @ units.weights
        above += np.cumsum(level_negatives, axis=0) + false_alarms
        all_above = above @ units.weights
        hits, false_alarms = (
            hits + level_positives.sum(axis=0),
            false_alarms + level_negatives.sum(axis=0),
        )
        np.divide(precision, all_above, out=precision, where=all_above > 0)
        gains += np.einsum("lr,lr->r", level_hits, precision)
    has_both = (positive > 0) & (negative > 0)
    return np.divide(gains, positive, out=np.full(replicates, np.nan), where=has_both)


def _sorted_units(
    labels: ArrayLike, scores: ArrayLike, clusters: ArrayLike, counts: ArrayLike
) -> _Units:
    y, s = (np.asarray(side, dtype=np.float64) for side in (labels, scores))
    cluster, drawn = np.asarray(clusters), np.asarray(counts, dtype=np.float64)
    cluster = cluster if cluster.size else cluster.astype(np.int64)
    if (is_wrong := ~((y == 0) | (y == 1) | np.isnan(y))).any():
        raise ResponseError(f"labels have the value {y[is_wrong][0]:g}; expected 0, 1 or NaN")
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
    """Count units by level and cluster, a range of levels at a time, from the highest level down.

    Yields three (n_levels, n_clusters) arrays: positive units, negative units of the level, and
    negative units whose score equals that of the level.
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
