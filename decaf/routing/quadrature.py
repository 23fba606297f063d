"""The measure over stages: trapezoid weights on an explicit grid, or any normalised weights."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.route import as_reals, as_scores

GRID_TOLERANCE = 1e-12
MASS_TOLERANCE = 1e-12
COARSE_MASS_TOLERANCE = 1e-6
"""Of float32 weights that were divided by their sum."""


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
    """(n_stages,) float64 trapezoid weights ``w`` of a grid, of sum 1 (paper, appendix C.1).

    If stages ``u`` show ``r(h(u))``, the weights of ``h(u)`` keep the profile; those of ``u`` give
    another one (paper, appendix B.7). The grid is (n_stages,), strictly increasing from 0 to 1.

    >>> trapezoid_weights([0, 0.5, 1]).tolist()
    [0.25, 0.5, 0.25]
    """
    steps = np.diff(check_grid(grid))
    weights = np.zeros(steps.size + 1)
    weights[:-1] += steps / 2
    weights[1:] += steps / 2
    return weights


def check_measure(measure: ArrayLike) -> NDArray[np.float64]:
    """Return a normalised measure over stages as float64: one weight per stage, no order implied.

    Uniform weights, all mass at one stage and the mixture ``(1 - eta, eta)`` of two contexts are
    such measures: (n_stages,) non-negative, with sum 1 within 1e-12, or within 1e-6 if they are
    float32; float32 weights are divided by their sum again. One stage is enough. Raises
    ResponseError for negative weights, another sum, more than one axis, or values that are not
    finite and real.

    >>> check_measure([0.75, 0.25]).tolist()
    [0.75, 0.25]
    """
    numbers = as_reals(measure, "stage measure")
    weights = as_scores(numbers, "stage measure")
    if weights.ndim != 1:
        raise ResponseError(f"stage measure has shape {weights.shape}; expected one axis")
    if (weights < 0).any():
        raise ResponseError(f"stage measure {weights.tolist()} has a negative weight")
    mass = weights.sum()
    is_coarse = numbers.dtype == np.float32
    if abs(mass - 1) > (COARSE_MASS_TOLERANCE if is_coarse else MASS_TOLERANCE):
        raise ResponseError(f"stage measure sums to {mass}; expected 1, divide it by its sum")
    return weights / mass if is_coarse else weights
