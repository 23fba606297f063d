"""Remarks on the pairs and the scores of an audit."""

from collections.abc import Mapping

import numpy as np

from decaf.errors import number_of
from decaf.foundation.arrays import Array
from decaf.library.findings import Audit
from decaf.routing.route import DEFAULT_EPSILON, PROBABILITY_UNITS

ROUNDING = 1e-6
"""Distance from [0, 1] of a probability in float32."""


def remark_on_equal_pairs(x_plus: Array, x_minus: Array) -> str:
    """Remark that counts the pairs whose two inputs, (n, …) each, are equal; empty without any."""
    count = len(x_plus)
    equal_count = int((x_plus == x_minus).reshape(count, -1).all(1).sum())
    if not equal_count:
        return ""
    if equal_count == count:
        return (
            f"x_minus equals x_plus in all of {number_of(count, 'pair')}, so every response is 0 "
            "and shows nothing about the score; to change x_minus, make it from a copy, such as "
            "x_plus.copy()"
        )
    return (
        f"{equal_count} of {count} pairs are equal: their responses are 0 and reduce every mean; "
        "leave out the rows in which x_minus equals x_plus"
    )


def remark_on_units(audits: Mapping[str, Audit]) -> str:
    """Remark on scores outside [0, 1], for the default epsilon; empty without any."""
    low, high = _score_range(audits)
    if _are_shares(low, high):
        return ""
    return (
        f"scores go from {low:.3g} to {high:.3g}, so they are not probabilities, but "
        f"the default epsilon {DEFAULT_EPSILON:g} is meant for probabilities; give epsilon in "
        "units of the score, or a score that returns probabilities (softmax of logits)"
    )


def remark_on_epsilon(audits: Mapping[str, Audit], epsilon: float) -> str:
    """Remark on an epsilon that no pair reaches; empty for scores outside [0, 1] or no response."""
    low, high = _score_range(audits)
    responses = [audited.response[audited.is_finite] for audited in audits.values()]
    endpoints = [np.abs(response[..., -1]) for response in responses]
    is_reached = any((endpoint >= epsilon).any() for endpoint in endpoints)
    if is_reached or not _are_shares(low, high) or not any(map(np.any, responses)):
        return ""
    return (
        f"no pair reaches epsilon {epsilon:g}, so all response is fragility: the largest |d| is "
        f"{max(endpoint.max() for endpoint in endpoints):.3g}; {PROBABILITY_UNITS}"
    )


def _are_shares(low: float, high: float) -> bool:
    return low >= -ROUNDING and high <= 1 + ROUNDING


def _score_range(audits: Mapping[str, Audit]) -> tuple[float, float]:
    """Smallest and largest score of all branches, score units."""
    scores = [branch for audited in audits.values() for branch in (audited.q_plus, audited.q_minus)]
    low = min(float(np.nanmin(branch)) for branch in scores)
    high = max(float(np.nanmax(branch)) for branch in scores)
    return low, high
