import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from decaf.errors import ResponseError
from decaf.statistics.ranks import spearman, spearman_rows, tied_weights, weighted_spearman

SIDES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30)


def test_by_hand():
    assert spearman([1, 2, 3], [10, 30, 20]) == pytest.approx(0.5)
    assert spearman([1, 2], [5, 4]) == pytest.approx(-1)


def test_ties_share_their_average_rank():
    # Ranks 1.5, 1.5, 3 against 1, 2, 3: covariance 0.75, variances 0.75 and 1.
    assert spearman([4, 4, 9], [1, 2, 3]) == pytest.approx(0.75 / np.sqrt(0.75))


def test_gaps_are_left_out():
    assert spearman([1, np.nan, 2, 3], [1, 9, np.nan, 2]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0, 0, 0]), ([np.nan, 1], [1, 2])],
)
def test_undefined(x, y):
    assert np.isnan(spearman(x, y))


def test_infinite_values_rank_last():
    assert spearman([1, 2, np.inf], [1, 2, 3]) == pytest.approx(1)
    assert np.isnan(spearman([np.inf, np.inf], [1, 2]))


@given(SIDES)
def test_equals_scipy(sides):
    x, y = np.array(sides, dtype=float).T
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(spearman(x, y))
    else:
        assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)


@given(SIDES)
def test_only_order_counts(sides):
    x, y = np.array(sides, dtype=float).T
    assert spearman(x, y) == pytest.approx(spearman(np.exp(x), y**3), nan_ok=True)
    assert spearman(x, y) == pytest.approx(-spearman(-x, y), nan_ok=True)
    assert spearman(x, y) == pytest.approx(spearman(y, x), nan_ok=True)


@pytest.mark.parametrize(("x", "y"), [([1, 1], [1, 2]), ([1, 2, 3], [0, 0, 0])])
def test_constant_side_where_it_counts_as_zero(x, y):
    assert spearman(x, y, if_constant=0.0) == 0
    assert spearman_rows([x], [y], if_constant=0.0).tolist() == [0]


def test_fewer_than_two_entries_are_undefined_whatever_a_constant_counts():
    assert np.isnan(spearman([1, np.nan], [2, 3], if_constant=0.0))
    assert np.isnan(spearman([], [], if_constant=0.0))


def test_rows_by_hand():
    x = [[1, 2, 3], [4, 4, 9], [1, 1, 1], [1, np.nan, 2]]
    y = [[10, 30, 20], [1, 2, 3], [1, 2, 3], [3, 0, 4]]
    expected = [0.5, 0.75 / np.sqrt(0.75), 0, 1]
    assert spearman_rows(x, y, if_constant=0) == pytest.approx(expected)
    assert np.isnan(spearman_rows(x, y)[2])
    assert spearman_rows(np.empty((0, 3)), np.empty((0, 3))).shape == (0,)
    assert np.isnan(spearman_rows(np.empty((2, 0)), np.empty((2, 0)))).all()


def test_rows_equal_scipy_on_ties_and_gaps():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 5, (2, 300, 9)).astype(float)
    x[rng.random(x.shape) < 0.3] = np.nan
    found = spearman_rows(x, y)
    for a, b, each in zip(x, y, found, strict=True):
        kept = ~np.isnan(a)
        if kept.sum() < 2 or len(set(a[kept])) == 1 or len(set(b[kept])) == 1:
            assert np.isnan(each)
        else:
            assert each == pytest.approx(spearmanr(a[kept], b[kept]).statistic, abs=1e-12)
    assert 0 < np.isnan(found).sum() < 30


def test_weighted_entries_by_hand():
    # Entries 1, 1, 3 against 10, 10, 20, then a constant side, then nothing drawn.
    found = weighted_spearman([1, 2, 3], [10, 30, 20], [[2, 0, 1], [3, 0, 0], [0, 0, 0]])
    assert found[0] == pytest.approx(1)
    assert np.isnan(found[1:]).all()


@given(SIDES, st.data())
def test_weighted_entries_are_repeated_entries(sides, data):
    x, y = np.array(sides, dtype=float).T
    weights = data.draw(
        st.lists(st.integers(0, 3), min_size=x.size, max_size=x.size), label="weights"
    )
    expected = spearman(np.repeat(x, weights), np.repeat(y, weights))
    found = weighted_spearman(x, y, [weights, [1] * x.size])
    assert found == pytest.approx([expected, spearman(x, y)], nan_ok=True, abs=1e-12)


def test_infinite_values_tie():
    sums, group = tied_weights([np.inf, 0, np.inf, -np.inf], [[1, 2, 4, 8]])
    assert sums.tolist() == [[8, 2, 5]]
    assert group.tolist() == [2, 1, 2, 0]


@pytest.mark.parametrize(
    ("values", "weights"),
    [([], [[]]), ([1, np.nan], [[1, 1]]), ([1, 2], [1, 1]), ([1, 2], [[1]]), ([[1]], [[1]])],
)
def test_bad_weights(values, weights):
    with pytest.raises(ResponseError, match=r"expected \(n_entries,\) numbers"):
        tied_weights(values, weights)


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([[1, 2]], [[1, 2, 3]])])
def test_bad_tables(x, y):
    with pytest.raises(ResponseError, match="expected two equal tables"):
        spearman_rows(x, y)


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1]), ([[1, 2]], [[1, 2]])])
def test_bad_shapes(x, y):
    with pytest.raises(ResponseError, match="expected two equal lists"):
        spearman(x, y)
