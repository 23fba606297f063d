"""Profiles of trajectories whose stages arrive one after the other (paper, appendix C.3).

Memory is a few numbers per trajectory, for any number of stages: the endpoint difference, the
integrals so far and, on a path, the latest response.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.integrals import Integrals
from decaf.routing.profiles import Profiles, gate
from decaf.routing.quadrature import GRID_TOLERANCE, MASS_TOLERANCE
from decaf.routing.route import DEFAULT_EPSILON, as_scores, check_epsilon


class MeasureStream:
    """Profiles from stages that arrive with their weights, in any order.

    Parameters
    ----------
    endpoint
        ``d``, known before the first stage, any shape: one entry per trajectory.
    epsilon
        Gate in score units; equality is active.

    Raises
    ------
    ResponseError
        For an endpoint that is not finite real numbers, or ``epsilon <= 0``.

    Examples
    --------
    >>> stream = MeasureStream([0.4])
    >>> stream.update(0.75, [0.4])
    >>> stream.update(0.25, [-0.4])
    >>> stream.finalise().contradiction.tolist()
    [0.1]
    """

    def __init__(self, endpoint: ArrayLike, epsilon: float = DEFAULT_EPSILON) -> None:
        self._epsilon = check_epsilon(epsilon)
        d = as_scores(endpoint, "endpoint").copy()
        self._sums = Integrals(d, *(np.zeros(d.shape) for _ in range(3)))
        self._sign = np.copysign(1.0, d)
        self._mass = 0.0
        self._is_final = False

    def update(self, weight: float, response: ArrayLike) -> None:
        """Add a stage.

        Parameters
        ----------
        weight
            Its share of the stage measure, not negative.
        response
            ``r`` at the stage, of the endpoint's shape, score units.

        Raises
        ------
        ResponseError
            For another shape, a negative weight, values that are not finite and real, or after
            :meth:`finalise`; the stage is not added.
        """
        share = float(_number(weight, "stage weight"))
        if share < 0:
            raise ResponseError(f"stage weight is {share}; expected 0 or more")
        oriented = self._sign * self.check_response(response)
        self._sums.aligned[...] += share * np.maximum(oriented, 0.0)
        self._sums.opposed[...] += share * np.maximum(-oriented, 0.0)
        self._sums.opposed_frac[...] += share * (oriented < 0)
        self._mass += share

    def check_response(self, response: ArrayLike) -> NDArray[np.float64]:
        """Return the response of a stage as float64; raise ResponseError if it does not fit."""
        if self._is_final:
            raise ResponseError("stream is finalised; start another for more stages")
        r = as_scores(response)
        if r.shape != self._sign.shape:
            raise ResponseError(
                f"response has shape {r.shape}; expected the endpoint's {self._sign.shape}"
            )
        return r

    def finalise(self) -> Profiles:
        """Gate what has been added; once.

        Raises
        ------
        ResponseError
            If the weights do not sum to 1 within 1e-12, or it is called again.
        """
        if self._is_final:
            raise ResponseError("stream is finalised already; its profiles were returned then")
        if abs(self._mass - 1) > MASS_TOLERANCE:
            raise ResponseError(f"stage weights sum to {self._mass}; expected 1")
        self._is_final = True
        return gate(self._sums, self._epsilon)


class PathStream:
    """Profiles from the stages of a path in order, by the trapezoid rule.

    Parameters and errors are those of :class:`MeasureStream`.

    Examples
    --------
    >>> stream = PathStream([0.4])
    >>> for t, response in [(0, 0.0), (0.5, -0.2), (1, 0.4)]:
    ...     stream.update(t, [response])
    >>> stream.finalise().contradiction.tolist()
    [0.1]
    """

    def __init__(self, endpoint: ArrayLike, epsilon: float = DEFAULT_EPSILON) -> None:
        self._stages = MeasureStream(endpoint, epsilon)
        self._latest: tuple[float, float, NDArray[np.float64]] | None = None

    def update(self, t: float, response: ArrayLike) -> None:
        """Add the stage at ``t``: first 0, then strictly increasing, last 1.

        Raises
        ------
        ResponseError
            For a stage out of order, a response as :meth:`MeasureStream.update` refuses it, or
            after :meth:`finalise`; the stage is not added.
        """
        stage = float(_number(t, "stage"))
        r = self._stages.check_response(response)
        if self._latest is None:
            if abs(stage) > GRID_TOLERANCE:
                raise ResponseError(f"first stage is at {stage}; expected 0")
            self._latest = stage, 0.0, r.copy()
            return
        before, weight, held = self._latest
        if not before < stage <= 1 + GRID_TOLERANCE:
            raise ResponseError(f"stage {stage} follows {before}; expected a larger one, at most 1")
        half = (stage - before) / 2
        self._stages.update(weight + half, held)
        self._latest = stage, half, r.copy()

    def finalise(self) -> Profiles:
        """Gate what has been added; once.

        Raises
        ------
        ResponseError
            If the last stage is not 1, or it is called again.
        """
        if self._latest is not None:
            stage, weight, held = self._latest
            if abs(stage - 1) > GRID_TOLERANCE:
                raise ResponseError(f"last stage is at {stage}; expected 1")
            self._stages.update(weight, held)
            self._latest = None
        return self._stages.finalise()


def _number(value: Any, name: str) -> NDArray[np.float64]:
    number = as_scores(value, name)
    if number.ndim:
        raise ResponseError(f"{name} has shape {number.shape}; expected one number")
    return number
