import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.errors import ResponseError
from decaf.routing.quadrature import check_measure, trapezoid_weights


@pytest.mark.parametrize(
    ("grid", "weights"),
    [
        ([0, 1], [1 / 2, 1 / 2]),
        ([0, 0.5, 1], [1 / 4, 1 / 2, 1 / 4]),
        (np.linspace(0, 1, 5), [1 / 8, 1 / 4, 1 / 4, 1 / 4, 1 / 8]),
        (np.linspace(0, 1, 9), [1 / 16] + [1 / 8] * 7 + [1 / 16]),
        (np.linspace(0, 1, 11), [0.05] + [0.1] * 9 + [0.05]),
        ([0, 0.2, 1], [0.1, 0.5, 0.4]),
    ],
    ids=["two", "DECAF-3", "DECAF-5", "nine", "eleven", "uneven"],
)
def test_trapezoid_weights(grid, weights):
    np.testing.assert_allclose(trapezoid_weights(grid), weights, rtol=1e-14)


GRIDS = st.lists(st.integers(1, 999), min_size=1, max_size=20, unique=True).map(
    lambda inner: np.array([0, *sorted(inner), 1000]) / 1000
)


@given(GRIDS)
def test_trapezoid_weights_are_a_measure_and_integrate_like_the_rule(grid):
    weights = check_measure(trapezoid_weights(grid))
    values = np.cos(7 * grid)
    assert weights @ values == pytest.approx(np.trapezoid(values, grid), abs=1e-14)


def test_a_grid_may_miss_its_ends_by_rounding():
    assert trapezoid_weights([1e-13, 1 - 1e-13]).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ([0], "at least two"),
        ([[0, 1]], "at least two"),
        ([0, 0.5], "spans"),
        ([0.1, 1], "spans"),
        ([0, 0.5, 0.5, 1], "strictly increase"),
        ([0, 1, 0.5], "strictly increase"),
        ([0, np.nan, 1], "non-finite"),
        ([False, True], "dtype bool"),
        ([], "empty"),
    ],
)
def test_a_grid_that_does_not_span_zero_to_one_in_order_is_refused(grid, message):
    with pytest.raises(ResponseError, match=f"stage grid.*{message}"):
        trapezoid_weights(grid)


@pytest.mark.parametrize("measure", [[1], [0.25] * 4, [0, 0, 1], [0.7, 0.3], np.full(9, 1 / 9)])
def test_normalised_weights_are_a_measure(measure):
    np.testing.assert_array_equal(check_measure(measure), measure)


@pytest.mark.parametrize("seed", range(5))
def test_weights_in_single_precision_are_divided_by_their_sum_again(seed):
    weights = np.random.default_rng(seed).random(9).astype(np.float32)
    shares = check_measure(weights / weights.sum())
    assert shares.sum() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(shares, weights / weights.sum(), rtol=1e-6)
    with pytest.raises(ResponseError, match="divide"):
        check_measure(np.float32(1.001) * weights / weights.sum())


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ([1.5, -0.5], "negative"),
        ([0.5, 0.4], "sums to 0.9"),
        ([0, 0], "sums to 0"),
        ([[0.5, 0.5]], "one axis"),
        (1.0, "one axis"),
        ([np.inf, 0], "non-finite"),
        ([True, False], "dtype bool"),
        ([], "empty"),
    ],
)
def test_weights_that_are_no_measure_are_refused(measure, message):
    with pytest.raises(ResponseError, match=f"stage measure.*{message}"):
        check_measure(measure)
