"""Estimates of time, by hand: of a model, of any model, of none, and on several workers."""

from collections import Counter

import pytest

from decaf.plan.units import Unit
from tasks.estimate import Estimate, Remaining, count_work, work_of

SCAN, RISE = work_of("a", "score", "blend"), work_of("a", "attribute", "rise")


@pytest.fixture
def estimate():
    """Two units of a took 6 s, one of b took 9 s; maps of a took 10 s each."""
    known = Estimate(workers=2)
    known.learn(SCAN, 2, 6.0)
    known.learn(work_of("b", "predict", ""), 1, 9.0)
    known.learn(RISE, 3, 30.0)
    return known


@pytest.mark.parametrize(
    ("left", "seconds"),
    [
        ({}, 0.0),
        ({SCAN: 4}, 4 * 3 / 2),
        ({work_of("b", "score", "patch"): 2}, 2 * 9 / 2),
        ({work_of("new", "predict", ""): 2}, 2 * (6 + 9) / 3 / 2),  # as any model took
        ({SCAN: 4, RISE: 1}, (12 + 10) / 2),
        ({SCAN: 4, work_of("a", "explain", "lime"): 1}, None),
        ({SCAN: 4, work_of("a", "explain", "lime"): 0}, 6.0),
    ],
)
def test_seconds(estimate, left, seconds):
    assert estimate.seconds(left) == seconds


def units(kind, count, model_id="a"):
    return [Unit(kind, "", model_id, block, {}) for block in range(count)]


def test_routing_and_what_is_of_no_model_take_no_time():
    of_all = units("analyse", 1, None)
    asked = [*units("predict", 2), *units("score", 3), *units("route", 4), *of_all]
    assert count_work(asked) == Counter({SCAN: 5})


def test_what_is_left_is_learnt_from_what_is_done():
    remaining = Remaining(Estimate(), units("predict", 10))
    assert remaining.seconds() is None
    remaining.take(units("predict", 1), 0.0)  # its receipt was there: it says nothing
    assert remaining.seconds() is None
    remaining.take(units("predict", 2), 8.0)
    assert remaining.seconds() == 7 * 4.0
