"""Profiles of the same trajectories at several thresholds; integrals are computed once."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from decaf.errors import ResponseError
from decaf.routing.integrals import Integrals
from decaf.routing.population import Population, summarise
from decaf.routing.profiles import gate
from decaf.routing.route import check_epsilon


class ThresholdStep(NamedTuple):
    """Changes from one threshold to the next, score units unless stated.

    No component changes by more than ``bound = B P(lower <= |d| < upper)``, with ``B`` the
    largest Abs of a pair (paper, appendix B.8).
    """

    lower: float
    upper: float
    evidence_change: float
    contradiction_change: float
    fragility_change: float
    crossing_rate: float
    """Share of pairs that are active at ``lower`` and not at ``upper``, in [0, 1]."""
    bound: float


class Sweep(NamedTuple):
    """Population summaries at every threshold, and the steps between neighbours."""

    epsilons: tuple[float, ...]
    populations: tuple[Population, ...]
    steps: tuple[ThresholdStep, ...]


def sweep(sums: Integrals, epsilons: Sequence[float]) -> Sweep:
    """Summarise integrated trajectories at every threshold (paper, appendix B.8).

    Parameters
    ----------
    sums
        As :func:`decaf.routing.integrals.integrate` returns them, any shape.
    epsilons
        Thresholds in score units, strictly increasing.

    Raises
    ------
    ResponseError
        For other values than integrals, and for thresholds that are not above zero, do not
        increase, or are not in a list.

    Examples
    --------
    >>> from decaf.routing.integrals import integrate
    >>> swept = sweep(integrate([[0.0, 0.4], [0.0, 0.03]], [0, 1]), [0.02, 0.05])
    >>> [p.active_rate for p in swept.populations]
    [1.0, 0.5]
    >>> [round(x, 12) for x in (swept.steps[0].fragility_change, swept.steps[0].bound)]
    [0.0075, 0.1]
    """
    if not isinstance(sums, Integrals):
        raise ResponseError(
            f"sums is a {type(sums).__name__}; expected the result of decaf.integrate(response, "
            "grid), where an audit has response and grid"
        )
    if np.ndim(epsilons) != 1:
        raise ResponseError(f"epsilons is {epsilons!r}; expected a list of thresholds")
    thresholds = tuple(check_epsilon(epsilon) for epsilon in epsilons)
    if not thresholds or any(lower >= upper for lower, upper in pairwise(thresholds)):
        raise ResponseError(
            f"thresholds are {list(thresholds)}; expected at least one, strictly increasing"
        )
    populations = tuple(summarise(gate(sums, epsilon)) for epsilon in thresholds)
    largest = float(np.max(sums.aligned + sums.opposed))
    magnitude = np.abs(sums.endpoint_delta)
    steps = []
    for (lower, before), (upper, after) in pairwise(zip(thresholds, populations, strict=True)):
        crossing = float(np.mean((lower <= magnitude) & (magnitude < upper)))
        step = ThresholdStep(
            lower=lower,
            upper=upper,
            evidence_change=after.evidence - before.evidence,
            contradiction_change=after.contradiction - before.contradiction,
            fragility_change=after.fragility - before.fragility,
            crossing_rate=crossing,
            bound=largest * crossing,
        )
        steps.append(step)
    return Sweep(thresholds, populations, tuple(steps))
