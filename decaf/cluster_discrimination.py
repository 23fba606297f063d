"""AUROC and AUPRC in every replicate of a bootstrap that draws whole clusters, such as models.

A replicate says how often each cluster was drawn, so what it needs of the units are counts by
level of the score and cluster: one matrix product serves all replicates.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError

CELLS_AT_ONCE = 1 << 18
"""Levels of the score times clusters and replicates held at once: bounds the memory, and keeps each
of the arrays in a core's cache, which more than halves the time of large groups."""


class ReplicateDiscrimination(NamedTuple):
    """Both measures of one label, (n_replicates,), in [0, 1]; NaN with fewer than two classes."""

    auroc: NDArray[np.float64]
    auprc: NDArray[np.float64]


def discrimination_of_clusters(
    labels: ArrayLike, scores: ArrayLike, clusters: ArrayLike, counts: ArrayLike
) -> ReplicateDiscrimination:
    """Judge a score in every replicate; ties count half in AUROC and are one step of AUPRC.

    Parameters
    ----------
    labels
        (n_units,) 0 or 1; NaN is unknown.
    scores
        (n_units,) real numbers; NaN is missing. A unit without label or score is left out.
    clusters
        (n_units,) cluster of every unit, a position from 0.
    counts
        (n_replicates, n_clusters) how often each cluster was drawn.

    Raises
    ------
    ResponseError
        For labels that are not 0 or 1, shapes that do not match, or a cluster without a count.

    Examples
    --------
    >>> found = discrimination_of_clusters([0, 1, 1], [1, 2, 1], [0, 0, 1], [[1, 1], [2, 0]])
    >>> found.auroc.tolist(), found.auprc.round(3).tolist()
    ([0.75, 1.0], [0.833, 1.0])
    """
    y, s = (np.asarray(side, dtype=np.float64) for side in (labels, scores))
    cluster, drawn = np.asarray(clusters), np.asarray(counts, dtype=np.float64)
    cluster = cluster if cluster.size else cluster.astype(np.int64)
    if not y.shape == s.shape == cluster.shape or y.ndim != 1 or drawn.ndim != 2:
        raise ResponseError(
            f"labels, scores and clusters have shapes {y.shape}, {s.shape} and {cluster.shape}, "
            f"counts {drawn.shape}; expected (n_units,) three times, and (n_replicates, n_clusters)"
        )
    if not np.isin(y[~np.isnan(y)], (0, 1)).all():
        raise ResponseError("labels hold other values than 0, 1 and NaN")
    if y.size and not 0 <= cluster.min() <= cluster.max() < drawn.shape[1]:
        raise ResponseError(
            f"clusters are {cluster.min()} to {cluster.max()}; expected positions from 0 among the "
            f"{drawn.shape[1]} clusters of the counts"
        )
    known = ~(np.isnan(y) | np.isnan(s))
    is_positive, cluster = y[known] == 1, cluster[known]
    values, level = np.unique(s[known], return_inverse=True)
    level = values.size - 1 - level
    order = np.argsort(level, kind="stable")
    return _judge(level[order], is_positive[order], cluster[order], drawn)


def _judge(
    level: NDArray[np.int64],
    is_positive: NDArray[np.bool_],
    cluster: NDArray[np.int64],
    drawn: NDArray[np.float64],
) -> ReplicateDiscrimination:
    """Judge units sorted by level; level 0 has the highest score."""
    replicates, width = drawn.shape
    weights = drawn.T
    totals = [np.bincount(cluster[kind], minlength=width) for kind in (is_positive, ~is_positive)]
    positive, negative = (total @ weights for total in totals)
    wins, gains, hits_before = np.zeros(replicates), np.zeros(replicates), np.zeros(replicates)
    above = [np.zeros(width), np.zeros(width)]
    step = max(1, CELLS_AT_ONCE // (width + replicates))
    for first in range(0, int(level[-1]) + 1 if level.size else 0, step):
        units = slice(*np.searchsorted(level, [first, first + step]))
        rows = int(level[units][-1]) - first + 1
        cells = (level[units] - first) * width + cluster[units]
        of_class = [
            np.bincount(cells[kind], minlength=rows * width).reshape(rows, width)
            for kind in (is_positive[units], ~is_positive[units])
        ]
        running = [
            start + np.cumsum(part, axis=0) for start, part in zip(above, of_class, strict=True)
        ]
        above = [part[-1] for part in running]
        # Levels without a positive unit add nothing to either measure.
        gain = of_class[0].any(axis=1)
        if not gain.any():
            continue
        hits, false_alarms = (part[gain] @ weights for part in running)
        here = np.diff(hits, axis=0, prepend=hits_before[np.newaxis])
        hits_before = hits[-1].copy()  # the division below writes over it
        below = negative - false_alarms
        tied = of_class[1][gain]
        if tied.any():
            below += tied @ (weights / 2)
        wins += np.einsum("ij,ij->j", here, below)
        called = np.add(hits, false_alarms, out=false_alarms)
        precision = np.divide(hits, called, out=hits, where=called > 0)
        gains += np.einsum("ij,ij->j", here, precision)
    has_both = (positive > 0) & (negative > 0)
    auroc, auprc = (
        np.divide(above_, below, out=np.full(replicates, np.nan), where=has_both)
        for above_, below in ((wins, positive * negative), (gains, positive))
    )
    return ReplicateDiscrimination(auroc, auprc)
