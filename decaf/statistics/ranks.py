"""Agreement of two rankings, many at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError


def spearman_rows(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Spearman correlation of every row of ``x`` with the same row of ``y`` (paper, section 6.3).

    Both are (n_rows, n_entries) real numbers; entries where either is NaN are left out, and ties
    share their average rank. The result is (n_rows,) float64 in [-1, 1], NaN where a side is
    constant, as with fewer than two entries. Raises ResponseError when the shapes differ or are not
    two-dimensional.

    >>> spearman_rows([[1, 2, 3], [5, 5, 5]], [[10, 30, 20], [1, 2, 3]]).tolist()
    [0.5, nan]
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape:
        raise ResponseError(f"x has shape {a.shape} and y {b.shape}; expected two equal tables")
    missing = np.isnan(a) | np.isnan(b)
    counts = (~missing).sum(axis=1)
    a, b = (_centred_ranks(side, missing, counts) for side in (a, b))
    covariance, of_a, of_b = (product.sum(axis=1) for product in (a * b, a * a, b * b))
    spread = np.sqrt(of_a * of_b)
    result = np.full(spread.shape, np.nan)
    np.divide(covariance, spread, out=result, where=spread > 0)
    return np.clip(result, -1.0, 1.0, out=result)


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
