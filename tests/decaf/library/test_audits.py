from urllib.parse import unquote

import numpy as np
import pytest
from example_scores import HALF, Counting, classes, images

import decaf
from decaf import DataWarning, audit
from decaf.errors import DataError, ModelError, ResponseError
from decaf.library.pair_card import PairCard


class TestThresholds:
    def test_another_threshold_asks_the_model_nothing(self):
        score = Counting(lambda x: x.sum(axis=1))
        audited = audit(score, [[0.5], [0.1]], [[0.0], [0.0]])
        asked = len(score.batches)
        strict = audited.at(0.3)
        assert len(score.batches) == asked
        np.testing.assert_allclose(strict.profiles.evidence, [0.25, 0])
        np.testing.assert_allclose(strict.profiles.fragility, [0, 0.05])
        np.testing.assert_allclose(audited.profiles.evidence, [0.25, 0.05])

    @pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, True, "0.1"])
    def test_impossible_thresholds_are_refused(self, epsilon):
        with pytest.raises(ResponseError, match="above 0"):
            audit(lambda x: x.sum(axis=1), [[1.0]], [[0.0]]).at(epsilon)


class TestSummary:
    def test_intervals_are_those_of_the_reference(self):
        plus, minus = images()
        clusters = ["b", "b", "a", "a", "c", "c"]
        audited = audit(classes, plus, minus, target=0, epsilon=0.02, clusters=clusters)
        summary, profiles = audited.summary(), audited.profiles
        assert summary.evidence == decaf.bootstrap_mean(profiles.evidence, clusters)
        assert summary.abs_response == decaf.bootstrap_mean(profiles.abs_response, clusters)
        assert summary.evidence.cluster_count == 3
        assert (summary.pair_count, summary.quarantined_count) == (6, 0)
        other = audited.summary(replicates=50, seed=1).fragility
        assert other == decaf.bootstrap_mean(profiles.fragility, clusters, replicates=50, seed=1)

    def test_means_count_pairs_by_their_weights(self):
        # E of a linear score is half the difference on an even grid: 1/2, 1 and 2.
        x, weights = np.array([[1.0], [2.0], [4.0]]), [1, 2, 5]
        audited = audit(lambda x: x.sum(axis=1), x, 0 * x, weights=weights)
        summary = audited.summary()
        assert summary.evidence.estimate == (1 * 0.5 + 2 * 1 + 5 * 2) / 8
        assert summary.evidence == decaf.bootstrap_mean([0.5, 1, 2], weights=weights)
        assert audited.profiles.to_columns()["weight"].tolist() == weights
        assert "weight" not in audit(lambda x: x.sum(axis=1), x, 0 * x).pair_columns()
        drawn = audited.plot_mean().to_dict()["datasets"]
        ends = [row["response"] for row in next(iter(drawn.values())) if row["t"] == 1]
        assert ends == [(1 * 1 + 2 * 2 + 5 * 4) / 8, 0, 0]
        for impossible in ([1, 2], [1, 0, 1], [1, np.nan, 1], [[1], [1], [1]]):
            with pytest.raises(ResponseError, match="finite numbers above 0"):
                audit(lambda x: x.sum(axis=1), x, 0 * x, weights=impossible)

    def test_it_prints_as_a_table(self):
        x = np.arange(4.0)[:, None]
        summary = audit(lambda x: x.sum(axis=1), x, x - 3).summary()
        head, *rows, remark = str(summary).splitlines()
        assert all(value in head for value in ("4 pairs", "4 sources", "0.02", "95 %"))
        assert rows == [
            "M   endpoint magnitude       3.000  [3.000, 3.000]",
            "E   evidence                 1.500  [1.500, 1.500]",
            "C   contradiction            0.000  [0.000, 0.000]",
            "F   fragility                0.000  [0.000, 0.000]",
            "Abs E + C + F                1.500  [1.500, 1.500]",
            "Net E - C                    1.500  [1.500, 1.500]",
            "    active pairs, share      1.000  [1.000, 1.000]",
        ]
        assert remark == "4 sources: intervals are unreliable."
        html = summary._repr_html_()
        assert f"{remark}</caption>" in html
        assert "<td>evidence</td><td>1.500</td><td>[1.500, 1.500]</td>" in html

    def test_a_notebook_draws_it_as_the_bar_of_a_report(self):
        x = np.array([[0.2], [0.6]])
        summary = audit(lambda x: x[:, 0], x, 0 * x, clusters=["a", "b"]).summary()
        page = summary._repr_html_()
        # E of a linear score is half of the difference: 0.1 and 0.3; M 0.2 and 0.6.
        assert summary.scale == 1
        assert '<i class="evidence" style="width:20.00%"></i>' in page
        assert '<em style="left:40.00%"></em>' in page
        assert "moves the score by 0.200 on path blend" in page
        interval = summary.abs_response
        width = 100 * (interval.upper_95 - interval.lower_95)
        assert f'<b style="left:{100 * interval.lower_95:.2f}%;width:{width:.2f}%"></b>' in page
        assert "[data-jp-theme-light=false] .decaf-verdict" in page
        alone = audit(lambda x: 8 * x[:, 0], [[1.0]], [[0.0]]).summary()
        assert alone.scale == 8
        assert "(95 %:" not in alone._repr_html_()

    def test_one_cluster_has_no_interval(self):
        audited = audit(lambda x: x.sum(axis=1), [[1.0]], [[0.0]])
        assert "evidence                 0.500  undefined" in str(audited.summary())
        assert audited._repr_html_() == audited.summary()._repr_html_()
        values = ("1 pairs", "9 stages", "0.02", "17 of 18")
        assert all(value in repr(audited) for value in values)


class TestQuarantine:
    @pytest.fixture
    def audited(self):
        def score(x):
            return np.where(x[:, 0] == 7, [np.inf], x[:, 0].clip(0))

        with pytest.warns(decaf.QuarantineWarning, match="1 pair .*: bad"):
            return audit(
                score, [[2.0], [7.0], [-1.0]], [[1.0], [0.0], [0.0]], ids=["good", "bad", "null"]
            )

    def test_pairs_that_are_not_finite_keep_their_place_and_enter_no_mean(self, audited):
        assert audited.quarantined == ("bad",)
        np.testing.assert_array_equal(audited.profiles.evidence, [0.5, np.nan, 0])
        assert audited.profiles.is_endpoint_active.tolist() == [True, False, False]
        summary = audited.summary()
        assert (summary.evidence.estimate, summary.active_frac.estimate) == (0.25, 0.5)
        assert str(summary).startswith("3 pairs (1 quarantined) of 2 sources")
        assert audited.plot_mean().to_dict()["title"] == "2 pairs: E 0.25, C 0, F 0"

    def test_they_have_no_plot(self, audited):
        with pytest.raises(DataError, match="not finite"):
            audited.plot("bad")

    def test_a_score_that_is_never_finite_is_an_error(self):
        with pytest.raises(ModelError, match="every pair"):
            audit(lambda x: x[:, 0] * np.nan, [[1.0]], [[0.0]])


def drawn(chart, layer=None):
    """Rows of data that a chart, or one of its layers, draws."""
    spec = chart.to_dict()
    data = (spec if layer is None else spec["layer"][layer])["data"]
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


GATE, _, AREAS, _, END = range(5)


class TestPlots:
    def test_a_trajectory_shows_its_roles_its_gate_and_its_end(self):
        audited = audit(lambda x: x**3 - x / 2, [[1.0]], [[-1.0]], stages=HALF, ids=["turn"])
        chart = audited.plot("turn")
        assert chart.to_dict()["title"].endswith("turn: M 1, E 0.25, C 0.125, F 0")
        assert drawn(chart, GATE) == [{"lower": -0.02, "upper": 0.02}]
        areas = [(row["t"], row["role"], row["response"]) for row in drawn(chart, AREAS)]
        assert areas == [
            *((0, "evidence", 0), (0.5, "evidence", 0), (1, "evidence", 1)),
            *((0, "contradiction", 0), (0.5, "contradiction", -0.25), (1, "contradiction", 0)),
        ]
        assert drawn(chart, END) == [{"t": 1, "response": 1}]

    def test_the_roles_have_the_colours_of_the_report(self):
        from warehouse.report.svg import colour

        audited = audit(lambda x: x.sum(axis=1), [[1.0]], [[0.0]])
        for chart in (audited.plot(0), audited.plot_mean()):
            scales = [
                layer["encoding"]["color"]["scale"]
                for layer in chart.to_dict().get("layer", [chart.to_dict()])
                if "color" in layer["encoding"]
            ]
            assert [scale["domain"] for scale in scales] == [
                ["evidence", "contradiction", "fragility"]
            ]
            for role, shade in zip(scales[0]["domain"], scales[0]["range"], strict=True):
                assert shade in colour(role)

    def test_below_zero_is_evidence_where_the_end_is_below(self):
        audited = audit(lambda x: -x[:, 0], [[1.0]], [[0.0]], stages=HALF)
        values = drawn(audited.plot(0), AREAS)
        assert {row["role"] for row in values if row["response"] < 0} == {"evidence"}

    def test_without_an_effect_all_is_fragility(self):
        audited = audit(lambda x: x - x**3, [[1.0]], [[-1.0]], stages=HALF)
        values = drawn(audited.plot(0), AREAS)
        assert {row["role"] for row in values} == {"fragility"}
        mean = drawn(audited.plot_mean())
        assert [row["response"] for row in mean if row["role"] == "fragility"] == [0, 0.75, 0]

    def test_the_mean_adds_up_to_the_magnitude(self):
        plus, minus = images()
        audited = audit(classes, plus, minus, target=0, epsilon=0.3)
        values = drawn(audited.plot_mean())
        total = np.reshape([row["response"] for row in values], (3, 9)).sum(axis=0)
        np.testing.assert_allclose(total, np.abs(audited.response).mean(axis=(0, 1)), atol=1e-12)

    @pytest.mark.parametrize("pair", [1, -1, "x"])
    def test_a_pair_that_is_not_there_is_an_error(self, pair):
        with pytest.raises(DataError, match="no pair"):
            audit(lambda x: x.sum(axis=1), [[1.0]], [[0.0]]).plot(pair)


class TestCards:
    """r(t) of ``x³ - x/2`` on ±1 is 0, -1/4 and 1: E 1/4, C 1/8."""

    @pytest.fixture
    def audited(self):
        return audit(
            lambda x: x**3 - x / 2,
            [[1.0], [0.01]],
            [[-1.0], [0.0]],
            stages=HALF,
            ids=["turn", "<i>"],
        )

    def test_a_card_says_the_role_and_what_the_response_does(self, audited):
        card = audited.card("turn")
        assert (card.role, card.values) == (
            "evidence",
            {"evidence": 0.25, "contradiction": 0.125, "fragility": 0},
        )
        assert str(card).startswith("turn · blend: Evidence 0.250, d +1.000. At t = 0.5")
        lines = unquote(card.csv.partition(",")[2]).splitlines()
        assert lines == ["t,factual,changed", "0,0,0", "0.5,-0.125,0.125", "1,0.5,-0.5"]
        for epsilon, title in ((2, "Fragility 0.375"), (5, "No response")):
            with pytest.warns(DataWarning, match="no pair reaches"):
                above = audited.at(epsilon)
            assert above.card("turn").title == title

    def test_its_curve_is_that_of_a_report(self, audited):
        page = audited.card(0)._repr_html_()
        assert '<polygon class="evidence" points="10,50 10,50 50,50 90,2 90,50"/>' in page
        assert '<polygon class="contradiction" points="10,50 10,50 50,62 90,50 90,50"/>' in page
        assert '<polyline points="10,50 50,62 90,2"/>' in page
        assert page.count("<span>+1</span>") == 1

    def test_names_are_escaped_and_nothing_runs(self, audited):
        page = audited.card(1)._repr_html_()
        assert "&lt;i&gt;" in page
        assert "<i>" not in page
        assert "<script" not in page
        assert "color: var(--ink)" in page, "text and ground follow the theme together"
        assert "prefers-color-scheme: dark" in page
        assert 'download="%3Ci%3E.csv"' in page

    def test_all_cards_have_one_scale(self, audited):
        assert [audited.card(pair).scale for pair in (0, 1)] == [1, 1]
        wide = audit(lambda x: 4 * x[:, 0], [[1.0], [2.0]], [[0.0], [0.0]])
        assert [wide.card(pair).scale for pair in (0, 1)] == [8, 8]
        probable = audit(lambda x: x[:, 0] / 4, [[1.0], [2.0]], [[0.0], [0.0]])
        assert probable.card(0).scale == 1

    def test_repetitions_are_averaged(self):
        q_plus, q_minus = np.array([[0, 0.4, 0.5], [0, -0.2, 0.5]]), np.zeros((2, 3))
        card = PairCard("p", "noise", np.array(HALF), q_plus, q_minus, 0.02, 0.01, 1.0)
        # E: (0.4 + 0.25) / 2 and 0.25 / 2; C: 0 and 0.2 / 2.
        assert card.values["evidence"] == pytest.approx(0.225)
        assert card.values["contradiction"] == pytest.approx(0.05)
        assert '<polyline points="10,50 50,45.2 90,26"/>' in card._repr_html_()
        assert "factual_1,changed_1" in card.csv

    @pytest.mark.parametrize("pair", [2, "x"])
    def test_a_pair_that_is_not_there_is_an_error(self, audited, pair):
        with pytest.raises(DataError, match="no pair"):
            audited.card(pair)
