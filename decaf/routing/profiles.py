"""From trajectories to profiles: M, E, C, F, Abs and Net of every pair (paper, equation 1)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.foundation.tabular import Columns, Tabular
from decaf.routing.integrals import Integrals, Trajectories
from decaf.routing.route import DEFAULT_EPSILON, check_epsilon


class _Masses(NamedTuple):
    """Computed fields of :class:`Profiles`, which documents them."""

    endpoint_delta: NDArray[np.float64]
    evidence: NDArray[np.float64]
    contradiction: NDArray[np.float64]
    fragility: NDArray[np.float64]
    abs_response: NDArray[np.float64]
    sign_flip_frac: NDArray[np.float64]
    """Stage measure on which the response opposes ``d``, in [0, 1]; NaN on inactive pairs."""
    opposed_mass: NDArray[np.float64]
    """Mass that opposes ``sign(d)``, of inactive pairs as well (0 where ``d = 0``)."""
    is_endpoint_active: NDArray[np.bool_]


class Profiles(_Masses, Tabular):
    """Integrated responses, one entry per trajectory, float64 score units unless stated.

    ``abs_response = evidence + contradiction + fragility`` holds exactly.
    """

    @property
    def endpoint_magnitude(self) -> NDArray[np.float64]:
        """``M = |d|``, computed on access, as is :attr:`net_response`."""
        return np.abs(self.endpoint_delta)

    @property
    def net_response(self) -> NDArray[np.float64]:
        """``Net = E - C``."""
        return self.evidence - self.contradiction

    def columns(self) -> Columns:
        """Every quantity by its column name in tables of profiles."""
        return {
            **self._asdict(),
            "endpoint_magnitude": self.endpoint_magnitude,
            "net_response": self.net_response,
        }

    def to_columns(self) -> Columns:
        """Table with one row per trajectory.

        The first columns are its place (``pair``, and ``axis_1`` … if there are more axes), the
        others every quantity.
        """
        places = np.indices(np.shape(self.evidence))
        names = ["pair", *(f"axis_{axis}" for axis in range(1, len(places)))]
        table = dict(zip(names, places, strict=False)) | self.columns()
        return {name: np.ravel(values) for name, values in table.items()}


def profile(
    response: ArrayLike,
    grid: ArrayLike | None = None,
    epsilon: float = DEFAULT_EPSILON,
    endpoint: ArrayLike | None = None,
    *,
    measure: ArrayLike | None = None,
    stage_axis: int = -1,
) -> Profiles:
    """Integrate the routed response of every trajectory over the stages (paper, equation 1).

    Apart from the results, it needs a few MiB, for any number of pairs and any precision.

    Parameters
    ----------
    response
        ``r(t) = q(x+(t)) - q(x-(t))``, (..., n_stages), score units.
    grid
        (n_stages,) strictly increasing from 0 to 1; its trapezoid weights are the stage measure.
    epsilon
        Threshold in score units; equality is active.
    endpoint
        ``d``, in a form of :func:`decaf.routing.route.route`; by default the last stage of the
        response. A given ``d`` may differ from the last stage, and counts instead of it.
    measure
        (n_stages,) weights of the stages in place of a grid, non-negative with sum 1.
    stage_axis
        Axis of ``response`` that holds the stages.

    Returns
    -------
    Profiles
        Arrays of the response's shape without the stage axis.

    Raises
    ------
    ResponseError
        For non-finite or empty input, shapes that do not match, a bad grid or measure, both or
        neither of them, or ``epsilon <= 0``.

    Examples
    --------
    >>> p = profile([[0.0, -0.2, 0.4]], [0, 0.5, 1])
    >>> p.evidence.round(12).tolist(), p.contradiction.round(12).tolist()
    ([0.1], [0.1])

    Two contexts, the second with weight 0.25 and a reversed effect:

    >>> profile([[0.4, -0.4]], measure=[0.75, 0.25], endpoint=[0.4]).contradiction.tolist()
    [0.1]
    """
    threshold = check_epsilon(epsilon)
    trajectories = Trajectories(response, grid, endpoint, measure, stage_axis)
    out = _empty_profiles(len(trajectories))

    def take(block: slice, sums: Integrals) -> None:
        _gate(sums, threshold, Profiles._make(column[block] for column in out))

    trajectories.integrate(take)
    return Profiles._make(column.reshape(trajectories.shape) for column in out)


def gate(sums: Integrals, epsilon: float = DEFAULT_EPSILON) -> Profiles:
    """Profiles of integrated trajectories at a threshold (paper, section 3).

    With ``a = 1{|d| >= epsilon}`` and integrals over the stages, ``E = a int (s r)+``,
    ``C = a int (s r)-`` and ``F = (1 - a) int |r|``; ``Abs = E + C + F``, ``Net = E - C``. Raises
    ResponseError for ``epsilon <= 0``.

    >>> from decaf.routing.integrals import integrate
    >>> sums = integrate([[0.0, -0.2, 0.4]], [0, 0.5, 1])
    >>> gate(sums, 0.1).evidence.tolist(), gate(sums, 0.5).fragility.tolist()
    ([0.1], [0.2])
    """
    out = _empty_profiles(*sums.endpoint_delta.shape)
    _gate(sums, check_epsilon(epsilon), out)
    return out


def _empty_profiles(*shape: int) -> Profiles:
    # One array for all columns is large enough for huge pages; page faults cost as much as a third
    # of the arithmetic.
    numbers = np.empty((len(Profiles._fields) - 1, *shape))
    columns = (numbers[i, ...] for i in range(len(numbers)))
    return Profiles._make([*columns, np.empty(shape, np.bool_)])


def _gate(sums: Integrals, epsilon: float, out: Profiles) -> None:
    """Write the profiles into ``out``, which may be a slice of a larger result."""
    d, aligned, opposed, opposed_frac = sums
    a = np.greater_equal(np.abs(d), epsilon, out=out.is_endpoint_active)
    is_null = ~a
    np.copyto(out.endpoint_delta, d)
    np.multiply(a, aligned, out=out.evidence)
    np.multiply(a, opposed, out=out.contradiction)
    np.add(aligned, opposed, out=out.abs_response)  # |r| = (s r)+ + (s r)-
    np.multiply(is_null, out.abs_response, out=out.fragility)
    np.multiply(d != 0, opposed, out=out.opposed_mass)
    np.copyto(out.sign_flip_frac, opposed_frac)
    np.copyto(out.sign_flip_frac, np.nan, where=is_null)
