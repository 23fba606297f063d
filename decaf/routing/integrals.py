"""Integrals of trajectories, block by block, whatever their number.

The integrals of the parts of ``r`` that agree with ``sign(d)`` and oppose it do not depend on the
threshold: the gate comes after them (:mod:`decaf.routing.profiles`).
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.quadrature import check_measure, trapezoid_weights
from decaf.routing.route import as_reals, as_scores, one_per_trajectory, stages_last

VALUES_AT_ONCE = 1 << 19
"""Responses in the blocks of all threads: 2 MiB of float64 each for two, 1 MiB for four.

Passes stay in cache and outweigh the calls, and the memory does not grow with the threads.
"""

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
        values, group = np.unique(self._weights, return_inverse=True)
        self._stages_of_weight = [
            (weight, np.flatnonzero(group == number)) for number, weight in enumerate(values)
        ]
        self._given = np.atleast_1d(as_reals(response))
        *shape, stages = stages_last(self._given, stage_axis).shape
        if stages != self._weights.size:
            raise ResponseError(
                f"response has shape {self._given.shape}, hence {stages} stages along axis "
                f"{stage_axis}; expected {self._weights.size}"
            )
        self.shape = tuple(shape)
        self._rows = stages_last(self._given, stage_axis).reshape(-1, stages)
        if endpoint is None:
            self._endpoint = self._rows[:, -1]
        else:
            self._endpoint = one_per_trajectory(endpoint, self._given.shape, stage_axis).ravel()

    def __len__(self) -> int:
        return len(self._rows)

    def integrate(self, out: Integrals, then: Callable[[slice], None] | None = None) -> None:
        """Fill ``out``, (n_trajectories,) each; call ``then`` on the rows of every finished block.

        Large inputs are shared between threads, each with rows and buffers of its own: how many
        there are changes no number by more than rounding.
        """
        wanted = self._rows.size // VALUES_PER_THREAD
        threads = max(1, min(wanted, MAX_THREADS, os.cpu_count() or 1, len(self)))
        step = max(1, VALUES_AT_ONCE // (max(threads, 2) * self._weights.size))
        bounds = [len(self) * i // threads for i in range(threads + 1)]
        shares = [range(first, last) for first, last in pairwise(bounds)]
        if threads == 1:
            self._integrate_rows(shares[0], step, out, then)
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda share: self._integrate_rows(share, step, out, then), shares))

    def _integrate_rows(
        self, share: range, step: int, out: Integrals, then: Callable[[slice], None] | None
    ) -> None:
        stages, step = self._weights.size, min(step, len(share))
        floats = np.empty((2, stages * step))
        flags = np.empty(stages * step, np.bool_)
        with np.errstate(invalid="ignore", over="ignore"):
            for start in share[::step]:
                rows = slice(start, min(start + step, share.stop))
                size = stages * (rows.stop - rows.start)
                planes = floats[:, :size].reshape(2, stages, -1)
                block = Integrals(*(column[rows] for column in out))
                self._integrate_block(rows, planes, flags[:size].reshape(stages, -1), block)
                if then:
                    then(rows)

    def _integrate_block(
        self,
        rows: slice,
        planes: NDArray[np.float64],
        flags: NDArray[np.bool_],
        out: Integrals,
    ) -> None:
        # Stages come first in the buffers, which makes every pass contiguous. einsum and not a
        # BLAS product: BLAS starts threads here, which crawl when other processes hold the cores.
        oriented, part = planes
        np.copyto(out.endpoint_delta, self._endpoint[rows], casting="same_kind")
        np.multiply(self._rows[rows].T, np.copysign(1.0, out.endpoint_delta), out=oriented)
        # Against an array of zeros maximum is vectorised; against a number it is not.
        np.maximum(oriented, np.zeros(oriented.shape[1]), out=part)
        np.einsum("tn,t->n", part, self._weights, out=out.aligned)
        np.subtract(part, oriented, out=part)
        np.einsum("tn,t->n", part, self._weights, out=out.opposed)
        np.less(oriented, 0.0, out=flags)
        # Counted in bytes, a weight at a time: uniform grids have two.
        measure = out.opposed_frac
        measure[...] = 0.0
        for weight, stages in self._stages_of_weight:
            smallest = np.min_scalar_type(stages.size)
            measure += weight * np.add.reduce(flags.view(np.uint8)[stages], axis=0, dtype=smallest)
        if not np.isfinite(out.aligned.sum() + out.opposed.sum()):
            as_scores(self._given)


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
    out = Integrals(*(np.empty(len(trajectories)) for _ in Integrals._fields))
    trajectories.integrate(out)
    return Integrals(*(column.reshape(trajectories.shape) for column in out))
