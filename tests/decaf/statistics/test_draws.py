import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.errors import ResponseError
from decaf.statistics.draws import draw_clusters, multiplicities, named_draws


def test_draws_are_those_of_the_generator():
    expected = np.random.default_rng(91702).integers(0, 7, size=(500, 7))
    np.testing.assert_array_equal(draw_clusters(7), expected)


def test_named_draws_have_a_generator_for_every_replicate():
    digest = hashlib.sha256(b"8218\x002\x00funnybirds\x00vgg16").digest()
    seed = int.from_bytes(digest[:8], "little")
    expected = np.random.default_rng(seed).integers(0, 499, 499)
    first, second = named_draws("funnybirds\0vgg16", 499, range(1, 3), seed=8218)
    np.testing.assert_array_equal(second, expected)
    assert (first != second).any()


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
        (lambda: named_draws("a", 0, range(2), 1), "2 replicates of 0 clusters"),
        (lambda: named_draws("a", 2, range(0), 1), "0 replicates of 2 clusters"),
        (lambda: multiplicities([[0, 3]], 3), "of the 3 clusters"),
        (lambda: multiplicities([[0.0, 1.0]], 3), "dtype float64"),
        (lambda: multiplicities(0, 3), r"shape \(\)"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ResponseError, match=message):
        make()
