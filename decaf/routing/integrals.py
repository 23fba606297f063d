"""Integrals of the oriented response over the stages, block by block, whatever the number of pairs.

With ``s = sign(d)`` and ``z(t) = s r(t)``, a profile needs three integrals of a trajectory: of
``z+``, of ``z-`` and of ``1{z < 0}`` (paper, appendix C.1). The threshold has no part in them: the
gate comes after them (:mod:`decaf.routing.profiles`).
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.quadrature import check_measure, trapezoid_weights
from decaf.routing.route import as_reals, as_scores, one_per_trajectory, stages_last

VALUES_PER_BLOCK = 1 << 17
"""Responses of a block: 1 MiB of float64, so that its passes stay in the cache."""

VALUES_PER_THREAD = 1 << 20
"""Responses that are worth a thread."""

MAX_THREADS = 4
"""More than this wait for memory."""


class Integrals(NamedTuple):
    """Oriented integrals, one entry per trajectory, float64; the threshold has no part in them.

    The orientation ``s`` is the sign of ``d``, and that of its zero where ``d = 0``.
    """

    endpoint_delta: NDArray[np.float64]
    aligned: NDArray[np.float64]
    """Integral of ``(s r)+``, score units."""
    opposed: NDArray[np.float64]
    """Integral of ``(s r)-``, score units."""
    opposed_frac: NDArray[np.float64]
    """Stage measure on which ``s r < 0``, in [0, 1]."""


class Trajectories:
    """Checked responses with the measure of their stages.

    Parameters and errors are those of :func:`decaf.routing.profiles.profile`; that responses are
    finite is checked as they are integrated.
    """

    def __init__(
        self,
        response: ArrayLike,
        grid: ArrayLike | None,
        endpoint: ArrayLike | None,
        measure: ArrayLike | None,
        stage_axis: int,
    ) -> None:
        if (grid is None) == (measure is None):
            raise ResponseError("expected either a stage grid or a stage measure")
        self._weights = trapezoid_weights(grid) if measure is None else check_measure(measure)
        self._response = np.atleast_1d(as_reals(response))
        *shape, stages = stages_last(self._response, stage_axis).shape
        if stages != self._weights.size:
            raise ResponseError(
                f"response has shape {self._response.shape}, hence {stages} stages along axis "
                f"{stage_axis}; expected {self._weights.size}"
            )
        self.shape = tuple(shape)
        self._rows = stages_last(self._response, stage_axis).reshape(-1, stages)
        if endpoint is None:
            self._endpoint = self._rows[:, -1]
        else:
            self._endpoint = one_per_trajectory(endpoint, self._response.shape, stage_axis).ravel()

    def __len__(self) -> int:
        return len(self._rows)

    def fill(
        self,
        columns: Iterable[NDArray],
        quantities: Callable[[Integrals], Iterable[NDArray]] = lambda sums: sums,
    ) -> None:
        """Fill columns of (n_trajectories,) with quantities of the integrals, block by block.

        Large inputs are shared between threads; how many there are changes no number.
        """
        size = max(1, VALUES_PER_BLOCK // self._weights.size)
        threads = min(self._rows.size // VALUES_PER_THREAD, MAX_THREADS, os.cpu_count() or 1)

        def fill_block(start: int) -> None:
            block = slice(start, start + size)
            for column, values in zip(columns, quantities(self._integrals(block)), strict=True):
                column[block] = values

        starts = range(0, len(self), size)
        if threads < 2:
            for start in starts:
                fill_block(start)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(fill_block, starts))

    def _integrals(self, block: slice) -> Integrals:
        with np.errstate(invalid="ignore", over="ignore"):
            d = self._endpoint[block].astype(np.float64)
            sums = _integrated(self._rows[block], d, self._weights)
            if not np.isfinite(sums.aligned.sum() + sums.opposed.sum()):
                as_scores(self._response)  # says where it is not finite
        return sums


def integrate(
    response: ArrayLike,
    grid: ArrayLike | None = None,
    endpoint: ArrayLike | None = None,
    *,
    measure: ArrayLike | None = None,
    stage_axis: int = -1,
) -> Integrals:
    """Integrate once what :func:`decaf.routing.profiles.gate` turns into profiles at any threshold.

    Parameters and errors are those of :func:`decaf.routing.profiles.profile`.

    Examples
    --------
    >>> sums = integrate([[0.0, -0.2, 0.4]], [0, 0.5, 1])
    >>> sums.aligned.tolist(), sums.opposed.tolist(), sums.opposed_frac.tolist()
    ([0.1], [0.1], [0.5])
    """
    trajectories = Trajectories(response, grid, endpoint, measure, stage_axis)
    columns = np.empty((len(Integrals._fields), len(trajectories)))
    trajectories.fill(columns)
    return Integrals(*(column.reshape(trajectories.shape) for column in columns))


def _integrated(r: NDArray, d: NDArray[np.float64], w: NDArray[np.float64]) -> Integrals:
    """Integrals of (n, n_stages) responses under the stage weights ``w``.

    Stages come first in what is computed, so that every pass is contiguous. einsum is used and not
    a BLAS product: BLAS starts threads here, which crawl when other processes hold the cores.
    """
    s = np.copysign(1.0, d)
    z = np.multiply(r.T, s, order="C", dtype=np.float64)
    z_plus = np.maximum(z, np.zeros(len(d)))  # against a number it would not be vectorised
    is_opposed = z < 0
    z_minus = np.subtract(z_plus, z, out=z)
    return Integrals(
        endpoint_delta=d,
        aligned=np.einsum("tn,t->n", z_plus, w),
        opposed=np.einsum("tn,t->n", z_minus, w),
        opposed_frac=sum(
            weight * _count(is_opposed[w == weight])
            for weight in np.unique(w)  # few are distinct
        ),
    )


def _count(flags: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
    """How many flags of each column are set, in the smallest type that holds it: a quicker pass."""
    return flags.view(np.uint8).sum(axis=0, dtype=np.min_scalar_type(len(flags)))
