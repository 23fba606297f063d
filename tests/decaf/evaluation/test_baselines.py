"""Baselines by hand: on tables of a few rows, with predictors whose every answer is known."""

import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ended_commands import run_code, succeeded
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from sklearn.linear_model import LogisticRegression

from decaf.data.factual import FactualRows
from decaf.evaluation.baselines import base
from decaf.evaluation.baselines.base import CountedProbability, Subject, Undefined
from decaf.evaluation.baselines.lime import Lime
from decaf.evaluation.baselines.pdp_ale import PdpAle
from decaf.evaluation.baselines.permutation import ContextPermutation, GlobalPermutation
from decaf.evaluation.baselines.retraining import Retraining
from decaf.evaluation.baselines.shapley import KernelShap, NativeShap, ShapInteraction
from decaf.foundation.plugins import members
from decaf.plan.study import Baseline

CONTEXT, FACTOR = 1, 2
METHODS = members(base.Baseline)


@pytest.fixture(autouse=True)
def uncompiled_loops(monkeypatch):
    """Loops of shap as Python runs them: numba takes 13 s to compile them."""
    base.quiet_import("shap")
    for module in map(import_module, ("shap.utils._masked_model", "shap.maskers._tabular")):
        for name, loop in [*vars(module).items()]:
            if hasattr(loop, "py_func"):
                monkeypatch.setattr(module, name, loop.py_func)


def kind_of(method):
    return method.model_fields["kind"].annotation.__args__[0]


def subject(predict, inputs, label=None, estimator=None, refit=None, batch_size=7):
    """Rows of one natural feature, context and factor, unless there are more columns."""
    inputs = np.asarray(inputs, np.float32)
    label = np.zeros(len(inputs), np.int64) if label is None else np.asarray(label)
    rows = FactualRows(inputs, label, CONTEXT, FACTOR)
    return Subject(CountedProbability(predict, batch_size), rows, estimator, refit)


def random_rows(count, columns=3, seed=0):
    """Uniform natural features; context and factor are -1 or +1."""
    rng = np.random.default_rng(seed)
    inputs = rng.random((count, columns))
    inputs[:, [CONTEXT, FACTOR]] = rng.choice([-1, 1], (count, 2))
    return inputs.astype(np.float32)


def sigmoid(values):
    return 1 / (1 + np.exp(-np.asarray(values, np.float64)))


def linear(rows):
    return 0.5 + 0.1 * rows[:, 0] + 0.05 * rows[:, CONTEXT] + 0.2 * rows[:, FACTOR]


def score(found, name="score"):
    return found[name].score


class Constant:
    """A classifier with one answer, which keeps the rows that it was asked."""

    def __init__(self, probability):
        self.probability, self.seen = probability, []

    def predict_proba(self, rows):
        self.seen.append(rows)
        return np.tile([1 - self.probability, self.probability], (len(rows), 1))


class TestWhatAllShare:
    def test_every_method_is_on_the_page_of_covertype_with_its_components(self):
        page = (Path(__file__).parents[3] / "docs" / "studies" / "covertype.md").read_text()
        for method in METHODS:
            row = re.search(rf"\| `{kind_of(method)}` \|.*", page)
            assert row, kind_of(method)
            assert all(f"`{name}`" in row[0] for name in method.components), row[0]

    def test_rows_are_predicted_in_batches_as_float32_and_counted(self):
        seen = []

        def predict(rows):
            seen.append((rows.shape, rows.dtype))
            return rows[:, 0]

        probability = CountedProbability(predict, 3)
        found = probability(np.arange(7.0).reshape(7, 1))
        assert found.tolist() == [0, 1, 2, 3, 4, 5, 6]
        assert found.dtype == np.float64
        assert seen == [((n, 1), np.float32) for n in (3, 3, 1)]
        assert probability.rows == 7

    def test_a_half_is_called_one(self):
        probability = CountedProbability(lambda rows: rows[:, 0], 10)
        assert probability.accuracy([[0.5], [0.49], [0.6], [0.1]], np.array([1, 1, 1, 1])) == 0.5

    def test_models_are_chosen_by_name_and_family(self):
        card = SimpleNamespace(id="xgboost_gate_s7701", family="xgboost")
        chosen = {"kind": "lime"}
        assert Lime(**chosen).applies_to(card)
        assert Lime(**chosen, models=["*_s7701"]).applies_to(card)
        assert not Lime(**chosen, models=["*_s7702", "mlp_*"]).applies_to(card)
        assert not Lime(**chosen, models=["*"], families=["mlp"]).applies_to(card)
        assert not Lime(**chosen, models=[]).applies_to(card)

    def test_who_is_explained_is_no_part_of_what_a_number_depends_on(self):
        one = Lime(kind="lime", models=["a"], families=["b"])
        assert one.identity == Lime(kind="lime").identity
        assert one.identity != Lime(kind="lime", samples=512).identity
        assert one.identity != Lime(kind="lime", seed=1).identity

    def test_an_unknown_kind_names_the_nearest(self):
        with pytest.raises(ValidationError, match="did you mean 'kernel_shap'"):
            TypeAdapter(Baseline).validate_python({"kind": "kernelshap"})

    @pytest.mark.parametrize("method", METHODS, ids=kind_of)
    def test_no_method_makes_a_number_of_answers_that_are_not_finite(self, method):
        inputs, label = random_rows(8), np.arange(8) % 2

        def answer(rows):
            return np.where(rows[:, FACTOR] > 0, np.nan, 0.5)

        made = subject(answer, inputs, label, object(), refit=lambda: Constant(0.5))
        found = method(kind=kind_of(method)).measure(made)
        assert found.keys() == set(method.components)
        told = {(one.score, one.explained_rows, one.reason) for one in found.values()}
        ((value, count, reason),) = told
        assert (value, count) == (None, 0)
        if method is ShapInteraction:  # which asks no probability
            assert reason.startswith("object has no interaction values")
        else:
            assert re.search(r"\d+ of \d+ rows", reason)

    def test_answers_that_are_not_finite_are_counted(self):
        probability = CountedProbability(lambda rows: rows[:, 0], 2)
        with pytest.raises(Undefined, match="3 of 5 rows"):
            probability([[0.5], [np.nan], [np.inf], [1.0], [-np.inf]])

    def test_a_refit_that_gives_nothing_finite_has_no_number(self):
        made = subject(linear, random_rows(4), refit=lambda: Constant(np.nan))
        found = Retraining(kind="retraining").measure(made)
        assert found["score"][:2] == (None, 0)
        assert "4 of 4 rows" in found["score"].reason

    def test_what_is_not_finite_or_not_defined_has_a_reason_instead(self):
        inputs = random_rows(8)
        model = LogisticRegression()
        model.coef_ = np.array([[0.0, 0.0, np.inf]])
        found = NativeShap(kind="native_shap").measure(subject(linear, inputs, estimator=model))
        assert found["score"][:2] == (None, 8)
        made = subject(linear, inputs, estimator=LogisticRegression())
        found = ShapInteraction(kind="shap_interaction").measure(made)
        assert score(found) is None
        assert found["score"].reason.startswith("LogisticRegression has no interaction values")

    @pytest.mark.parametrize(
        "method",
        [
            KernelShap(kind="kernel_shap", rows=3, background=4, samples=20),
            Lime(kind="lime", rows=3, samples=30),
            NativeShap(kind="native_shap", rows=3, background=4),
            GlobalPermutation(kind="global_permutation", repeats=3),
        ],
        ids=lambda method: method.kind,
    )
    def test_draws_belong_to_the_seed_alone(self, method):
        inputs, label = random_rows(40, 6), np.arange(40) % 2

        def predict(rows):
            return sigmoid(3 * rows[:, 0] * rows[:, FACTOR] + rows[:, 4] - rows[:, 3] ** 2)

        def measured(method):
            return score(method.measure(subject(predict, inputs, label, batch_size=11)))

        np.random.seed(1)  # noqa: NPY002 - what libraries draw from
        first, after = measured(method), np.random.random()  # noqa: NPY002
        np.random.seed(1)  # noqa: NPY002
        assert after == np.random.random()  # noqa: NPY002
        assert measured(method) == first
        assert measured(method.model_copy(update={"seed": 5})) != first


class TestRows:
    def test_channels_are_set_in_a_copy(self):
        rows = FactualRows(random_rows(4), np.zeros(4, np.int64), CONTEXT, FACTOR)
        before = rows.inputs.copy()
        assert (rows.at(1, -1)[:, [CONTEXT, FACTOR]] == [1, -1]).all()
        np.testing.assert_array_equal(rows.at(None, 1)[:, CONTEXT], before[:, CONTEXT])
        np.testing.assert_array_equal(rows.inputs, before)

    def test_explained_rows_are_spread_over_contexts_and_labels(self):
        inputs = random_rows(200)
        inputs[:, CONTEXT] = np.repeat([-1, 1], [150, 50])
        label = np.zeros(200, np.int64)
        label[[3, 4, 5, 160]] = 1  # three of one stratum, one of another
        rows = FactualRows(inputs, label, CONTEXT, FACTOR)
        places = rows.spread(20, np.random.default_rng(0))
        assert places.size == np.unique(places).size == 20
        assert {3, 4, 5, 160} <= set(places.tolist())
        assert np.count_nonzero(places < 150) - 3 == 8
        assert rows.spread(20, np.random.default_rng(0)).tolist() == places.tolist()
        assert rows.spread(20, np.random.default_rng(1)).tolist() != places.tolist()
        assert rows.spread(500, np.random.default_rng(0)).tolist() == list(range(200))

    @given(st.integers(1, 40), st.integers(0, 5))
    def test_no_stratum_is_short_while_another_has_two_more(self, count, seed):
        inputs = random_rows(41, seed=seed)
        label = np.random.default_rng(seed).integers(0, 2, 41)
        rows = FactualRows(inputs, label, CONTEXT, FACTOR)
        stratum = 2 * (inputs[:, CONTEXT] > 0) + label
        taken = np.bincount(stratum[rows.spread(count, np.random.default_rng(seed))], minlength=4)
        there = np.bincount(stratum, minlength=4)
        assert taken.sum() == count
        for one in range(4):
            assert taken[one] == there[one] or taken[one] >= taken.max() - 1


class TestPermutation:
    ROWS = ((0, -1, 1), (0, -1, -1), (0, 1, 1), (0, 1, -1))
    LABEL = (1, 0, 1, 0)

    def test_a_swap_of_two_rows_costs_all_of_the_accuracy(self):
        made = subject(lambda rows: rows[:, FACTOR] > 0, self.ROWS[:2], self.LABEL[:2])
        method = GlobalPermutation(kind="global_permutation", repeats=10, seed=3)
        found = method.measure(made)
        rng = np.random.default_rng(3)
        swaps = sum(rng.permutation([1, -1]).tolist() == [-1, 1] for _ in range(10))
        assert 0 < swaps < 10
        assert score(found) == pytest.approx(swaps / 10)
        assert found["score"].explained_rows == 2
        assert made.probability.rows == (1 + 10) * 2

    def test_each_context_has_its_own_drop(self):
        def only_in_plus(rows):
            # Under -1 the natural feature alone tells the label.
            return np.where(rows[:, CONTEXT] > 0, rows[:, FACTOR] > 0, rows[:, 0] > 0)

        rows = np.array(self.ROWS * 2, np.float32)
        label = np.array(self.LABEL * 2)
        rows[:, 0] = label
        made = subject(only_in_plus, rows, label)
        found = ContextPermutation(kind="context_permutation", repeats=15).measure(made)
        assert found["context_minus"] == (0.0, 4, None)
        rng = np.random.default_rng(7601)
        column = np.array([1, -1, 1, -1])
        for _ in range(15):
            rng.permutation(column)  # those of the other context come first
        wrong = [np.mean(rng.permutation(column) != column) for _ in range(15)]
        assert score(found, "context_plus") == pytest.approx(np.mean(wrong))
        assert score(found, "context_plus") > 0.2
        assert made.probability.rows == (1 + 15) * 8

    def test_a_context_without_rows_has_no_drop(self):
        made = subject(linear, self.ROWS[2:], self.LABEL[2:])
        found = ContextPermutation(kind="context_permutation", repeats=2).measure(made)
        assert found["context_minus"][:2] == (None, 0)
        assert "-1" in found["context_minus"].reason
        assert found["context_plus"].score is not None

    def test_a_factor_that_is_not_read_costs_nothing(self):
        inputs = random_rows(30)
        made = subject(lambda rows: rows[:, 0], inputs, inputs[:, 0] > 0.4)
        assert score(GlobalPermutation(kind="global_permutation").measure(made)) == 0


class TestPdpAle:
    @pytest.mark.parametrize("strength", [0.0, 0.7, -2.0])
    def test_a_pure_interaction(self, strength):
        inputs = random_rows(12)
        made = subject(lambda r: sigmoid(strength * r[:, CONTEXT] * r[:, FACTOR]), inputs)
        found = PdpAle(kind="pdp_ale").measure(made)
        # s(c) - s(-c) in one context, the opposite in the other.
        expected = 2 * (sigmoid(strength) - sigmoid(-strength))
        assert score(found, "pdp") == pytest.approx(expected)
        assert score(found, "ale") == pytest.approx(expected)
        assert score(found, "mean") == pytest.approx(abs(expected))
        assert made.probability.rows == 6 * 12

    def test_a_sum_has_no_interaction(self):
        found = PdpAle(kind="pdp_ale").measure(subject(linear, random_rows(12)))
        assert [one.score for one in found.values()] == pytest.approx([0, 0, 0], abs=1e-7)

    def test_local_effects_see_which_rows_are_in_a_context(self):
        # The factor acts through the natural feature, which is 1 under +1 and -0.5 under -1.
        inputs = [(1, 1, 1), (1, 1, -1), (-0.5, -1, 1), (-0.5, -1, 1)]
        found = PdpAle(kind="pdp_ale").measure(
            subject(lambda r: 0.5 + 0.1 * r[:, 0] * r[:, FACTOR], inputs)
        )
        assert score(found, "pdp") == pytest.approx(0, abs=1e-9)
        assert score(found, "ale") == pytest.approx(0.2 - -0.1)
        assert score(found, "mean") == pytest.approx(0.15)

    def test_one_context_alone_has_no_local_contrast(self):
        found = PdpAle(kind="pdp_ale").measure(subject(linear, [(0, 1, 1), (0, 1, -1)]))
        assert found["pdp"].score == pytest.approx(0, abs=1e-7)
        assert found["ale"] == found["mean"]
        assert found["ale"][:2] == (None, 2)
        assert "context" in found["ale"].reason


class TestSampledShapley:
    def test_of_a_linear_model_is_weight_times_distance_from_the_mean(self):
        model = LogisticRegression()
        model.coef_ = np.array([[5.0, -1.0, 2.0]])
        inputs = [(0, 1, 1), (0, 1, 1), (0, 1, 1), (0, -1, -1)]
        found = NativeShap(kind="native_shap").measure(subject(linear, inputs, estimator=model))
        # The mean factor is 0.5: three rows are 0.5 away, one is 1.5 away.
        assert score(found) == pytest.approx(2 * (3 * 0.5 + 1.5) / 4)

    def test_permutations_of_a_linear_answer_are_exact(self):
        inputs = random_rows(16, 4)
        made = subject(linear, inputs, estimator=object())
        found = NativeShap(kind="native_shap", rows=16, background=16).measure(made)
        away = inputs[:, FACTOR] - inputs[:, FACTOR].mean()
        assert score(found) == pytest.approx(0.2 * np.abs(away).mean(), rel=1e-5)
        assert made.probability.rows > 0

    def test_all_coalitions_of_three_features_are_exact(self):
        inputs = random_rows(20)
        made = subject(linear, inputs)
        found = KernelShap(kind="kernel_shap", rows=20, background=20).measure(made)
        away = inputs[:, FACTOR] - inputs[:, FACTOR].mean()
        assert score(found) == pytest.approx(0.2 * np.abs(away).mean(), rel=1e-5)
        # Three features have 2^3 - 2 coalitions between nothing and everything.
        assert made.probability.rows == 20 + 20 * (1 + 6 * 20)

    def test_a_budget_of_coalitions_is_sent_whole(self):
        made = subject(linear, random_rows(60, 56), batch_size=1000)
        found = KernelShap(kind="kernel_shap", rows=3, background=4, samples=512).measure(made)
        assert made.probability.rows == 4 + 3 * (1 + 512 * 4)
        assert found["score"].explained_rows == 3
        assert 256 + 64 * (1 + 512 * 256) == 8_388_928  # the paper's rows of one model

    def test_lime_weighs_sharing_the_value_of_the_row(self):
        made = subject(linear, random_rows(60, 5), batch_size=1000)
        found = Lime(kind="lime", rows=6, samples=400).measure(made)
        # 0.2 above where the factor is that of the row, 0.2 below where not; ridge shrinks a bit.
        assert score(found) == pytest.approx(0.4, rel=0.05)
        assert made.probability.rows == 6 * 400


class TestRetraining:
    def test_what_is_lost_without_the_column(self):
        always_zero = Constant(0.4)
        inputs = np.array([(7, 1, 1), (8, 1, 1), (9, -1, 1), (9, -1, -1)], np.float32)
        made = subject(lambda r: r[:, FACTOR] > 0, inputs, [1, 1, 1, 0], refit=lambda: always_zero)
        found = Retraining(kind="retraining").measure(made)
        assert found["score"] == (1 - 0.25, 4, None)
        np.testing.assert_array_equal(np.concatenate(always_zero.seen), inputs[:, :2])
        assert made.probability.rows == 2 * 4

    def test_without_a_recipe_there_is_no_refit(self):
        found = Retraining(kind="retraining").measure(subject(linear, random_rows(3)))
        assert found["score"][:2] == (None, 0)
        assert "'training:'" in found["score"].reason


def test_planning_imports_no_library_of_explanations_or_training():
    code = (
        "import sys, decaf.plan.study, decaf.studies.scenes.recipes, tasks.plan\n"
        "print({'lime', 'numba', 'shap', 'sklearn', 'torch', 'xgboost'} & set(sys.modules))"
    )
    assert succeeded(run_code(code)) == "set()\n"
