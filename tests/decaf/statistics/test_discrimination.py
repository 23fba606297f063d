import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from decaf.errors import ResponseError
from decaf.statistics.discrimination import (
    as_labels,
    auprc,
    auroc,
    one_vs_rest,
    per_label_scores,
    weighted_auprc,
    weighted_auroc,
)

UNITS = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=25)


def sides(units):
    labels, scores = zip(*units, strict=True)
    return np.array(labels), np.array(scores, dtype=float)


def test_auroc_by_hand():
    # Positives 2 and 3 against negatives 1 and 2: three wins and a tie of four.
    assert auroc([1, 1, 0, 0], [2, 3, 1, 2]) == 3.5 / 4
    assert auroc([0, 1], [5, 4]) == 0
    assert auroc([0, 1, 0], [7, 7, 7]) == 0.5


def test_auprc_by_hand():
    # From the top: precision 1 at recall 1/2, then 2/3 with a tied negative at recall 1.
    assert auprc([1, 1, 0, 0], [3, 2, 2, 1]) == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert auprc([0, 1, 0, 1], [7, 7, 7, 7]) == 0.5


@pytest.mark.parametrize("labels", [[1, 1], [0, 0], [1, 0]])
def test_one_class_is_undefined(labels):
    scores = [0.5, np.nan]
    assert np.isnan(auroc(labels, scores))
    assert np.isnan(auprc(labels, scores))


def test_missing_scores_leave_their_units_out():
    assert auroc([1, 0, 1, 0], [2, 1, np.nan, np.nan]) == 1
    assert auprc([1, 0, 1, 0], [2, 1, np.nan, np.nan]) == 1


def test_infinite_scores_are_the_largest():
    assert auroc([1, 0, 0], [np.inf, 1, -np.inf]) == 1


@given(UNITS)
def test_equals_pairs_counted_one_by_one(units):
    labels, scores = sides(units)
    wins = [np.sign(p - n) for p in scores[labels] for n in scores[~labels]]
    expected = (np.mean(wins) + 1) / 2 if wins else np.nan
    assert auroc(labels, scores) == pytest.approx(expected, nan_ok=True)


@given(UNITS)
def test_weight_one_is_the_library(units):
    labels, scores = sides(units)
    ones = np.ones((1, labels.size))
    found = weighted_auroc(labels, scores, ones)[0], weighted_auprc(labels, scores, ones)[0]
    if len(set(labels)) < 2:
        assert np.isnan(found).all()
    else:
        assert found[0] == pytest.approx(roc_auc_score(labels, scores))
        assert found[1] == pytest.approx(average_precision_score(labels, scores))


@given(UNITS, st.data())
def test_weighted_units_are_repeated_units(units, data):
    labels, scores = sides(units)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=labels.size, max_size=labels.size))
    if sum(weights) == 0:
        expected = np.nan, np.nan
    else:
        repeated = np.repeat(labels, weights), np.repeat(scores, weights)
        expected = auroc(*repeated), auprc(*repeated)
    found = [weigh(labels, scores, [weights])[0] for weigh in (weighted_auroc, weighted_auprc)]
    assert found == pytest.approx(expected, nan_ok=True)


def test_one_vs_rest_by_hand():
    labels = [[1, 0, 1], [0, 1, 1], [0, 0, 1]]
    found = one_vs_rest(labels, [[0.9, 0.1, 0.5], [0.2, 0.3, 0.5], [0.4, 0.8, 0.1]])
    np.testing.assert_array_equal(found.auroc, [1, 0.5, np.nan])
    np.testing.assert_array_equal(found.auprc, [1, 0.5, np.nan])
    assert found.positive_count.tolist() == [1, 1, 3]
    assert found.negative_count.tolist() == [2, 2, 0]
    assert np.isnan(found.macro_auroc)


def test_macro_is_the_mean_over_labels():
    found = one_vs_rest([[1, 0], [0, 1], [0, 0]], [[0.9, 0.1], [0.2, 0.3], [0.4, 0.8]])
    assert found.macro_auroc == 0.75
    assert found.macro_auprc == 0.75


def test_a_scalar_scores_every_label():
    rng = np.random.default_rng(1)
    labels, scores = rng.random((60, 3)) < [0.2, 0.5, 0.7], rng.integers(0, 9, 60).astype(float)
    scores[::7] = np.nan
    found = one_vs_rest(labels, scores)
    for label in range(3):
        assert found.auroc[label] == auroc(labels[:, label], scores)
        assert found.auprc[label] == auprc(labels[:, label], scores)
    assert (found.positive_count + found.negative_count).tolist() == [51, 51, 51]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: auroc([0, 2], [1, 2]), "other values than 0 and 1"),
        (lambda: auroc([0, np.nan], [1, 2]), "other values than 0 and 1"),
        (lambda: auroc(["0", "1"], [1, 2]), "labels of dtype <U1"),
        (lambda: auroc([], []), r"labels have shape \(0,\); expected \(n_units,\)"),
        (lambda: auprc([[0, 1]], [1]), r"labels have shape \(1, 2\)"),
        (lambda: auprc([0, 1], [1, 2, 3]), r"scores have shape \(3,\)"),
        (lambda: one_vs_rest([0, 1], [1, 2]), r"expected \(n_units, n_labels\)"),
        (lambda: one_vs_rest([[0, 1]], [[1, 2, 3]]), r"scores have shape \(1, 3\)"),
        (lambda: weighted_auroc([0, 1], [1, 2, 3], [[1, 1, 1]]), r"labels have shape \(2,\)"),
        (lambda: weighted_auprc([0, 1], [1, np.nan], [[1, 1]]), "none missing"),
        (lambda: weighted_auroc([0, 1], [1, 2], [1, 1]), r"weights \(2,\)"),
        (lambda: as_labels(np.empty((3, 0)), ndim=2), r"shape \(3, 0\)"),
        (lambda: per_label_scores(0.5, np.array([[True]])), r"scores have shape \(\)"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ResponseError, match=message):
        make()
