import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from decaf.errors import ResponseError
from decaf.ranks import spearman

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


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1]), ([[1, 2]], [[1, 2]])])
def test_bad_shapes(x, y):
    with pytest.raises(ResponseError, match="expected two equal lists"):
        spearman(x, y)
