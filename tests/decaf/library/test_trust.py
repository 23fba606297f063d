"""What could change the means of an audit, by hand."""

import numpy as np
import pytest
from example_scores import HALF

from decaf import Blend, Patches, audit
from decaf.library.trust import group_role


def linear(differences, **options):
    """Audit a score that goes straight to each endpoint difference."""
    plus = np.array(differences)[:, None]
    return audit(lambda x: x, plus, np.zeros_like(plus), **options)


def test_a_difference_near_the_threshold_changes_its_role():
    trust = linear([0.03]).trust()
    assert (trust.epsilon, trust.near_frac) == (0.02, 1)
    assert trust.roles == ("evidence", "evidence", "fragility")
    assert not trust.is_firm
    assert "fragility at 0.04" in str(trust)


def test_a_small_mean_response_has_no_main_role_though_pairs_respond():
    # Straight to 0.03 and three times to 0.002: Abs 0.015 and 0.001, 0.0045 of all.
    trust = linear([0.03, 0.002, 0.002, 0.002]).trust()
    assert (trust.near_frac, trust.roles) == (0.25, ("no response",) * 3)
    assert trust.abs_response == pytest.approx(0.0045)
    assert "no response" not in str(trust)
    assert "0.0045" in str(trust)


def test_the_share_near_the_threshold_is_by_weight():
    # 0.01 and 0.04 are the edges: the first is within, the second is not.
    trust = linear([0.01, 0.04, 0.5], weights=[1, 2, 1]).trust()
    assert trust.near_frac == 0.25
    assert trust.roles == ("evidence",) * 3


def test_every_second_stage_gives_another_integral():
    # r = 0, -1/4, 1 at 0, 1/2, 1: E 1/4 and C 1/8; of 0 and 1 alone, E 1/2.
    trust = audit(lambda x: x**3 - x / 2, [[1.0]], [[-1.0]], stages=HALF).trust()
    assert [each.estimate for each in trust.stage_changes] == [-0.25, 0.125, 0, -0.125]
    assert trust.stage_sizes == (0.25, 0.125, 0, 0.125)
    assert trust.is_converged() is None  # one cluster has no interval
    assert "at most 0.25 (no intervals" in str(trust)
    assert trust.to_columns()["metric"].tolist() == [
        *("evidence", "contradiction", "fragility", "abs_response")
    ]


def test_a_straight_response_has_converged():
    trust = linear(np.linspace(0.1, 0.5, 24)).trust()
    assert trust.is_converged()
    assert trust.is_converged(0.0) is (max(trust.stage_sizes) == 0)
    assert "use more stages" not in str(trust)


def test_the_largest_bound_of_an_interval_is_printed_as_one():
    plus = np.linspace(0.1, 0.9, 24)[:, None]
    trust = audit(lambda x: x**3, plus, np.zeros_like(plus), stages=5).trust()
    bound = max(max(abs(each.lower_95), abs(each.upper_95)) for each in trust.stage_changes)
    assert bound > max(abs(each.estimate) for each in trust.stage_changes)
    assert f"at most {bound:.2g} (95 % intervals)" in str(trust)


def test_a_change_that_flips_needs_no_more_stages():
    # The response is 0 up to the middle and d after it, so fewer stages give another E.
    plus = np.linspace(0.6, 1, 24)[:, None]
    trust = audit(lambda x: np.round(x), plus, 1 - plus, stages=9).trust()
    assert trust.repeats_effect
    assert not trust.is_converged()
    assert "use more stages" not in str(trust)
    assert "use M alone" in str(trust)
    assert not linear([0.1, 0.5]).trust().repeats_effect
    assert not linear([0.1, 0.5], stages=2).trust().repeats_effect


def test_an_even_number_of_stages_cannot_be_halved():
    trust = linear([0.1, 0.2], stages=4).trust()
    assert (trust.stage_changes, trust.is_converged()) == ((), None)
    assert "stages, 4, is even" in str(trust)
    assert not len(trust.to_columns()["metric"])


@pytest.mark.parametrize(("count", "is_said"), [(4, True), (19, True), (20, False)])
def test_few_clusters_are_said(count, is_said):
    assert (f"{count} sources" in str(linear(np.linspace(0.1, 0.5, count)).trust())) is is_said


def test_every_path_has_its_own():
    images = np.random.default_rng(0).random((2, 6, 1, 8, 8), np.float32)
    paths = {"blend": Blend(), "patch": Patches(side=4)}
    audits = audit(lambda x: x.mean(axis=(1, 2, 3)), *images, path=paths)
    trust = audits.trust()
    assert {*trust} == {"blend", "patch"}
    assert {*trust.to_columns()["path"]} == {"blend", "patch"}


@pytest.mark.parametrize(
    ("means", "role"),
    [
        ((0.25, 0.125, 0.125), "evidence"),
        ((0.125, 0.25, 0.125), "contradiction"),
        ((0, 0.125, 0.25), "fragility"),
        ((0.25, 0.25, 0), "evidence"),
        ((0.2, 0.2, 0.2), "mixed"),
        ((0.004, 0.004, 0), "no response"),
    ],
)
def test_the_main_role_of_a_group(means, role):
    assert group_role(*means, 0.01) == role
