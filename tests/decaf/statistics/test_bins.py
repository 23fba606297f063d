import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.errors import ResponseError
from decaf.statistics.bins import (
    QuantileBins,
    common_support,
    common_support_macro,
    quantile_bins,
    valid_bin_macro,
    within_bins,
)
from decaf.statistics.discrimination import auprc, auroc

MAGNITUDES = st.lists(st.integers(0, 12).map(lambda n: n / 8), min_size=1, max_size=40)


def test_quartiles_by_hand():
    # Quartiles of 0 … 8 are 0, 2, 4, 6, 8; an edge closes the bin on its left.
    bins = quantile_bins(np.arange(9), 4)
    assert bins.edges.tolist() == [0, 2, 4, 6, 8]
    assert bins.bin_of.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3]


def test_edges_lie_between_units():
    bins = quantile_bins([1.0, 2.0, 4.0, 8.0], 2)
    assert bins.edges.tolist() == [1, 3, 8]
    assert bins.bin_of.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(("bin_count", "size"), [(12, 1), (12, 2), (12, 4), (20, 9), (20, 17)])
def test_a_unit_on_an_edge_is_the_last_of_its_bin(bin_count, size):
    """Edges lie on every size-th whole number, and 3 / 20 and its like are no float64."""
    units = np.arange(bin_count * size + 1)
    bins = quantile_bins(units, bin_count)
    assert bins.bin_of.tolist() == [max(-(-unit // size) - 1, 0) for unit in units]


@pytest.mark.parametrize(
    ("tenths", "bin_count", "expected"),
    [
        ([0, 4, 5, 5, 6, 9], 20, [0, 3, 7, 7, 12, 16]),
        (
            [0, 1, 1, 2, 3, 4, 4, 5, 5, 5, 5, 6, 6, 7, 7, 8, 8, 9, 10],
            12,
            [0, 0, 0, 1, 2, 3, 3, 4, 4, 4, 4, 6, 6, 7, 7, 9, 9, 10, 10],
        ),
    ],
)
def test_bins_are_those_of_pandas(tenths, bin_count, expected):
    """pandas.qcut(units, bin_count, labels=False, duplicates="drop"), pandas 3.1.1."""
    bins = quantile_bins(np.array(tenths) / 10, bin_count)
    assert bins.bin_of.tolist() == expected


def test_edges_that_coincide_are_dropped():
    # Quartiles 0, 0, 0, 3, 9.
    bins = quantile_bins([0, 0, 0, 0, 0, 0, 3, 3, 9], 4)
    assert bins.edges.tolist() == [0, 3, 9]
    assert bins.bin_of.tolist() == [0] * 8 + [1]


def test_equal_magnitudes_are_one_bin():
    bins = quantile_bins([0.25] * 5, 20)
    assert bins.bin_count == 1
    assert bins.bin_of.tolist() == [0] * 5


def test_a_bin_may_be_empty():
    bins = quantile_bins([0.0, 1.0], 4)
    assert bins.bin_of.tolist() == [0, 3]
    found = within_bins([[1], [0]], [0.1, 0.2], bins)
    assert np.isnan(found.auroc).all()
    assert found.positive_count.tolist() == [[1], [0], [0], [0]]
    assert found.negative_count.tolist() == [[0], [0], [0], [1]]
    assert common_support([[1], [0]], bins).tolist() == [False] * 4


def test_bins_hold_equally_many_units_without_ties():
    bins = quantile_bins(np.random.default_rng(0).normal(size=24_576) ** 2, 20)
    sizes = np.bincount(bins.bin_of)
    assert bins.bin_count == 20
    assert sizes.min() >= 1228
    assert sizes.max() <= 1229


@given(MAGNITUDES, st.integers(1, 20))
def test_every_unit_lies_between_its_edges(magnitude, bin_count):
    values = np.array(magnitude)
    bins = quantile_bins(values, bin_count)
    assert 1 <= bins.bin_count <= bin_count
    assert (values <= bins.edges[bins.bin_of + 1]).all()
    lower = bins.edges[bins.bin_of]
    assert ((values > lower) | ((bins.bin_of == 0) & (values == lower))).all()
    assert (bins.edges[0], bins.edges[-1]) == (values.min(), values.max())


def test_bins_by_hand():
    labels = np.array([[1, 0], [0, 1], [1, 1], [0, 1], [1, 0], [0, 0]])
    scores = np.array([[0.9, 0.1], [0.2, 0.3], [0.1, 0.5], [0.4, 0.2], [0.3, 0.4], [0.3, 0.9]])
    bins = quantile_bins([1, 2, 3, 4, 5, 6], 2)
    found = within_bins(labels, scores, bins)
    # First bin: 0.9 and 0.1 against 0.2; 0.3 and 0.5 against 0.1. Second: 0.3 against 0.4 and 0.3.
    np.testing.assert_array_equal(found.auroc, [[0.5, 1.0], [0.25, 0.0]])
    assert found.positive_count.tolist() == [[2, 2], [1, 1]]
    assert found.negative_count.tolist() == [[1, 1], [2, 2]]
    assert found.macro_auroc.tolist() == [0.75, 0.125]
    assert valid_bin_macro(found.auroc) == pytest.approx((0.375 + 0.5) / 2)
    assert common_support(labels, bins).tolist() == [True, True]
    assert common_support_macro(found.auroc, [True, True]) == pytest.approx(0.4375)


def test_macros_differ_where_a_label_is_missing():
    # Label means 0.6 and 0.9; only the first bin supports both labels.
    by_bin = [[0.5, 0.9], [0.7, np.nan], [np.nan, np.nan]]
    assert valid_bin_macro(by_bin) == pytest.approx(0.75)
    assert common_support_macro(by_bin, [True, False, False]) == pytest.approx(0.7)


def test_macros_without_support_are_undefined():
    assert np.isnan(valid_bin_macro([[0.5, np.nan], [0.7, np.nan]]))
    assert np.isnan(common_support_macro([[0.5, np.nan]], [False]))
    assert np.isnan(common_support_macro([[0.5, np.nan]], [True]))


def test_missing_scores_do_not_change_the_common_support():
    labels, bins = [[1], [0], [1], [0]], quantile_bins([1, 1, 2, 2], 2)
    found = within_bins(labels, [0.4, 0.1, np.nan, 0.3], bins)
    np.testing.assert_array_equal(found.auroc, [[1.0], [np.nan]])
    assert found.positive_count.tolist() == [[1], [0]]
    assert common_support(labels, bins).tolist() == [True, True]


@pytest.mark.parametrize("bin_count", [12, 20])
def test_every_bin_equals_its_own_units(bin_count):
    rng = np.random.default_rng(bin_count)
    magnitude = rng.integers(0, 60, 400) / 40
    labels = rng.random((400, 3)) < np.stack([0.05 + magnitude / 4] * 3, axis=1)
    scores = np.where(rng.random((400, 3)) < 0.1, np.nan, rng.integers(0, 5, (400, 3)))
    bins = quantile_bins(magnitude, bin_count)
    found = within_bins(labels, scores, bins)
    assert found.auroc.shape == found.negative_count.shape == (bins.bin_count, 3)
    for number in range(bins.bin_count):
        for label in range(3):
            units = labels[bins.bin_of == number, label], scores[bins.bin_of == number, label]
            cell = number, label
            np.testing.assert_equal(found.auroc[cell], auroc(*units))
            np.testing.assert_equal(found.auprc[cell], auprc(*units))
    expected = np.mean([np.nanmean(found.auroc[:, label]) for label in range(3)])
    assert valid_bin_macro(found.auroc) == pytest.approx(expected)


def test_binning_removes_what_magnitude_alone_explains():
    rng = np.random.default_rng(2)
    magnitude = rng.random(4000)
    labels = (rng.random(4000) < magnitude)[:, np.newaxis]
    assert auroc(labels[:, 0], magnitude) > 0.8
    found = within_bins(labels, magnitude, quantile_bins(magnitude, 20))
    assert valid_bin_macro(found.auroc) < 0.6


BINS = quantile_bins([1.0, 2.0], 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: quantile_bins([1.0], 0), "bin_count is 0"),
        (lambda: quantile_bins([1.0], 2.0), r"bin_count is 2\.0"),
        (lambda: quantile_bins([1.0], True), "bin_count is True"),
        (lambda: quantile_bins([], 3), "magnitude is empty"),
        (lambda: quantile_bins([1.0, np.nan], 3), "magnitude holds 1 non-finite"),
        (lambda: quantile_bins([[1.0]], 3), r"magnitude has shape \(1, 1\)"),
        (lambda: within_bins([[1]], [1.0], BINS), "labels are of 1 units and bins of 2"),
        (lambda: within_bins([[1], [2]], [1.0, 2.0], BINS), "other values than 0 and 1"),
        (lambda: within_bins([[1], [0]], [1.0], BINS), r"scores have shape \(1,\)"),
        (lambda: common_support([1, 0], BINS), r"labels have shape \(2,\)"),
        (lambda: valid_bin_macro([0.5]), r"values have shape \(1,\)"),
        (lambda: common_support_macro([[0.5]], [1]), "dtype int64"),
        (lambda: common_support_macro([[0.5]], [True, False]), r"is_common has shape \(2,\)"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ResponseError, match=message):
        make()


def test_bins_of_a_user():
    bins = QuantileBins(np.array([0.0, 1.0, 2.0]), np.array([0, 1, 1, 0]))
    found = within_bins([[1], [1], [0], [0]], [1.0, 1.0, 0.0, 2.0], bins)
    assert found.auroc.tolist() == [[0.0], [1.0]]
