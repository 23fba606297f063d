"""Percentile bootstrap of a mean, plain or by cluster: the reference of the SQL intervals."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError

DEFAULT_REPLICATES = 500
"""Replicates of every interval (paper, appendix D.8)."""

DEFAULT_SEED = 91702


class Interval(NamedTuple):
    """Mean with its bootstrap standard error and percentile limits, in the unit of the values.

    NaN stands for undefined: everything without a value, standard error and limits with fewer
    than two clusters.
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
    """Replicates that drew a value."""


def draw_clusters(
    cluster_count: int, replicates: int = DEFAULT_REPLICATES, seed: int = DEFAULT_SEED
) -> NDArray[np.int64]:
    """Draw clusters with replacement.

    Returns
    -------
    (replicates, cluster_count) int64, positions from 0
    """
    generator = np.random.default_rng(seed)
    return generator.integers(0, cluster_count, size=(replicates, cluster_count))


def bootstrap_mean(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: ArrayLike | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """Bootstrap the mean of ``values``, drawing whole clusters (paper, appendix D.8).

    A replicate is a ratio: the sum of the values of the drawn clusters over their number. Limits
    interpolate linearly between replicates.

    Parameters
    ----------
    values
        (n_values,) real numbers. NaN is a missing value: it counts in no mean, but its cluster
        keeps its place among the draws.
    clusters
        (n_values,) labels, or every value is its own cluster. Their order is that of ``np.unique``.
    draws
        (n_replicates, n_draws) positions of clusters; drawn from ``seed`` if they are not given.

    Raises
    ------
    ResponseError
        For shapes that do not match, no value at all, or draws of a cluster that is not there.

    Examples
    --------
    >>> bootstrap_mean([1.0, 3.0], draws=[[0, 0], [0, 1], [1, 1]]).standard_error
    1.0
    """
    x = np.asarray(values, dtype=np.float64)
    labels = np.arange(x.size) if clusters is None else np.asarray(clusters)
    if x.ndim != 1 or x.size == 0 or labels.shape != x.shape:
        raise ResponseError(
            f"values have shape {x.shape} and clusters {labels.shape}; expected one cluster for "
            "each of at least one value"
        )
    names, position = np.unique(labels, return_inverse=True)
    present = ~np.isnan(x)
    counts = np.bincount(position, weights=present, minlength=names.size)
    sums = np.bincount(position, weights=np.where(present, x, 0.0), minlength=names.size)

    drawn = draw_clusters(names.size, replicates, seed) if draws is None else np.asarray(draws)
    if drawn.ndim != 2 or drawn.size == 0 or drawn.min() < 0 or drawn.max() >= names.size:
        raise ResponseError(
            f"draws have shape {drawn.shape}; expected (n_replicates, n_draws) positions of the "
            f"{names.size} clusters, from 0"
        )
    return _summarise(sums, counts, drawn)


def _summarise(
    sums: NDArray[np.float64], counts: NDArray[np.float64], drawn: NDArray[np.int64]
) -> Interval:
    drawn_counts = counts[drawn].sum(axis=1)
    valid = drawn_counts > 0
    means = sums[drawn].sum(axis=1)[valid] / drawn_counts[valid]
    cluster_count = int((counts > 0).sum())
    error, limits = np.nan, np.full(4, np.nan)
    if cluster_count > 1 and means.size > 1:
        error = means.std(ddof=1)
        limits = np.quantile(means, [0.05, 0.95, 0.025, 0.975])
    return Interval(
        float(sums.sum() / counts.sum()) if counts.any() else np.nan,
        float(error),
        *(float(limit) for limit in limits),
        cluster_count=cluster_count,
        replicate_count=int(valid.sum()),
    )
