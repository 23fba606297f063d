"""Percentile intervals of bootstrap replicates, and the mean over draws of clusters."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError, number_of
from decaf.foundation.arrays import refuse_masked, to_numpy
from decaf.statistics.draws import (
    DEFAULT_REPLICATES,
    DEFAULT_SEED,
    as_draws,
    draw_clusters,
    multiplicities,
)

MISSING_TYPES = ("NAType", "NaTType")
"""Types of pandas for missing values, which do not compare."""
FEWEST_CLUSTERS = 5
"""Fewest clusters for an interval that a decision may use."""
CELLS_AT_ONCE = 1 << 22
"""Largest number of replicates times rows that are weighted together: bounds the memory."""


class Interval(NamedTuple):
    """Estimate with its bootstrap standard error and percentile limits, in the unit of the values.

    NaN is undefined: all numbers without a value; error and limits with fewer than two clusters.
    """

    estimate: float
    standard_error: float
    lower_90: float
    upper_90: float
    lower_95: float
    upper_95: float
    cluster_count: int
    """Clusters that hold a value."""
    replicate_count: int
    """Replicates in which the statistic is defined."""


def bootstrap_mean(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: ArrayLike | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
    weights: ArrayLike | None = None,
) -> Interval:
    """Bootstrap the mean of ``values``, drawing whole clusters (paper, appendix D.8).

    A replicate is a ratio: the weighted sum of the drawn values over the sum of their weights.
    Limits interpolate linearly between replicates.

    Parameters
    ----------
    values
        (n_values,) real numbers. NaN is a missing value: it counts in no mean, but its cluster
        keeps its place among the draws.
    clusters
        (n_values,) numbers or texts, none missing; by default a cluster per value. Their order is
        that of ``np.unique``.
    draws
        (n_replicates, n_draws) positions of clusters, from :mod:`decaf.statistics.draws`;
        drawn from ``seed`` if they are not given.
    weights
        (n_values,) how much each value counts, finite and above 0; all count alike by default.

    Raises
    ------
    ResponseError
        For shapes that do not match, no value at all, values that are infinite or no numbers,
        masked entries, impossible clusters or weights, or draws of a cluster that is not there.

    Examples
    --------
    >>> bootstrap_mean([1.0, 3.0], draws=[[0, 0], [0, 1], [1, 1]]).standard_error
    1.0
    """
    (interval,) = bootstrap_means([values], clusters, draws, replicates, seed, weights)
    return interval


def bootstrap_means(
    columns: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    draws: ArrayLike | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
    weights: ArrayLike | None = None,
) -> list[Interval]:
    """Bootstrap the mean of each of several columns of values with the same draws.

    Each column is (n_values,), as the values of :func:`bootstrap_mean`; parameters and errors are
    those of :func:`bootstrap_mean`.
    """
    labels = None if clusters is None else checked_clusters(clusters)
    sums_and_counts = []
    for values in columns:
        column, position = _column(values, labels)
        present = ~np.isnan(column)
        counted = present * checked_weights(weights, column.size)
        sums = np.bincount(position, weights=np.where(present, column, 0.0) * counted)
        counts = np.bincount(position, weights=counted)
        sums_and_counts.append(np.stack([sums, counts], axis=1, dtype=np.float64))
    cluster_count = len(sums_and_counts[0])
    if draws is None:
        drawn = draw_clusters(cluster_count, replicates, seed)
    else:
        drawn = as_draws(draws, cluster_count)
    totals = _replicate_totals(sums_and_counts, drawn)
    return [
        percentile_interval(
            float(_quotient(*of_clusters.sum(axis=0))),
            _quotient(*of_replicates.T),
            int((of_clusters[:, 1] > 0).sum()),
        )
        for of_clusters, of_replicates in zip(sums_and_counts, totals, strict=True)
    ]


def checked_weights(weights: ArrayLike | None, count: int) -> NDArray[np.float64]:
    """(n,) weights, each 1 by default.

    Raises ResponseError when they are of another number, masked, or not finite numbers above 0.
    """
    checked = np.ones(count) if weights is None else _as_floats(weights, "weights")
    if checked.shape != (count,) or not (np.isfinite(checked) & (checked > 0)).all():
        raise ResponseError(
            f"weights have shape {checked.shape}, the smallest is {checked.min(initial=np.inf)}; "
            f"expected ({count},) finite numbers above 0: leave out what is not to count"
        )
    return checked


def checked_clusters(clusters: ArrayLike) -> NDArray[Any]:
    """Labels of clusters as an array of their shape: numbers or texts.

    Raises ResponseError for missing labels, which would make one cluster of unrelated values, for
    texts among numbers, and for masked entries.
    """
    refuse_masked(clusters, "clusters", ResponseError)
    labels = to_numpy(clusters)
    kind = labels.dtype.kind
    if kind in "biu" or (kind == "f" and not np.isnan(labels).any()):
        return labels
    label_list = clusters if isinstance(clusters, list | tuple) else labels.ravel().tolist()
    if set(map(type, label_list)) <= {str, np.str_}:
        return labels
    if missing_count := sum(map(_is_missing, label_list)):
        raise ResponseError(
            f"clusters has {number_of(missing_count, 'missing label')}; expected a label for each "
            "value: drop such values, or give each a label"
        )
    if len({isinstance(label, str) for label in label_list}) > 1:
        raise ResponseError(
            "clusters has texts and other labels; expected labels of one type, such as "
            "[str(label) for label in clusters]"
        )
    return labels


def _is_missing(label: Any) -> bool:
    """True for None, NaN, and missing values of pandas."""
    return label is None or type(label).__name__ in MISSING_TYPES or bool(label != label)


def _as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Numbers and truth values as float64."""
    refuse_masked(values, name, ResponseError)
    array = to_numpy(values)
    if array.dtype.kind not in "biuf":
        raise ResponseError(f"{name} has values of type {array.dtype}; expected real numbers")
    return array.astype(np.float64)


def percentile_interval(estimate: float, replicates: ArrayLike, cluster_count: int) -> Interval:
    """Summarise the (n_replicates,) values of a statistic that were bootstrapped.

    The estimate is the statistic of the data themselves; it and replicates are NaN where undefined,
    and such replicates are left out. ``cluster_count`` is the number of clusters that hold a
    value; with fewer than two, only the estimate is defined. Raises ResponseError for replicates
    that are not one-dimensional.

    >>> percentile_interval(2.0, [1.0, 2.0, 3.0], cluster_count=5).lower_90
    1.1
    """
    drawn = np.asarray(replicates, dtype=np.float64)
    if drawn.ndim != 1:
        raise ResponseError(f"replicates have shape {drawn.shape}; expected (n_replicates,)")
    drawn = drawn[~np.isnan(drawn)]
    error, limits = np.nan, np.full(4, np.nan)
    if cluster_count > 1 and drawn.size > 1:
        error = drawn.std(ddof=1)
        limits = np.quantile(drawn, [0.05, 0.95, 0.025, 0.975])
    numbers = (float(estimate), float(error), *map(float, limits))
    return Interval._make([*numbers, cluster_count, drawn.size])


def _column(
    values: ArrayLike, clusters: NDArray[Any] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Values, and the position of every value's cluster."""
    column = _as_floats(values, "values")
    labels = np.arange(column.size) if clusters is None else clusters
    if column.ndim != 1 or column.size == 0 or labels.shape != column.shape:
        raise ResponseError(
            f"values have shape {column.shape} and clusters {labels.shape}; expected one cluster "
            "for each of at least one value"
        )
    infinite = np.flatnonzero(np.isinf(column))
    if infinite.size:
        raise ResponseError(
            f"{infinite.size} of {column.size} values are infinite, the first at {infinite[0]}; "
            "expected real numbers, or NaN for a missing one"
        )
    return column, np.unique(labels, return_inverse=True)[1]


def _replicate_totals(
    sums_and_counts: Sequence[NDArray[np.float64]], draws: NDArray[np.int64]
) -> list[NDArray[np.float64]]:
    """(n_replicates, 2) sums over the drawn clusters, for each of several (n_clusters, 2) columns.

    Some replicates are counted at a time, once for all columns, which bounds the memory.
    """
    cluster_count = len(sums_and_counts[0])
    step = max(1, CELLS_AT_ONCE // max(draws.shape[1], cluster_count))
    parts: list[list[NDArray[np.float64]]] = [[] for _ in sums_and_counts]
    for start in range(0, len(draws), step):
        drawn = multiplicities(draws[start : start + step], cluster_count)
        for part, of_clusters in zip(parts, sums_and_counts, strict=True):
            part.append(drawn @ of_clusters)
    return [np.concatenate(part) for part in parts]


def _quotient(above: ArrayLike, below: ArrayLike) -> NDArray[np.float64]:
    above, below = np.asarray(above), np.asarray(below)
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
