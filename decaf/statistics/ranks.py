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
        raise ResponseError(f"x has shape {a.shape} and y {b.shape}; expected equal shapes (n, k)")
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
    from scipy.stats import rankdata  # takes longer to load than a warehouse to open

    ranks = rankdata(np.where(missing, np.nan, side), axis=1, nan_policy="omit")
    return np.where(missing, 0.0, ranks - (counts[:, np.newaxis] + 1) / 2)
