import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from decaf.errors import ResponseError
from decaf.statistics.ranks import spearman_rows

SIDES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 2, 3], [10, 30, 20], 0.5),
        ([1, 2], [5, 4], -1),
        # Ranks 1.5, 1.5, 3 against 1, 2, 3: covariance 0.75, variances 0.75 and 1.
        ([4, 4, 9], [1, 2, 3], 0.75 / np.sqrt(0.75)),
        ([1, np.nan, 2, 3], [1, 9, np.nan, 2], 1),
        ([1, 2, np.inf], [1, 2, 3], 1),
        ([np.inf, np.inf], [1, 2], np.nan),
        ([1, 1, 1], [1, 2, 3], np.nan),
        ([1, 2, 3], [0, 0, 0], np.nan),
        ([np.nan, 1], [1, 2], np.nan),
        ([1], [2], np.nan),
        ([], [], np.nan),
    ],
)
def test_by_hand(x, y, expected):
    assert spearman_rows([x], [y])[0] == pytest.approx(expected, nan_ok=True)


@given(SIDES)
def test_only_order_counts(sides):
    x, y = np.array(sides, dtype=float).T
    found = spearman_rows([x, np.exp(x), -x, y], [y, y**3, y, x])
    assert found == pytest.approx(found[0] * np.array([1, 1, -1, 1]), nan_ok=True)


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


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([[1, 2]], [[1, 2, 3]])])
def test_bad_tables(x, y):
    with pytest.raises(ResponseError, match="expected equal shapes"):
        spearman_rows(x, y)
