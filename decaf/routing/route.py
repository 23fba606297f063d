"""Semantic routing: every stage response becomes evidence, contradiction or fragility.

The endpoint difference ``d`` decides whether a pair is active, ``a = 1{|d| >= epsilon}``, and its
orientation ``s = sign(d)``. A stage response ``r`` is routed as ``e = a (s r)+``, ``c = a (s r)-``
and ``f = (1 - a) |r|`` (paper, section 3). At most one of them is above 0; their sum is ``|r|``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError, number_of
from decaf.foundation.arrays import REALS, refuse_masked

DEFAULT_EPSILON = 0.02
"""Threshold epsilon in score units, unless a study sets its own (paper, sections 5 and 6)."""

SHARE_ADVICE = "probabilities and shares run from 0 to 1, so that 5 % is 0.05"
"""Advice in messages about a threshold or limit that no value reaches."""


class Components(NamedTuple):
    """Stage-wise evidence, contradiction and fragility, float64, of the shape of the response."""

    e: NDArray[np.float64]
    c: NDArray[np.float64]
    f: NDArray[np.float64]


def as_reals(values: ArrayLike, name: str = "response") -> NDArray[Any]:
    """Convert to a non-empty array of real numbers, in its precision; they may be infinite or NaN.

    A torch tensor is detached and brought to the host first. Raises ResponseError for boolean,
    complex, textual, ragged, masked or empty input.
    """
    refuse_masked(values, name, ResponseError)
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ResponseError(f"{name} is not an array of real numbers: {error}") from error
    if array.dtype.kind not in "iuf":
        raise ResponseError(f"{name} has dtype {array.dtype}; expected real numbers")
    if array.size == 0:
        raise ResponseError(f"{name} is empty; expected at least one value")
    return array


def as_scores(values: ArrayLike, name: str = "response") -> NDArray[np.float64]:
    """Promote real, finite, non-empty scores to float64.

    Raises ResponseError for boolean, complex, textual, ragged, masked, empty or non-finite input.
    """
    array = as_reals(values, name).astype(np.float64, copy=False)
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        count = int(array.size - finite.sum())
        raise ResponseError(
            f"{name} holds {number_of(count, 'non-finite value')}, the first at {where}; "
            "quarantine such pairs before routing"
        )
    return array


def check_epsilon(epsilon: float) -> float:
    """Return the threshold as a float; it must be a finite real number above zero."""
    is_real = isinstance(epsilon, REALS)
    if not is_real or isinstance(epsilon, bool) or not (np.isfinite(epsilon) and epsilon > 0):
        raise ResponseError(f"epsilon is {epsilon!r}; expected a finite number above 0")
    return float(epsilon)


def check_probability_epsilon(epsilon: float) -> None:
    """Raise ResponseError for a threshold that no difference of probabilities exceeds."""
    if epsilon > 1:
        raise ResponseError(
            f"epsilon is {epsilon:g}, but the score is a probability, and no difference exceeds 1; "
            f"{SHARE_ADVICE}"
        )


def is_active(endpoint: ArrayLike, epsilon: float = DEFAULT_EPSILON) -> NDArray[np.bool_]:
    """True where the endpoint difference reaches ``epsilon``; equality is active."""
    return np.abs(as_scores(endpoint, "endpoint")) >= check_epsilon(epsilon)


def stages_last(response: NDArray[Any], stage_axis: int) -> NDArray[Any]:
    """View of ``response`` whose last axis holds the stages."""
    if not -response.ndim <= stage_axis < response.ndim:
        raise ResponseError(
            f"stage_axis is {stage_axis}, but response has shape {response.shape}; expected one of "
            "its axes"
        )
    return np.moveaxis(response, stage_axis, -1)


def endpoint_per_trajectory(
    endpoint: ArrayLike, shape: tuple[int, ...], stage_axis: int = -1
) -> NDArray[np.float64]:
    """Endpoint differences, one per trajectory: float64, ``shape`` without the stage axis.

    The endpoint ``d`` may be a scalar or an array in the shape of the response: without the stage
    axis, with a stage axis of length one, or in full and constant over the stages. Raises
    ResponseError for any other shape, a value that changes between stages, or one that is not
    finite and real.
    """
    d = as_scores(endpoint, "endpoint")
    axis = stage_axis % len(shape)
    samples = shape[:axis] + shape[axis + 1 :]
    if d.ndim == 0:
        return np.full(samples, d)
    if d.shape == samples:
        return d
    first = d.take([0], axis) if d.ndim == len(shape) else d
    one_stage = (*shape[:axis], 1, *shape[axis + 1 :])
    if d.shape not in (shape, one_stage):
        raise ResponseError(
            f"endpoint has shape {d.shape}; expected a scalar, or shape {samples}, {one_stage} or "
            f"{shape}, for a response of shape {shape}"
        )
    if (d != first).any():
        raise ResponseError(
            f"endpoint of shape {d.shape} changes between stages; expected one value per trajectory"
        )
    return first.squeeze(axis)


def route(
    response: ArrayLike,
    endpoint: ArrayLike | None = None,
    epsilon: float = DEFAULT_EPSILON,
    *,
    stage_axis: int = -1,
) -> Components:
    """Route stage responses by their relation to the endpoint difference (paper, section 3).

    Parameters
    ----------
    response
        ``r(t)``, any shape, score units; promoted to float64 before it is compared with epsilon.
    endpoint
        ``d``: a scalar or one value per trajectory, with or without a stage axis of length one. By
        default the last stage of the response; a given ``d`` may differ from ``r(1)``.
    epsilon
        Threshold in score units; ``|d| = epsilon`` is active, ``d = 0`` never is.
    stage_axis
        Axis of ``response`` that holds the stages.

    Raises
    ------
    ResponseError
        For input that is not finite real numbers, an endpoint of another shape, or
        ``epsilon <= 0``.

    Examples
    --------
    >>> route([[0.1, -0.2, 0.3]]).c.round(12).tolist()
    [[0.0, 0.2, 0.0]]
    """
    r = np.atleast_1d(as_scores(response))
    last = stages_last(r, stage_axis)[..., -1] if endpoint is None else endpoint
    d = np.expand_dims(endpoint_per_trajectory(last, r.shape, stage_axis), stage_axis)
    active = is_active(d, epsilon)
    oriented = np.where(active, np.sign(d), 0.0) * r
    return Components(
        e=np.maximum(oriented, 0.0),
        c=np.maximum(-oriented, 0.0),
        f=np.where(active, 0.0, np.abs(r)),
    )
