"""Semantic routing: every stage response becomes evidence, contradiction or fragility.

The final contrast ``d`` supplies a gate ``a = 1{|d| >= epsilon}`` and an orientation
``s = sign(d)``; a stage response ``r`` is routed as ``e = a (s r)+``, ``c = a (s r)-`` and
``f = (1 - a) |r|`` (paper, section 3). The triple is unique and conserves ``|r|`` exactly.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError

DEFAULT_EPSILON = 0.02
"""Gate in score units where a study does not state its own (paper, sections 5 and 6)."""


class Components(NamedTuple):
    """Stage-wise evidence, contradiction and fragility, float64, of the shape of the response."""

    e: NDArray[np.float64]
    c: NDArray[np.float64]
    f: NDArray[np.float64]


def as_scores(values: ArrayLike, name: str = "response") -> NDArray[np.float64]:
    """Promote real, finite, non-empty scores to float64.

    Raises
    ------
    ResponseError
        For boolean, complex, textual, empty or non-finite input.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise ResponseError(f"{name} has dtype {array.dtype}; expected real numbers")
    if array.size == 0:
        raise ResponseError(f"{name} is empty; expected at least one value")
    array = array.astype(np.float64, copy=False)
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        count = int(array.size - finite.sum())
        raise ResponseError(
            f"{name} holds {count} non-finite values, the first at {where}; "
            "quarantine such pairs before routing"
        )
    return array


def check_epsilon(epsilon: float) -> float:
    """Return the threshold as a float; it must be a finite real number above zero."""
    real = isinstance(epsilon, int | float | np.integer | np.floating)
    if not real or isinstance(epsilon, bool) or not (np.isfinite(epsilon) and epsilon > 0):
        raise ResponseError(f"epsilon is {epsilon!r}; expected a finite number above 0")
    return float(epsilon)


def is_active(endpoint: ArrayLike, epsilon: float = DEFAULT_EPSILON) -> NDArray[np.bool_]:
    """Gate: whether the final contrast is meaningful. Equality at ``epsilon`` is active."""
    return np.abs(as_scores(endpoint, "endpoint")) >= check_epsilon(epsilon)


def route(response: ArrayLike, endpoint: ArrayLike, epsilon: float = DEFAULT_EPSILON) -> Components:
    """Route stage responses by their relation to the final contrast (paper, section 3).

    Parameters
    ----------
    response
        ``r(t)``, any shape, score units.
    endpoint
        ``d``, broadcastable to ``response`` (give a stage axis of length one).
    epsilon
        Gate in score units; ``|d| = epsilon`` is active, ``d = 0`` is always null.

    Raises
    ------
    ResponseError
        For input that is not finite real numbers, shapes that do not broadcast to the response's,
        or ``epsilon <= 0``.

    Examples
    --------
    >>> route([[0.1, -0.2, 0.3]], [[0.3]]).c.round(12).tolist()
    [[0.0, 0.2, 0.0]]
    """
    r, d = as_scores(response), as_scores(endpoint, "endpoint")
    try:
        d = np.broadcast_to(d, r.shape)
    except ValueError:
        raise ResponseError(
            f"endpoint has shape {d.shape}, which does not broadcast to the response's {r.shape}"
        ) from None
    active = is_active(d, epsilon)
    oriented = np.where(active, np.sign(d), 0.0) * r
    return Components(
        e=np.maximum(oriented, 0.0),
        c=np.maximum(-oriented, 0.0),
        f=np.where(active, 0.0, np.abs(r)),
    )
