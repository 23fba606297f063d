import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.errors import ResponseError
from decaf.statistics.draws import draw_clusters, multiplicities


def test_draws_are_those_of_the_generator():
    expected = np.random.default_rng(91702).integers(0, 7, size=(500, 7))
    np.testing.assert_array_equal(draw_clusters(7), expected)


@given(st.integers(1, 15), st.integers(0, 3))
def test_multiplicities_count_draws(count, seed):
    draws = draw_clusters(count, replicates=4, seed=seed)
    expected = [[list(row).count(i) for i in range(count)] for row in draws]
    assert multiplicities(draws, count).tolist() == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: draw_clusters(0), "500 replicates of 0 clusters"),
        (lambda: draw_clusters(3, replicates=0), "0 replicates of 3 clusters"),
        (lambda: multiplicities([[0, 3]], 3), "of the 3 clusters"),
        (lambda: multiplicities([[0.0, 1.0]], 3), "dtype float64"),
        (lambda: multiplicities(0, 3), r"shape \(\)"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ResponseError, match=message):
        make()
