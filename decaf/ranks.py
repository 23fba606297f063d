"""Agreement of two rankings: the reference of the SQL rank transfer."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from decaf.errors import ResponseError


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman correlation; ties share their average rank (paper, section 6.3).

    Parameters
    ----------
    x, y
        (n_entries,) real numbers. Entries where either is NaN are left out.

    Returns
    -------
    float
        In [-1, 1]; NaN where undefined: fewer than two entries, or one side is constant.

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
    complete = ~(np.isnan(a) | np.isnan(b))
    a, b = a[complete], b[complete]
    if a.size < 2 or a.min() == a.max() or b.min() == b.max():
        return float("nan")
    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])
