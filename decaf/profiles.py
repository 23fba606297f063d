"""From trajectories to profiles: M, E, C, F, Abs and Net of every pair."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.quadrature import trapezoid_weights
from decaf.routing import DEFAULT_EPSILON, as_scores, is_active

ROWS_AT_ONCE = 1 << 16
"""Trajectories integrated together: bounds the extra memory whatever the number of pairs."""


class Profiles(NamedTuple):
    """Integrated responses, one entry per trajectory, float64 score units unless stated.

    ``abs_response = evidence + contradiction + fragility`` and
    ``net_response = evidence - contradiction`` hold exactly.
    """

    endpoint_delta: NDArray[np.float64]
    endpoint_magnitude: NDArray[np.float64]
    evidence: NDArray[np.float64]
    contradiction: NDArray[np.float64]
    fragility: NDArray[np.float64]
    abs_response: NDArray[np.float64]
    net_response: NDArray[np.float64]
    sign_flip_frac: NDArray[np.float64]
    """Stage measure on which the response opposes ``d``, in [0, 1]; NaN on endpoint-null pairs."""
    opposed_mass: NDArray[np.float64]
    """Mass that opposes ``sign(d)`` whether or not the gate is open (0 where ``d = 0``)."""
    is_endpoint_active: NDArray[np.bool_]


def profile(
    response: ArrayLike,
    grid: ArrayLike,
    epsilon: float = DEFAULT_EPSILON,
    endpoint: ArrayLike | None = None,
) -> Profiles:
    """Integrate the routed response of every trajectory over the stages (paper, equation 1).

    Parameters
    ----------
    response
        ``r(t) = q(x+(t)) - q(x-(t))``, (n_pairs, n_stages), score units.
    grid
        (n_stages,) strictly increasing from 0 to 1.
    epsilon
        Gate in score units; equality is active.
    endpoint
        ``d``, (n_pairs,); the last stage of the response if it is not given.

    Raises
    ------
    ResponseError
        For non-finite or empty input, shapes that do not match, a bad grid or ``epsilon <= 0``.

    Examples
    --------
    >>> p = profile([[0.0, -0.2, 0.4]], [0, 0.5, 1])
    >>> p.evidence.round(12).tolist(), p.contradiction.round(12).tolist()
    ([0.1], [0.1])
    """
    r = as_scores(response)
    weights = trapezoid_weights(grid)
    if r.ndim != 2 or r.shape[1] != weights.size:
        raise ResponseError(
            f"response has shape {r.shape}; expected (n_pairs, {weights.size}) for this grid"
        )
    d = r[:, -1].copy() if endpoint is None else as_scores(endpoint, "endpoint")
    if d.shape != r.shape[:1]:
        raise ResponseError(f"endpoint has shape {d.shape}; expected ({r.shape[0]},)")
    active = is_active(d, epsilon)

    rising, falling, flips = (np.empty(d.size) for _ in range(3))
    for start in range(0, d.size, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        rising[rows] = np.maximum(r[rows], 0.0) @ weights
        falling[rows] = np.maximum(-r[rows], 0.0) @ weights
        flips[rows] = (np.sign(d[rows, None]) * r[rows] < 0) @ weights

    total = rising + falling
    aligned = np.where(d > 0, rising, falling)
    opposed = np.where(d > 0, falling, rising)
    evidence = np.where(active, aligned, 0.0)
    contradiction = np.where(active, opposed, 0.0)
    return Profiles(
        endpoint_delta=d,
        endpoint_magnitude=np.abs(d),
        evidence=evidence,
        contradiction=contradiction,
        fragility=np.where(active, 0.0, total),
        abs_response=total,
        net_response=evidence - contradiction,
        sign_flip_frac=np.where(active, flips, np.nan),
        opposed_mass=np.where(d == 0, 0.0, opposed),
        is_endpoint_active=active,
    )
