"""Profiles of trajectories whose stages arrive one after the other (paper, appendix C.3).

Memory is a few numbers per trajectory, for any number of stages: the endpoint difference, the
integrals so far and the latest response.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.integrals import Integrals
from decaf.routing.profiles import Profiles, gate
from decaf.routing.quadrature import GRID_TOLERANCE
from decaf.routing.route import DEFAULT_EPSILON, as_scores, check_epsilon


class PathStream:
    """Profiles from the stages of a path in order, by the trapezoid rule.

    Parameters
    ----------
    endpoint
        ``d``, known before the first stage, any shape: one entry per trajectory.
    epsilon
        Threshold in score units; equality is active.

    Raises
    ------
    ResponseError
        For an endpoint that is not finite real numbers, or ``epsilon <= 0``.

    Examples
    --------
    >>> stream = PathStream([0.4])
    >>> for t, response in [(0, 0.0), (0.5, -0.2), (1, 0.4)]:
    ...     stream.update(t, [response])
    >>> stream.finalise().contradiction.tolist()
    [0.1]
    """

    def __init__(self, endpoint: ArrayLike, epsilon: float = DEFAULT_EPSILON) -> None:
        self._epsilon = check_epsilon(epsilon)
        d = as_scores(endpoint, "endpoint").copy()
        self._sums = Integrals(d, *(np.zeros(d.shape) for _ in range(3)))
        self._sign = np.copysign(1.0, d)
        self._latest: tuple[float, NDArray[np.float64]] | None = None
        self._is_final = False

    def update(self, t: float, response: ArrayLike) -> None:
        """Add the stage at ``t``: first 0, then strictly increasing, last 1.

        Parameters
        ----------
        t
            One number.
        response
            ``r`` at the stage, of the endpoint's shape, score units.

        Raises
        ------
        ResponseError
            For a stage out of order, another shape, values that are not finite and real, or after
            :meth:`finalise`; the stage is not added.
        """
        self._refuse_if_final()
        stage = as_scores(t, "stage")
        if stage.ndim:
            raise ResponseError(f"stage has shape {stage.shape}; expected one number")
        r = as_scores(response)
        if r.shape != self._sign.shape:
            raise ResponseError(
                f"response has shape {r.shape}; expected the endpoint's {self._sign.shape}"
            )
        if self._latest is None:
            if abs(stage) > GRID_TOLERANCE:
                raise ResponseError(f"the first stage is {stage}; expected 0")
        else:
            before, latest = self._latest
            if not before < stage <= 1 + GRID_TOLERANCE:
                raise ResponseError(
                    f"stage {stage} follows {before}; expected a stage above {before}, at most 1"
                )
            half = (float(stage) - before) / 2
            self._add(half, latest)
            self._add(half, r)
        self._latest = float(stage), r.copy()

    def finalise(self) -> Profiles:
        """Return the profiles of the stages that were added; can be called once.

        Raises
        ------
        ResponseError
            If the last stage is not 1, or it is called again.
        """
        self._refuse_if_final()
        last = self._latest[0] if self._latest else "missing"
        if self._latest is None or abs(self._latest[0] - 1) > GRID_TOLERANCE:
            raise ResponseError(f"the last stage is {last}; expected 1")
        self._is_final = True
        return gate(self._sums, self._epsilon)

    def _add(self, weight: float, response: NDArray[np.float64]) -> None:
        oriented = self._sign * response
        self._sums.aligned[...] += weight * np.maximum(oriented, 0.0)
        self._sums.opposed[...] += weight * np.maximum(-oriented, 0.0)
        self._sums.opposed_frac[...] += weight * (oriented < 0)

    def _refuse_if_final(self) -> None:
        if self._is_final:
            raise ResponseError("stream is finalised; start another for more stages")
