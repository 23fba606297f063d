"""Shapley values of trees: by hand, by brute force over all coalitions, and shap as oracle."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from decaf.data.factual import FactualRows
from decaf.evaluation.baselines.base import CountedProbability, Subject, quiet_import
from decaf.evaluation.baselines.shapley import NativeShap, ShapInteraction

CONTEXT, FACTOR = 1, 2


def forest_shapley(*given):
    # Imported where it is used, since that compiles.
    from decaf.evaluation.tree_shapley import forest_shapley as computed

    return computed(*given)


def table(count, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(count, columns)).astype(np.float32)
    inputs[:, [CONTEXT, FACTOR]] = rng.choice([-1, 1], (count, 2))
    signal = inputs[:, 0] + 1.5 * inputs[:, CONTEXT] * inputs[:, FACTOR] + 0.5 * inputs[:, FACTOR]
    return inputs, (signal + 0.3 * rng.normal(size=count) > 0).astype(int)


def of_sklearn(forest):
    """Trees as nested nodes: a value, or (feature, goes left, left, right, their shares)."""

    def node(tree, at):
        value = tree.value[at, 0]
        if tree.children_left[at] < 0:
            return float(value[1] / value.sum() / len(forest.estimators_))
        left, right = tree.children_left[at], tree.children_right[at]
        cover = tree.weighted_n_node_samples
        limit = tree.threshold[at]
        share = cover[left] / cover[at]
        below = (node(tree, left), node(tree, right), (share, 1 - share))
        return (tree.feature[at], lambda x, limit=limit: x <= limit, *below)

    return [node(one.tree_, 0) for one in forest.estimators_]


def of_xgboost(booster):
    nodes = booster.trees_to_dataframe().set_index("ID").to_dict("index")

    def node(name):
        one = nodes[name]
        if one["Feature"] == "Leaf":
            return one["Gain"]
        left, right = nodes[one["Yes"]], nodes[one["No"]]
        share = left["Cover"] / (left["Cover"] + right["Cover"])
        limit, feature = np.float32(one["Split"]), int(one["Feature"].removeprefix("f"))
        below = (node(one["Yes"]), node(one["No"]), (share, 1 - share))
        return (feature, lambda x, limit=limit: x < limit, *below)

    return [node(name) for name in nodes if name.endswith("-0")]


def worth(trees, row, known):
    """Value of a coalition: follow what is known, average over what is not."""

    def expected(node):
        if not isinstance(node, tuple):
            return node
        feature, goes_left, left, right, shares = node
        if feature in known:
            return expected(left if goes_left(row[feature]) else right)
        return shares[0] * expected(left) + shares[1] * expected(right)

    return sum(expected(tree) for tree in trees)


def mean_gain(others, gain):
    """Shapley's mean of what coalitions of the other features gain."""
    count = len(others)
    return sum(
        gain(set(chosen)) / ((count + 1) * comb(count, size))
        for size in range(count + 1)
        for chosen in combinations(others, size)
    )


def by_brute_force(trees, row, count):
    """Shapley value of the factor, and half of its interaction index with the context."""

    def of_factor(known):
        return worth(trees, row, known | {FACTOR}) - worth(trees, row, known)

    others = [n for n in range(count) if n != FACTOR]
    value = mean_gain(others, of_factor)
    others.remove(CONTEXT)
    pair = mean_gain(others, lambda known: of_factor(known | {CONTEXT}) - of_factor(known))
    return value, pair / 2


def explained(method, estimator, inputs):
    rows = FactualRows(inputs, np.arange(len(inputs)) % 2, CONTEXT, FACTOR)
    subject = Subject(CountedProbability(lambda some: some[:, 0], 10), rows, estimator)
    found = method.measure(subject)["score"]
    assert subject.probability.rows == 0
    return found


def test_exclusive_or_by_hand():
    corners = np.array([(0, a, b) for a in (-1, 1) for b in (-1, 1)], np.float32)
    label = (corners[:, CONTEXT] != corners[:, FACTOR]).astype(int)
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, random_state=0)
    forest.fit(corners, label)
    # Either channel alone leaves the answer at 1/2; both together make it the label.
    expected = (label - 0.5) / 2
    np.testing.assert_allclose(forest_shapley(forest, corners, FACTOR), expected, atol=1e-15)
    found = forest_shapley(forest, corners, CONTEXT, FACTOR)
    np.testing.assert_allclose(found, expected, atol=1e-15)
    assert explained(NativeShap(kind="native_shap"), forest, corners).score == pytest.approx(0.25)
    found = explained(ShapInteraction(kind="shap_interaction"), forest, corners)
    assert found.score == pytest.approx(0.25)


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([RandomForestClassifier, ExtraTreesClassifier]))
def test_forests_are_their_brute_force(seed, kind):
    inputs, label = table(40, 4, seed)
    forest = kind(3, max_features=2, random_state=seed).fit(inputs, label)
    trees = of_sklearn(forest)
    expected = np.array([by_brute_force(trees, row, 4) for row in inputs[:6]])
    values = forest_shapley(forest, inputs[:6], FACTOR)
    np.testing.assert_allclose(values, expected[:, 0], atol=1e-13)
    pairs = forest_shapley(forest, inputs[:6], CONTEXT, FACTOR)
    np.testing.assert_allclose(pairs, expected[:, 1], atol=1e-13)


def test_deep_forests_are_those_of_the_library():
    inputs, label = table(600, 12, seed=3)
    forest = RandomForestClassifier(5, random_state=1).fit(inputs, label)
    assert max(tree.get_depth() for tree in forest.estimators_) > 9
    explainer = quiet_import("shap").TreeExplainer(forest)
    values = explainer.shap_values(inputs[:10])[..., 1]
    pairs = explainer.shap_interaction_values(inputs[:10])[..., 1]
    for feature in (0, FACTOR, 11):
        found = forest_shapley(forest, inputs[:10], feature)
        np.testing.assert_allclose(found, values[:, feature], atol=1e-12)
    found = forest_shapley(forest, inputs[:10], CONTEXT, FACTOR)
    np.testing.assert_allclose(found, pairs[:, CONTEXT, FACTOR], atol=1e-12)
    assert np.abs(found).max() > 0
    np.testing.assert_array_equal(forest_shapley(forest, inputs[:10], FACTOR, CONTEXT), found)


def test_all_values_add_up_to_the_answer():
    inputs, label = table(200, 5, seed=4)
    forest = RandomForestClassifier(4, random_state=2).fit(inputs, label)
    total = sum(forest_shapley(forest, inputs[:9], feature) for feature in range(5))
    mean = worth(of_sklearn(forest), inputs[0], set())
    np.testing.assert_allclose(total, forest.predict_proba(inputs[:9])[:, 1] - mean, atol=1e-12)


def test_a_feature_that_no_tree_tests_has_none():
    inputs, label = table(60)
    forest = RandomForestClassifier(2, random_state=0).fit(inputs * [1, 1, 0], label)
    assert not forest_shapley(forest, inputs, FACTOR).any()
    assert not forest_shapley(forest, inputs, CONTEXT, FACTOR).any()


def test_boosted_trees_are_their_brute_force():
    inputs, label = table(120, seed=5)
    model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(inputs, label)
    trees = of_xgboost(model.get_booster())
    expected = np.array([by_brute_force(trees, row, 3) for row in inputs])
    value = explained(NativeShap(kind="native_shap"), model.get_booster(), inputs)
    pair = explained(ShapInteraction(kind="shap_interaction"), model.get_booster(), inputs)
    assert value.explained_rows == pair.explained_rows == 120
    assert value.score == pytest.approx(np.abs(expected[:, 0]).mean(), rel=1e-5)
    assert pair.score == pytest.approx(np.abs(expected[:, 1]).mean(), rel=1e-5)


def test_histogram_boosting_is_explained_in_log_odds():
    from sklearn.ensemble import HistGradientBoostingClassifier

    inputs, label = table(300, seed=6)
    model = HistGradientBoostingClassifier(max_iter=5).fit(inputs, label)
    values = quiet_import("shap").TreeExplainer(model).shap_values(inputs)
    mean = model.decision_function(inputs) - values.sum(axis=1)
    np.testing.assert_allclose(mean, mean[0], atol=1e-6)
    found = explained(NativeShap(kind="native_shap", rows=300), model, inputs)
    assert found.score == pytest.approx(np.abs(values[:, FACTOR]).mean())
