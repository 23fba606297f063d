"""What could change the means of an audit, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from example_scores import HALF

from decaf import Blend, Patches, audit
from decaf.errors import DataError
from decaf.library.by_path import TrustByPath
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


def test_the_table_has_the_share_near_the_threshold_and_the_roles():
    columns = linear([0.03, 0.5], weights=[1, 3]).trust().to_columns()
    assert columns["near_frac"].tolist() == [0.25] * 4
    roles = [columns[name].tolist() for name in ("role_half", "role", "role_double")]
    assert roles == [["evidence"] * 4] * 3


def test_a_summary_states_only_what_could_change_it():
    assert linear(np.linspace(0.1, 0.5, 24)).summary().doubts == ()
    # 3 of 24 end near the threshold; 0.03 is fragility at 0.04.
    summary = linear([0.03] * 3 + [0.5] * 21).summary()
    (near,) = summary.doubts
    assert "12.5 % of the pairs" in near
    assert str(summary).endswith(near)
    assert near in summary._repr_html_()
    near, role = linear([0.03] * 24).summary().doubts
    assert "evidence at 0.02, fragility at 0.04" in role
    plus = np.linspace(0.4, 0.9, 24)[:, None]
    (stages,) = audit(lambda x: x**3, plus, 0 * plus, stages=5, epsilon=1e-3).summary().doubts
    assert "use more stages" in stages
    (sample,) = linear(np.linspace(0.1, 0.5, 19)).summary().doubts
    assert "19 sources" in sample


class TestControl:
    """Abs of a straight response to d is |d| / 2 on a blend from the midpoint."""

    def test_the_difference_is_paired_over_common_clusters(self):
        audited = linear([0.4, 0.8, 0.2], clusters=["a", "b", "c"], weights=[1, 3, 5])
        control = linear([0.2, 0.4, 0.4, 9], clusters=["b", "a", "a", "d"])
        trust = audited.trust(control=control)
        # Common clusters: a with 0.2 and 0.2, b with 0.4 and 0.1, of the weights 1 and 3.
        assert trust.control_difference.estimate == pytest.approx((0 + 3 * 0.3) / 4)
        assert trust.control_response == pytest.approx((0.2 + 3 * 0.1) / 4)
        assert trust.control_difference.cluster_count == 2
        assert trust.reacts_to_any_change is None
        assert "2 common sources" in str(trust)

    def test_a_response_to_any_change_is_a_doubt(self):
        strong, weak = linear([0.4] * 24), linear([0.1] * 24)
        assert strong.trust(control=weak).reacts_to_any_change is False
        assert strong.trust(control=weak).doubts == ()
        assert weak.trust(control=strong).reacts_to_any_change is True
        (doubt,) = weak.trust(control=strong).doubts
        assert "any change" in doubt
        assert linear([0.002] * 23 + [0.03]).trust(control=strong).reacts_to_any_change is False

    def test_a_control_that_cannot_be_compared_is_refused(self):
        audited = linear([0.4], clusters=["a"])
        with pytest.raises(DataError, match="cluster"):
            audited.trust(control=linear([0.4], clusters=["b"]))
        with pytest.raises(DataError, match="'line'"):
            audited.trust(control=linear([0.4], clusters=["a"], path={"line": Blend()})["line"])
        of_paths = linear([0.4], clusters=["a"], path={"line": Blend()})
        with pytest.raises(DataError, match="'other'"):
            of_paths.trust(control=linear([0.4], clusters=["a"], path={"other": Blend()}))
        assert of_paths.trust(control=of_paths)["line"].control_difference.estimate == 0


class Classifier:
    """Two classes, of which the second has the first column as its probability."""

    classes_ = np.array([0, 1])

    def predict_proba(self, rows):
        return np.stack([1 - rows[:, 0], rows[:, 0]], axis=1)


def test_a_response_of_a_probability_counts_from_a_hundredth():
    # Straight to 0.04, and once to 0.1: Abs 0.021, above 0.01 and below half of the threshold.
    differences = [0.1, *[0.04] * 23]
    plus = np.array(differences)[:, None]
    audited = audit(Classifier(), plus, 0 * plus, target=1, epsilon=0.1)
    assert audited.trust().roles == ("fragility",) * 3
    assert audited.summary().role == "fragility"
    assert audited.card(1).role == "fragility"
    assert linear(differences, epsilon=0.1).trust().roles == ("no response",) * 3


def test_means_converge_within_half_of_the_smallest_response():
    plus = np.full((24, 1), 0.2)
    trust = audit(Classifier(), plus, 0 * plus, target=1, epsilon=0.2).trust()
    assert trust.is_converged()
    bent = replace(trust, stage_changes=(trust.stage_changes[0]._replace(upper_95=0.006),))
    assert bent.is_converged() is False  # above 0.01 / 2, though below epsilon / 4
    assert replace(bent, smallest=0.1).is_converged()
    assert replace(bent, cluster_count=4).is_converged() is None


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


def test_a_card_indicates_what_fewer_stages_would_change():
    # As above: E and Abs 1/4 and 3/8 on three stages, 1/2 on two.
    card = audit(lambda x: x**3 - x / 2, [[1.0]], [[-1.0]], stages=HALF).card(0)
    assert "at most 0.250:" in card.stage_words
    assert card.stage_words in card._repr_html_()
    assert linear([0.1], stages=4).card(0).stage_words == ""
    assert linear([0.1], stages=[0, 1]).card(0).stage_words == ""


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
    trust = audit(lambda x: np.round(x) * 0.9, plus, 1 - plus, stages=9).trust()
    assert trust.repeats_effect
    assert not trust.is_converged()
    assert "use more stages" not in str(trust)
    assert "use M alone" in str(trust)
    assert not linear([0.1, 0.5]).trust().repeats_effect
    assert not linear([0.1, 0.5], stages=2).trust().repeats_effect


def test_an_even_number_of_stages_cannot_be_halved():
    trust = linear([0.1, 0.2], stages=4).trust()
    assert (trust.stage_changes, trust.is_converged()) == ((), None)
    assert "4 stages are an even" in str(trust)
    columns = trust.to_columns()
    assert len(columns["metric"]) == 4
    assert np.isnan([columns["stage_change"], columns["size"], columns["upper_95"]]).all()


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
    assert linear([0.4], path={"blend": Blend()}).trust().paths_agree is None


@pytest.mark.parametrize(
    ("response", "role", "agree"),
    [
        (0.2, "evidence", True),
        (0.1, "evidence", True),
        (0.09, "evidence", False),
        (0.2, "mixed", False),
        (0.009, "no response", False),
    ],
)
def test_paths_agree_with_one_role_and_half_of_the_response(response, role, agree):
    large = linear([0.4]).trust()  # Abs 0.2, evidence
    other = replace(large, abs_response=response, roles=(role,) * 3)
    trust = TrustByPath(low=other, high=large)
    assert trust.paths_agree is agree
    assert trust.largest == ("low" if response == 0.2 else "high")
    assert f"{response:.2g} ({role}) on low" in str(trust)
    still = [replace(other, abs_response=value, roles=("no response",) * 3) for value in (0, 1e-3)]
    assert TrustByPath(a=still[0], b=still[1]).paths_agree


def test_the_summary_of_the_smaller_path_names_the_larger():
    # r is 7 in the middle and 2 at the end: Abs 4 on three stages, 1 on two.
    paths = {"ends": Blend(stages=[0, 1]), "middle": Blend(stages=HALF)}
    audits = audit(lambda x: x * (9 - 8 * x**2) + 0.5, [[1.0]] * 24, [[-1.0]] * 24, path=paths)
    summaries = audits.summary()
    assert [summaries[name].abs_response.estimate for name in paths] == [1, 4]
    assert "4 (evidence) on middle, 1 (evidence) on ends" in summaries["ends"].doubts[-1]
    assert not any("ends" in doubt for doubt in summaries["middle"].doubts)


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
