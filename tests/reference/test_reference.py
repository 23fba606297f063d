"""The references by hand: what is compared with them is no better than they are."""

import numpy as np
import pytest
from judging import (
    common_support,
    common_support_macro,
    matched_agreement,
    one_vs_rest,
    quantile_bins,
    role_credit,
    valid_bin_macro,
    weighted_auprc,
    weighted_auroc,
    within_bins,
)
from resampling import bootstrap_ratio, replicate_means, spearman


def test_bins():
    # Quartiles of 0 … 8 are 0, 2, 4, 6, 8; an edge closes the bin on its left.
    bins = quantile_bins(np.arange(9), 4)
    assert bins.edges.tolist() == [0, 2, 4, 6, 8]
    assert bins.bin_of.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    assert quantile_bins([0.25] * 5, 20).bin_of.tolist() == [0] * 5


def test_discrimination_in_bins():
    labels = np.array([[1, 0], [0, 1], [1, 1], [0, 1], [1, 0], [0, 0]])
    scores = np.array([[0.9, 0.1], [0.2, 0.3], [0.1, 0.5], [0.4, 0.2], [0.3, 0.4], [0.3, 0.9]])
    bins = quantile_bins([1, 2, 3, 4, 5, 6], 2)
    found = within_bins(labels, scores, bins)
    # First bin: 0.9 and 0.1 against 0.2; 0.3 and 0.5 against 0.1. Second: 0.3 against 0.4 and 0.3.
    np.testing.assert_array_equal(found.auroc, [[0.5, 1.0], [0.25, 0.0]])
    assert found.positive_count.tolist() == [[2, 2], [1, 1]]
    assert common_support(labels, bins).tolist() == [True, True]


def test_one_class_is_undefined():
    found = one_vs_rest([[1, 0], [1, 1], [1, 0]], [0.9, 0.2, 0.4])
    np.testing.assert_array_equal(found.auroc, [np.nan, 0])
    assert found.negative_count.tolist() == [0, 2]


def test_macros_differ_where_a_label_is_missing():
    # Label means 0.6 and 0.9; only the first bin supports both labels.
    by_bin = np.array([[0.5, 0.9], [0.7, np.nan], [np.nan, np.nan]])
    assert valid_bin_macro(by_bin) == pytest.approx(0.75)
    assert common_support_macro(by_bin, [True, False, False]) == pytest.approx(0.7)
    assert np.isnan(valid_bin_macro(by_bin * [1, np.nan]))
    assert np.isnan(common_support_macro(by_bin, [False] * 3))


def test_weighted_units_are_repeated_units():
    weights = [[1, 1, 1], [1, 2, 0], [0, 2, 1]]
    found = weighted_auroc([0, 1, 1], [1, 2, 0], weights)
    assert found == pytest.approx([0.5, 1, np.nan], nan_ok=True)
    found = weighted_auprc([0, 1, 1], [1, 2, 0], weights)
    assert found == pytest.approx([5 / 6, 1, np.nan], nan_ok=True)


def test_credit_is_shared_by_ties():
    scores = [[0.5, 0.1, 0.2], [0.2, 0.2, 0.1], [0, 0, 0], [0.1, 0.2, 0.3], [0.3, np.nan, 0.3]]
    labels = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0]]
    expected = [1, 0.5, 2 / 3, 0, np.nan]
    assert role_credit(scores, labels) == pytest.approx(expected, nan_ok=True)


def test_agreement():
    # Units 0 and 1 differ on both labels: 0.6 beats 0.2, then a tie. 2 and 3 on the second: lost.
    scores = [[0.6, 0.3], [0.2, 0.3], [0.4, 0.1], [0.5, 0.2]]
    labels = [[1, 0], [0, 1], [1, 1], [1, 0]]
    found = matched_agreement(scores, labels, [[0, 1], [2, 3]])
    assert found == pytest.approx((1, 0.5, 2, 3))


def test_resampled_means_and_ratios():
    # Cluster a holds 0 and 0, b holds 3.
    values, clusters, draws = [0.0, 3.0, 0.0], ["a", "b", "a"], np.array([[0, 1], [1, 1]])
    assert replicate_means(values, draws, clusters).tolist() == [1, 3]
    interval = bootstrap_ratio(
        [1.0, 9.0, np.nan], [1.0, 3.0, 5.0], draws=np.array([[0, 2], [1, 1]])
    )
    assert (interval.estimate, interval.standard_error) == (2.5, pytest.approx(np.sqrt(2)))
    assert interval.cluster_count == 2


def test_ranks_of_ties_and_gaps():
    assert spearman([4, 4, 9], [1, 2, 3]) == pytest.approx(0.75 / np.sqrt(0.75))
    assert spearman([1, np.nan, 2, 3], [1, 9, np.nan, 2]) == pytest.approx(1)
    assert np.isnan(spearman([1, 1], [1, 2]))
