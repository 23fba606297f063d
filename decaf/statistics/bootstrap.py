"""Percentile bootstrap over draws of clusters: the reference of the SQL intervals.

:mod:`decaf.statistics.draws` says which clusters a replicate holds: plain, within strata, nested or
named. Here a statistic is computed from every replicate. Every statistic takes every kind of draws,
and quantities that are given the same draws are compared replicate by replicate.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.statistics.draws import (
    DEFAULT_REPLICATES,
    DEFAULT_SEED,
    as_draws,
    draw_clusters,
    multiplicities,
)
from decaf.statistics.intervals import Interval, percentile_interval

CELLS_AT_ONCE = 1 << 22
"""Replicates times rows weighted together: bounds the memory whatever their number."""


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
        (n_replicates, n_draws) positions of clusters, from :mod:`decaf.statistics.draws`;
        drawn from ``seed`` if they are not given.

    Raises
    ------
    ResponseError
        For shapes that do not match, no value at all, infinite values, or draws of a cluster that
        is not there.

    Examples
    --------
    >>> bootstrap_mean([1.0, 3.0], draws=[[0, 0], [0, 1], [1, 1]]).standard_error
    1.0
    """
    (column,), position = _rows([values], clusters)
    drawn = _drawn(position, draws, replicates, seed)
    sums, counts = _totals(column, position)
    means = _replicate_quotients(sums, counts, drawn)
    return percentile_interval(_quotient(sums.sum(), counts.sum()), means, int((counts > 0).sum()))


def bootstrap_difference(
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: ArrayLike | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """Bootstrap the mean of ``x - y``, both from the same drawn clusters.

    Parameters
    ----------
    x, y
        (n_values,) real numbers, paired. A pair in which either is NaN is missing.
    clusters, draws, replicates, seed
        As for :func:`bootstrap_mean`.

    Raises
    ------
    ResponseError
        As for :func:`bootstrap_mean`.

    Examples
    --------
    >>> bootstrap_difference([5.0, 7.0], [4.0, 6.0], draws=[[0, 1], [1, 1]]).upper_95
    1.0
    """
    (a, b), _ = _rows([x, y], clusters)
    return bootstrap_mean(a - b, clusters, draws, replicates, seed)


def bootstrap_ratio(
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike | None = None,
    draws: ArrayLike | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """Bootstrap the mean of ``x`` over the mean of ``y``, both from the same drawn clusters.

    The comparison of reveal paths (paper, section 6.3): never a mean of ratios.

    Parameters
    ----------
    x, y
        (n_values,) real numbers, paired. A pair in which either is NaN is missing.
    clusters, draws, replicates, seed
        As for :func:`bootstrap_mean`.

    Returns
    -------
    Interval
        NaN where the mean of ``y`` is 0; such a replicate is left out.

    Raises
    ------
    ResponseError
        As for :func:`bootstrap_mean`.

    Examples
    --------
    >>> bootstrap_ratio([3.0, 1.0], [1.0, 1.0], draws=[[0, 0], [1, 1]]).estimate
    2.0
    """
    (a, b), position = _rows([x, y], clusters)
    drawn = _drawn(position, draws, replicates, seed)
    incomplete = np.isnan(a) | np.isnan(b)
    above, counts = _totals(np.where(incomplete, np.nan, a), position)
    below, _ = _totals(np.where(incomplete, np.nan, b), position)
    ratios = _replicate_quotients(above, below, drawn)
    return percentile_interval(_quotient(above.sum(), below.sum()), ratios, int((counts > 0).sum()))


def bootstrap_statistic(
    statistic: Callable[..., NDArray[np.float64]],
    columns: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    draws: ArrayLike | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """Bootstrap a statistic of weighted rows, such as a rank correlation or an AUROC.

    A row that a replicate draws twice weighs 2. The statistic therefore sorts the rows once for
    all replicates.

    Parameters
    ----------
    statistic
        ``statistic(*columns, weights)`` with ``weights`` of shape (n_replicates, n_rows); returns
        (n_replicates,), NaN where undefined: :func:`decaf.statistics.ranks.weighted_spearman`,
        :func:`decaf.statistics.discrimination.weighted_auroc`,
        :func:`decaf.statistics.discrimination.weighted_auprc`.
    columns
        One or more of shape (n_rows,), real numbers. A row in which any is NaN is missing: the
        statistic never sees it, but its cluster keeps its place among the draws.
    clusters, draws, replicates, seed
        As for :func:`bootstrap_mean`.

    Raises
    ------
    ResponseError
        As for :func:`bootstrap_mean`.

    Examples
    --------
    >>> from decaf.statistics.ranks import weighted_spearman
    >>> x, y = [1, 2, 3, 4], [1, 3, 2, 4]
    >>> bootstrap_statistic(weighted_spearman, (x, y)).estimate
    0.8
    """
    rows, position = _rows(columns, clusters)
    drawn = _drawn(position, draws, replicates, seed)
    complete = ~np.any(np.isnan(rows), axis=0)
    kept, place = [row[complete] for row in rows], position[complete]
    if not place.size:
        return percentile_interval(np.nan, np.full(len(drawn), np.nan), 0)
    values = [
        statistic(*kept, counts[:, place])
        for counts in _blocks(drawn, int(position.max()) + 1, rows_at_once=position.size)
    ]
    estimate = statistic(*kept, np.ones((1, place.size)))[0]
    return percentile_interval(estimate, np.concatenate(values), np.unique(place).size)


def replicate_means(
    values: ArrayLike, draws: ArrayLike, clusters: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Mean of ``values`` in every replicate, for quantities that are combined before the interval.

    An equal-weight mean over models, each with draws of its own, is the mean of their replicates
    (paper, appendix H).

    Parameters
    ----------
    values
        (n_values,) real numbers; NaN is missing.
    draws, clusters
        As for :func:`bootstrap_mean`.

    Returns
    -------
    (n_replicates,) float64
        NaN for a replicate that drew no value.

    Raises
    ------
    ResponseError
        As for :func:`bootstrap_mean`.

    Examples
    --------
    >>> replicate_means([1.0, 3.0], [[0, 0], [0, 1]]).tolist()
    [1.0, 2.0]
    """
    (column,), position = _rows([values], clusters)
    drawn = as_draws(draws, int(position.max()) + 1)
    return _replicate_quotients(*_totals(column, position), drawn)


def _rows(
    columns: Sequence[ArrayLike], clusters: ArrayLike | None
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """Columns of one length, and the position of every row's cluster."""
    rows = [np.asarray(column, dtype=np.float64) for column in columns]
    shapes = {row.shape for row in rows}
    labels = np.arange(rows[0].size) if clusters is None else np.asarray(clusters)
    if rows[0].ndim != 1 or rows[0].size == 0 or shapes != {labels.shape}:
        found = " and ".join(str(row.shape) for row in rows)
        raise ResponseError(
            f"values have shape {found} and clusters {labels.shape}; expected one cluster for "
            "each of at least one value"
        )
    if np.isinf(rows).any():
        raise ResponseError("values are infinite; expected real numbers, or NaN for a missing one")
    return rows, np.unique(labels, return_inverse=True)[1]


def _drawn(
    position: NDArray[np.int64], draws: ArrayLike | None, replicates: int, seed: int
) -> NDArray[np.int64]:
    cluster_count = int(position.max()) + 1
    if draws is None:
        return draw_clusters(cluster_count, replicates, seed)
    return as_draws(draws, cluster_count)


def _totals(
    column: NDArray[np.float64], position: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and number of the values of every cluster."""
    present = ~np.isnan(column)
    sums = np.bincount(position, weights=np.where(present, column, 0.0))
    return sums, np.bincount(position, weights=present)


def _replicate_quotients(
    above: NDArray[np.float64], below: NDArray[np.float64], draws: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Sum of ``above`` over sum of ``below`` of the drawn clusters; NaN over 0."""
    sides = np.stack([above, below], axis=1)
    totals = [counts @ sides for counts in _blocks(draws, above.size, draws.shape[1])]
    return _quotient(*np.concatenate(totals).T)


def _quotient(above: ArrayLike, below: ArrayLike) -> NDArray[np.float64]:
    above, below = np.asarray(above), np.asarray(below)
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)


def _blocks(
    draws: NDArray[np.int64], cluster_count: int, rows_at_once: int
) -> Iterator[NDArray[np.float64]]:
    """How often replicates drew each cluster, a bounded number of replicates at a time."""
    step = max(1, CELLS_AT_ONCE // max(rows_at_once, cluster_count))
    for start in range(0, len(draws), step):
        yield multiplicities(draws[start : start + step], cluster_count)
