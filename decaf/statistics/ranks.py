"""Agreement of two rankings: the reference of the SQL rank transfer."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError


def spearman(x: ArrayLike, y: ArrayLike, if_constant: float = np.nan) -> float:
    """Spearman correlation; ties share their average rank (paper, section 6.3).

    Parameters
    ----------
    x, y
        (n_entries,) real numbers. Entries where either is NaN are left out.
    if_constant
        The answer where a side is constant: NaN, undefined, unless a benchmark says otherwise.

    Returns
    -------
    float
        In [-1, 1]; NaN with fewer than two entries.

    Raises
    ------
    ResponseError
        When the shapes differ or are not one-dimensional.

    Examples
    --------
    >>> spearman([1, 2, 3], [10, 30, 20])
    0.5
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ResponseError(f"x has shape {a.shape} and y {b.shape}; expected two equal lists")
    return float(spearman_rows(a[np.newaxis], b[np.newaxis], if_constant)[0])


def spearman_rows(x: ArrayLike, y: ArrayLike, if_constant: float = np.nan) -> NDArray[np.float64]:
    """Spearman correlation of every row of ``x`` with the same row of ``y``.

    Attribution ranks the features of every image and counts a constant ranking as 0, so that no
    image drops out: ``if_constant=0.0`` (paper, section 7).

    Parameters
    ----------
    x, y
        (n_rows, n_entries) real numbers. Entries where either is NaN are left out.
    if_constant
        The answer where a side is constant.

    Returns
    -------
    (n_rows,) float64
        In [-1, 1]; NaN with fewer than two entries.

    Raises
    ------
    ResponseError
        When the shapes differ or are not two-dimensional.

    Examples
    --------
    >>> spearman_rows([[1, 2, 3], [5, 5, 5]], [[10, 30, 20], [1, 2, 3]], if_constant=0).tolist()
    [0.5, 0.0]
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape:
        raise ResponseError(f"x has shape {a.shape} and y {b.shape}; expected two equal tables")
    missing = np.isnan(a) | np.isnan(b)
    counts = (~missing).sum(axis=1)
    a, b = (_centred_ranks(side, missing, counts) for side in (a, b))
    correlations = _correlation(a, b, np.ones(a.shape), if_constant)
    return np.where(counts < 2, np.nan, correlations)


def weighted_spearman(x: ArrayLike, y: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
    """Spearman correlation of entries that are repeated, for every replicate of a bootstrap.

    Parameters
    ----------
    x, y
        (n_entries,) real numbers, no NaN.
    weights
        (n_replicates, n_entries) how often each entry occurs.

    Returns
    -------
    (n_replicates,) float64
        In [-1, 1]; NaN where one side is constant among the entries that occur.

    Raises
    ------
    ResponseError
        For shapes that do not match, no entry, or NaN.

    Examples
    --------
    >>> weighted_spearman([1, 2, 3], [10, 30, 20], [[1, 1, 1], [2, 0, 1]]).round(12).tolist()
    [0.5, 1.0]
    """
    a, b = (_centred_weighted_ranks(side, weights) for side in (x, y))
    return _correlation(a, b, np.asarray(weights, dtype=np.float64), np.nan)


def tied_weights(
    values: ArrayLike, weights: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Weight of every group of equal values, in ascending order of the values.

    Parameters
    ----------
    values
        (n_entries,) real numbers, no NaN.
    weights
        (n_replicates, n_entries) how often each entry occurs.

    Returns
    -------
    sums
        (n_replicates, n_groups) float64
    group
        (n_entries,) group of every entry, from 0

    Raises
    ------
    ResponseError
        For shapes that do not match, no entry, or NaN.

    Examples
    --------
    >>> sums, group = tied_weights([5, 1, 5], [[1, 2, 3]])
    >>> sums.tolist(), group.tolist()
    ([[2.0, 4.0]], [1, 0, 1])
    """
    v, w = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if v.ndim != 1 or v.size == 0 or w.ndim != 2 or w.shape[1] != v.size or np.isnan(v).any():
        raise ResponseError(
            f"values have shape {v.shape} and weights {w.shape}; expected (n_entries,) numbers, "
            "none missing, and (n_replicates, n_entries) weights"
        )
    order = np.argsort(v, kind="stable")
    ascending = v[order]
    is_first = np.concatenate([[True], ascending[1:] != ascending[:-1]])
    group = np.empty(v.size, dtype=np.int64)
    group[order] = np.cumsum(is_first) - 1
    return np.add.reduceat(w[:, order], np.flatnonzero(is_first), axis=1), group


def _centred_ranks(
    side: NDArray[np.float64], missing: NDArray[np.bool_], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Ranks minus their mean, which is exact; 0 where an entry is missing."""
    ranks = _average_ranks(np.where(missing, np.nan, side))
    return np.where(missing, 0.0, ranks - (counts[:, np.newaxis] + 1) / 2)


def _average_ranks(side: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1 inside every row; ties share their average, and NaN come last in any order.

    As ``scipy.stats.rankdata``, whose import takes longer than to open a warehouse.
    """
    order = np.argsort(side, axis=1)
    ascending = np.take_along_axis(side, order, axis=1)
    places = np.arange(side.shape[1])
    is_new = np.ones(side.shape, dtype=np.bool_)
    np.not_equal(ascending[:, 1:], ascending[:, :-1], out=is_new[:, 1:])
    firsts = np.maximum.accumulate(np.where(is_new, places, 0), axis=1)
    is_last = np.ones(side.shape, dtype=np.bool_)
    is_last[:, :-1] = is_new[:, 1:]
    lasts = np.where(is_last, places, side.shape[1])[:, ::-1]
    lasts = np.minimum.accumulate(lasts, axis=1)[:, ::-1]
    ranks = np.empty(side.shape)
    np.put_along_axis(ranks, order, (firsts + lasts) / 2 + 1, axis=1)
    return ranks


def _centred_weighted_ranks(side: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
    sums, group = tied_weights(side, weights)
    upto = np.cumsum(sums, axis=1)
    ranks = upto - (sums - 1) / 2
    return (ranks - (upto[:, -1:] + 1) / 2)[:, group]


def _correlation(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    weights: NDArray[np.float64],
    if_constant: float,
) -> NDArray[np.float64]:
    """Correlation of every row of centred ranks."""
    covariance, of_a, of_b = ((weights * product).sum(axis=1) for product in (a * b, a * a, b * b))
    spread = np.sqrt(of_a * of_b)
    result = np.full(spread.shape, float(if_constant))
    np.divide(covariance, spread, out=result, where=spread > 0)
    return np.clip(result, -1.0, 1.0, out=result)
