"""The measure over stages: trapezoid weights on an explicit, strictly increasing grid."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing import as_scores

GRID_TOLERANCE = 1e-12


def check_grid(grid: ArrayLike) -> NDArray[np.float64]:
    """Return the stage grid as float64: strictly increasing from 0 to 1, at least two stages."""
    t = as_scores(grid, "stage grid")
    if t.ndim != 1 or t.size < 2:
        raise ResponseError(f"stage grid has shape {t.shape}; expected at least two stages")
    if not (np.diff(t) > 0).all():
        raise ResponseError(f"stage grid {t.tolist()} does not strictly increase")
    if abs(t[0]) > GRID_TOLERANCE or abs(t[-1] - 1) > GRID_TOLERANCE:
        raise ResponseError(f"stage grid spans [{t[0]}, {t[-1]}]; expected [0, 1]")
    return t


def trapezoid_weights(grid: ArrayLike) -> NDArray[np.float64]:
    """Weights ``w`` of the trapezoid rule on ``grid``; they sum to one (paper, appendix C.1).

    Parameters
    ----------
    grid
        (n_stages,) strictly increasing from 0 to 1.

    Returns
    -------
    (n_stages,) float64

    Examples
    --------
    >>> trapezoid_weights([0, 0.5, 1]).tolist()
    [0.25, 0.5, 0.25]
    """
    steps = np.diff(check_grid(grid))
    weights = np.zeros(steps.size + 1)
    weights[:-1] += steps / 2
    weights[1:] += steps / 2
    return weights
