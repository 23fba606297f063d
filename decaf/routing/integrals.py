"""Integrals of the oriented response over the stages, computed in blocks of bounded size.

With ``s = sign(d)`` and ``z(t) = s r(t)``, a profile needs three integrals of a trajectory: of
``z+``, of ``z-`` and of ``1{z < 0}`` (paper, appendix C.1). They do not depend on the threshold:
:mod:`decaf.routing.profiles` splits them by the threshold.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.quadrature import check_measure, trapezoid_weights
from decaf.routing.route import as_reals, as_scores, endpoint_per_trajectory, stages_last

VALUES_PER_BLOCK = 1 << 17
"""Responses of a block: 1 MiB of float64, so that its passes stay in the cache."""

VALUES_PER_THREAD = 1 << 20
"""Fewest responses for which another thread saves time."""

MAX_THREADS = 4
"""Upper limit of threads; more threads would wait for memory."""


class Integrals(NamedTuple):
    """Oriented integrals, one entry per trajectory, float64; independent of the threshold.

    The orientation ``s`` is the sign of ``d``; where ``d = 0`` it is the sign bit of that zero.
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

    Parameters and errors are those of :func:`decaf.routing.profiles.profile`; integration checks
    that responses are finite.
    """

    def __init__(
        self,
        response: ArrayLike,
        grid: ArrayLike | None,
        endpoint: ArrayLike | None,
        measure: ArrayLike | None,
        stage_axis: int,
    ) -> None:
        if grid is not None and measure is None:
            self._weights = trapezoid_weights(grid)
        elif grid is None and measure is not None:
            self._weights = check_measure(measure)
        else:
            count = "neither" if grid is None else "both"
            raise ResponseError(
                f"found {count} of a stage grid and a stage measure; give exactly one"
            )
        self._stages_of_weight = {
            weight: np.flatnonzero(self._weights == weight) for weight in np.unique(self._weights)
        }
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
            self._endpoint = endpoint_per_trajectory(
                endpoint, self._response.shape, stage_axis
            ).ravel()

    def __len__(self) -> int:
        return len(self._rows)

    def integrate(self, take: Callable[[slice, Integrals], None]) -> None:
        """Call ``take`` with the integrals of each block of trajectories once they are computed.

        Threads share the blocks of large inputs; the number of threads changes no result.
        """
        size = min(len(self), max(1, VALUES_PER_BLOCK // self._weights.size))
        threads = min(self._rows.size // VALUES_PER_THREAD, MAX_THREADS, os.cpu_count() or 1)
        starts = iter(range(0, len(self), size))

        def integrate_blocks(_thread: int) -> None:
            parts = np.empty((2, self._weights.size, size))
            for start in starts:  # the threads share the iterator: each block goes to one of them
                block = slice(start, min(start + size, len(self)))
                take(block, self._integrals(block, parts[..., : block.stop - start]))

        if threads < 2:
            integrate_blocks(0)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(integrate_blocks, range(threads)))

    def _integrals(self, block: slice, parts: NDArray[np.float64]) -> Integrals:
        with np.errstate(invalid="ignore", over="ignore"):
            d = self._endpoint[block].astype(np.float64)
            sums = _integrate_block(
                self._rows[block], d, self._weights, self._stages_of_weight, parts
            )
            if not np.isfinite((sums.aligned + sums.opposed).sum()):
                as_scores(self._response)  # raises with the first value that is not finite
        return sums


def integrate(
    response: ArrayLike,
    grid: ArrayLike | None = None,
    endpoint: ArrayLike | None = None,
    *,
    measure: ArrayLike | None = None,
    stage_axis: int = -1,
) -> Integrals:
    """Integrate responses; :func:`decaf.routing.profiles.gate` makes profiles at any threshold.

    Parameters and errors are those of :func:`decaf.routing.profiles.profile`.

    Examples
    --------
    >>> sums = integrate([[0.0, -0.2, 0.4]], [0, 0.5, 1])
    >>> sums.aligned.tolist(), sums.opposed.tolist(), sums.opposed_frac.tolist()
    ([0.1], [0.1], [0.5])
    """
    trajectories = Trajectories(response, grid, endpoint, measure, stage_axis)
    columns = np.empty((len(Integrals._fields), len(trajectories)))

    def take(block: slice, sums: Integrals) -> None:
        columns[:, block] = sums

    trajectories.integrate(take)
    return Integrals(*(column.reshape(trajectories.shape) for column in columns))


def _integrate_block(
    r: NDArray[np.floating],
    d: NDArray[np.float64],
    w: NDArray[np.float64],
    stages_of_weight: Mapping[float, NDArray[np.intp]],
    parts: NDArray[np.float64],
) -> Integrals:
    """Integrals of (n, n_stages) responses under the stage weights ``w``.

    ``parts`` is scratch of (2, n_stages, n): stages come first, so that every pass is contiguous.
    einsum is used and not a BLAS product: BLAS starts threads here, which crawl when other
    processes hold the cores.
    """
    z_plus, z = parts
    np.multiply(r.T, np.copysign(1.0, d), out=z, dtype=np.float64)
    is_opposed = z < 0
    np.maximum(z, np.zeros(len(d)), out=z_plus)  # a scalar 0 would be slower: it is not vectorised
    np.subtract(z_plus, z, out=z)  # z- = z+ - z
    aligned, opposed = np.einsum("ktn,t->kn", parts, w)
    opposed_frac: Any = sum(
        weight * _count(is_opposed[stages]) for weight, stages in stages_of_weight.items()
    )
    return Integrals(d, aligned, opposed, opposed_frac)


def _count(flags: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
    """Number of set flags in each column, in the smallest type that holds it, which is fastest."""
    return flags.view(np.uint8).sum(axis=0, dtype=np.min_scalar_type(len(flags)))
