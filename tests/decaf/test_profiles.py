import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf import profiles as module
from decaf.errors import ResponseError
from decaf.profiles import profile
from decaf.quadrature import trapezoid_weights
from decaf.routing import route

NINE = np.linspace(0, 1, 9)


@pytest.mark.parametrize(
    ("grid", "weights"),
    [
        ([0, 0.5, 1], [1 / 4, 1 / 2, 1 / 4]),
        (np.linspace(0, 1, 5), [1 / 8, 1 / 4, 1 / 4, 1 / 4, 1 / 8]),
        (NINE, [1 / 16] + [1 / 8] * 7 + [1 / 16]),
        ([0, 0.2, 1], [0.1, 0.5, 0.4]),
    ],
)
def test_trapezoid_weights(grid, weights):
    np.testing.assert_allclose(trapezoid_weights(grid), weights, rtol=1e-15)


@pytest.mark.parametrize("grid", [[0], [0, 0.5], [0.1, 1], [0, 0.5, 0.5, 1], [0, 1, 0.5]])
def test_a_grid_that_does_not_span_zero_to_one_in_order_is_refused(grid):
    with pytest.raises(ResponseError, match="stage"):
        trapezoid_weights(grid)


def test_a_profile_by_hand():
    # Weights 1/4, 1/2, 1/4. First pair: d = 0.4, the middle stage opposes it. Second: null.
    p = profile([[0.0, -0.2, 0.4], [0.0, -0.3, 0.01]], [0, 0.5, 1], epsilon=0.02)
    np.testing.assert_allclose(p.evidence, [0.1, 0.0])
    np.testing.assert_allclose(p.contradiction, [0.1, 0.0])
    np.testing.assert_allclose(p.fragility, [0.0, 0.1525])
    np.testing.assert_allclose(p.abs_response, [0.2, 0.1525])
    np.testing.assert_allclose(p.net_response, [0.0, 0.0], atol=1e-17)
    np.testing.assert_allclose(p.endpoint_magnitude, [0.4, 0.01])
    np.testing.assert_allclose(p.opposed_mass, [0.1, 0.15])
    np.testing.assert_allclose(p.sign_flip_frac, [0.5, np.nan])
    assert p.is_endpoint_active.tolist() == [True, False]


def test_an_endpoint_can_be_given_apart_from_the_last_stage():
    p = profile([[0.0, 0.3, 0.2]], [0, 0.5, 1], epsilon=0.02, endpoint=[-0.5])
    np.testing.assert_allclose(p.contradiction, [0.2])
    np.testing.assert_allclose(p.evidence, [0.0])


@given(arrays(np.float64, (7, 9), elements=st.floats(-1, 1)))
def test_profiles_integrate_the_routed_stages(response):
    p = profile(response, NINE, 0.1)
    e, c, f = (part @ trapezoid_weights(NINE) for part in route(response, response[:, -1:], 0.1))
    np.testing.assert_allclose(p.evidence, e, atol=1e-15)
    np.testing.assert_allclose(p.contradiction, c, atol=1e-15)
    np.testing.assert_allclose(p.fragility, f, atol=1e-15)
    np.testing.assert_array_equal(p.abs_response, p.evidence + p.contradiction + p.fragility)


@given(arrays(np.float64, (5, 9), elements=st.floats(-1, 1)), st.floats(0.125, 8))
def test_scaling_score_and_threshold_scales_the_profile(response, scale):
    one, other = profile(response, NINE, 0.1), profile(scale * response, NINE, scale * 0.1)
    same_gate = one.is_endpoint_active == other.is_endpoint_active
    # Rounding may move a pair that lies exactly on the threshold, and nothing else.
    assert (same_gate | np.isclose(one.endpoint_magnitude, 0.1, rtol=1e-12)).all()
    for name in ("evidence", "contradiction", "fragility", "abs_response"):
        np.testing.assert_allclose(
            getattr(other, name)[same_gate], scale * getattr(one, name)[same_gate], atol=1e-13
        )


def test_the_number_of_rows_at_once_does_not_matter(monkeypatch):
    response = np.random.default_rng(0).normal(size=(50, 9))
    whole = profile(response, NINE, 0.1)
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 7)
    for one, other in zip(whole, profile(response, NINE, 0.1), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-15)


@pytest.mark.parametrize("shape", [(9,), (2, 8), (2, 9, 1)])
def test_a_response_of_another_shape_is_refused(shape):
    with pytest.raises(ResponseError, match="shape"):
        profile(np.ones(shape), NINE)
