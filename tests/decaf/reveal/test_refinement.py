"""Doubling of stage grids, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.errors import ResponseError
from decaf.library.auditing import audit
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.gaussian import GaussianReveal
from decaf.reveal.paths.patches import Patches
from decaf.reveal.refinement import Refinement, double_grid

START = np.array([0.0, 0.5, 1.0])
NINE = np.linspace(0, 1, 9)


def counts(rule):
    """Numbers of stages from the start of a rule to its end."""
    found = []
    while rule is not None:
        found.append(len(rule.grid))
        rule = rule.refine()
    return found


def test_stages_lie_in_the_middle_between_their_neighbours():
    assert double_grid(START).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert double_grid(np.array([0.0, 0.5, 0.75, 1.0])).tolist() == [
        *(0.0, 0.25, 0.5, 0.625),
        *(0.75, 0.875, 1.0),
    ]


@given(st.integers(2, 300))
def test_an_evenly_spaced_grid_stays_one_to_the_last_bit(stage_count):
    finer = double_grid(np.linspace(0, 1, stage_count))
    np.testing.assert_array_equal(finer, np.linspace(0, 1, 2 * stage_count - 1))
    np.testing.assert_array_equal(finer[::2], np.linspace(0, 1, stage_count))


@pytest.mark.parametrize(
    ("at_most", "exact", "expected"),
    [
        (9, None, [9]),
        (33, None, [9, 17, 33]),
        (65, 65, [9, 17, 33, 65]),
        (129, 65, [9, 17, 33, 65]),  # 64 patches
        (65, 50, [9, 17, 33, 50]),  # 49 patches: the last step shows them one by one
        (33, 50, [9, 17, 33]),
        (33, 5, [9]),  # 4 patches
    ],
)
def test_stages_double_up_to_the_most_or_to_all_states(at_most, exact, expected):
    assert counts(Refinement(0.01, at_most).settle(NINE, exact, None)) == expected


@pytest.mark.parametrize(
    ("recorded", "stage_count"),
    [(np.linspace(0, 1, 17), 17), (np.linspace(0, 1, 65), 9), (np.linspace(0, 1, 12), 9)],
    ids=["reached", "beyond the most", "another start"],
)
def test_an_earlier_grid_is_kept_where_doubling_reaches_it(recorded, stage_count):
    settled = Refinement(0.01, 33).settle(NINE, None, tuple(recorded.tolist()))
    assert len(settled.grid) == stage_count


@pytest.mark.parametrize(("start", "at_most"), [(9, 5), (9, 18), (5, 65 + 1), (6, 17)])
def test_a_number_that_doubling_does_not_reach_is_refused(start, at_most):
    with pytest.raises(ResponseError, match=str(2 * start - 1)):
        Refinement(0.01, at_most).check_start(start)


@pytest.mark.parametrize(("until", "at_most"), [(0.0, 9), (-1.0, 9), (0.1, 1), (0.1, 10_001)])
def test_a_rule_without_a_tolerance_or_an_end_is_refused(until, at_most):
    with pytest.raises(ResponseError):
        Refinement(until, at_most)


def test_paths_know_how_many_stages_show_all_states():
    assert Patches(side=7).exact_stages == 50
    assert Blend().exact_stages is None


def test_what_cannot_be_refined_is_refused():
    rule = Refinement(0.01, 17)
    with pytest.raises(ResponseError):
        GaussianReveal(chain="reverse_markov", stages=rule)
    rows = np.zeros((2, 3))
    with pytest.raises(ResponseError):
        audit(lambda x: x.sum(axis=1), rows, rows + 1, path=Blend(sigma=0, stages=rule))
