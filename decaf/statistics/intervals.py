"""Percentile intervals of bootstrap replicates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from decaf.errors import ResponseError


class Interval(NamedTuple):
    """Estimate with its bootstrap standard error and percentile limits, in the unit of the values.

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
    """Replicates in which the statistic is defined."""


def percentile_interval(estimate: float, replicates: ArrayLike, cluster_count: int) -> Interval:
    """Summarise the (n_replicates,) values of a statistic that were bootstrapped.

    The estimate is the statistic of the data themselves; it and replicates are NaN where undefined,
    and such replicates are left out. ``cluster_count`` are clusters that hold a value; with fewer
    than two nothing but the estimate is defined. Raises ResponseError for replicates that are not
    one-dimensional.

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
    return Interval(
        float(estimate),
        float(error),
        *(float(limit) for limit in limits),
        cluster_count=cluster_count,
        replicate_count=drawn.size,
    )
