"""Refuse limits that no value can break, or that every value breaks."""

from collections.abc import Mapping, Sequence
from itertools import product

from decaf.foundation.settings import fault
from decaf.plan.expectations import Expectation, LimitedExpectation
from decaf.registry.gates import IN_SCORE_UNITS, RULES, Gate
from decaf.routing.route import SHARE_ADVICE
from decaf.scoring.scores.base import ScoreDefinition


def check_limits(
    score: ScoreDefinition,
    epsilon: float,
    expect: Mapping[str, Expectation],
    gates: Mapping[str, Sequence[Gate]],
) -> None:
    """Refuse a threshold, or a limit of `expect:` or `gates:`, outside of what it limits.

    A response lies between 0 and the span of the score, a share or an accuracy between 0 and 1.
    The span of scores without bounds is not known. Raises a fault, for pydantic, that names the
    key.
    """
    span = None if score.bounds is None else score.bounds[1] - score.bounds[0]
    if span is not None and epsilon > span:
        raise fault(
            f"'epsilon: {epsilon:g}': no difference exceeds {span:g}; {SHARE_ADVICE}",
            "epsilon",
        )
    for pair_type, stated in expect.items():
        if isinstance(stated, LimitedExpectation):
            kind, limit = next((kind, limit) for kind, limit in stated if limit is not None)
            for rule, value in limit:
                _check_limit(value, rule, span, "expect", pair_type, kind)
    for metric, limits in gates.items():
        largest = span if metric in IN_SCORE_UNITS else 1.0
        for gate, rule in product(limits, RULES):
            if (value := getattr(gate, rule)) is not None:
                _check_limit(value, rule, largest, "gates", metric)


def _check_limit(value: float, rule: str, largest: float | None, *keys: str) -> None:
    """Refuse a limit of values from 0 to ``largest``, which is None if it is not known."""
    problem = ""
    if value < 0 and rule == "at_most":
        problem = "fails every version, since no value is below 0; expected a larger limit"
    elif value <= 0 and rule == "at_least":
        problem = "decides nothing, since no value is below 0; expected a larger limit"
    elif largest is None:
        return
    elif rule == "at_least" and value > largest:
        problem = f"is more than the largest possible value, {largest:g}; {SHARE_ADVICE}"
    elif rule != "at_least" and value >= largest:
        problem = f"limits nothing, since no value exceeds {largest:g}; {SHARE_ADVICE}"
    if problem:
        raise fault(f"'{'.'.join(keys)}': '{rule}: {value:g}' {problem}", keys[0])
