import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ResponseError
from decaf.routing.integrals import integrate
from decaf.routing.profiles import gate, profile
from decaf.routing.quadrature import trapezoid_weights
from decaf.routing.route import route

NINE = np.linspace(0, 1, 9)
RESPONSES = arrays(np.float64, (7, 9), elements=st.floats(-1, 1))


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


def test_a_zero_endpoint_opposes_nothing():
    p = profile([[0.2, -0.2, 0.0], [0.2, -0.2, -0.0]], [0, 0.5, 1])
    assert p.opposed_mass.tolist() == [0, 0]
    np.testing.assert_allclose(p.fragility, [0.15, 0.15])
    assert np.isnan(p.sign_flip_frac).all()


def test_an_endpoint_can_be_given_apart_from_the_last_stage():
    p = profile([[0.0, 0.3, 0.2]], [0, 0.5, 1], epsilon=0.02, endpoint=[-0.5])
    np.testing.assert_allclose(p.contradiction, [0.2])
    np.testing.assert_allclose(p.evidence, [0.0])


def test_the_last_stage_alone_adds_its_weight_times_the_endpoint():
    p = profile([[0.0] * 8 + [-0.8]], NINE)
    assert p.evidence.tolist() == [0.8 / 16]


def test_two_contexts_are_a_measure_without_a_path():
    # Weight 1/4 on a context that reverses the effect; d comes from the first context.
    p = profile([[0.4, -0.4], [0.4, 0.0]], measure=[0.75, 0.25], endpoint=[0.4, 0.4])
    np.testing.assert_allclose(p.evidence, [0.3, 0.3], rtol=1e-15)
    np.testing.assert_allclose(p.contradiction, [0.1, 0.0], rtol=1e-15)
    np.testing.assert_allclose(p.sign_flip_frac, [0.25, 0.0], rtol=1e-15)


def test_all_mass_at_one_stage_is_that_stage():
    p = profile([[0.1, -0.3, 0.5]], measure=[0, 1, 0])
    assert p.contradiction.tolist() == [0.3]
    assert p.evidence.tolist() == [0.0]


@given(RESPONSES)
def test_profiles_integrate_the_routed_stages(response):
    p = profile(response, NINE, 0.1)
    e, c, f = (part @ trapezoid_weights(NINE) for part in route(response, epsilon=0.1))
    np.testing.assert_allclose(p.evidence, e, atol=1e-15)
    np.testing.assert_allclose(p.contradiction, c, atol=1e-15)
    np.testing.assert_allclose(p.fragility, f, atol=1e-15)
    opposes = np.sign(response[:, -1:]) * response < 0
    np.testing.assert_allclose(
        p.opposed_mass, np.where(opposes, np.abs(response), 0) @ trapezoid_weights(NINE), atol=1e-15
    )
    flips = np.where(p.is_endpoint_active, opposes @ trapezoid_weights(NINE), np.nan)
    np.testing.assert_allclose(p.sign_flip_frac, flips, atol=1e-15)


@given(arrays(np.float64, (2, 3, 2, 9), elements=st.floats(-1, 1)))
def test_leading_dimensions_are_kept(response):
    flat = np.array(profile(response.reshape(-1, 9), NINE, 0.1))
    np.testing.assert_array_equal(profile(response, NINE, 0.1), flat.reshape(-1, 2, 3, 2))
    one = profile(response[0, 0, 0], NINE, 0.1)
    np.testing.assert_allclose(one, flat[:, 0], rtol=1e-14, atol=1e-15)


@given(arrays(np.float64, (3, 2, 9), elements=st.floats(-1, 1)), st.integers(-3, 2))
def test_the_position_of_the_stage_axis_does_not_matter(response, axis):
    moved = profile(np.moveaxis(response, -1, axis), NINE, 0.1, stage_axis=axis)
    np.testing.assert_array_equal(moved, profile(response, NINE, 0.1))


@given(RESPONSES, st.floats(1e-3, 2))
def test_gating_integrals_gives_the_profiles(response, epsilon):
    gated = gate(integrate(response, NINE), epsilon)
    np.testing.assert_array_equal(gated, profile(response, NINE, epsilon))


def test_gating_leaves_the_integrals_as_they_are():
    sums = integrate([[0.0, -0.2, 0.01]], [0, 0.5, 1])
    before = [column.copy() for column in sums]
    gate(sums, 0.02)
    np.testing.assert_array_equal(sums, before)


def test_the_response_and_the_endpoint_are_left_as_they_are():
    response, endpoint = np.array([[0.0, -0.2, 0.4]]), np.array([-0.4])
    p = profile(response, [0, 0.5, 1], endpoint=endpoint)
    assert response.tolist() == [[0.0, -0.2, 0.4]]
    assert endpoint.tolist() == [-0.4]
    assert not any(np.shares_memory(column, part) for column in p for part in (response, endpoint))


@pytest.mark.parametrize("shape", [(8,), (2, 8), (2, 9, 1), ()])
def test_a_response_with_another_number_of_stages_is_refused(shape):
    with pytest.raises(ResponseError, match=r"shape.*expected 9"):
        profile(np.ones(shape), NINE)


@pytest.mark.parametrize(
    ("where", "count"), [({}, "neither"), ({"grid": NINE, "measure": np.full(9, 1 / 9)}, "both")]
)
def test_the_stages_have_one_measure(where, count):
    with pytest.raises(ResponseError, match=f"found {count}"):
        profile(np.ones((2, 9)), **where)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("measure", [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
def test_a_value_that_is_not_finite_is_refused_whatever_its_weight(bad, measure):
    response = np.zeros((2, 2, 3))
    response[1, 0, 1] = bad
    with pytest.raises(ResponseError, match=r"1 non-finite .* \(1, 0, 1\)"):
        profile(response, measure=measure)


@pytest.mark.parametrize("epsilon", [0, -0.1, True, np.nan, np.inf])
def test_an_epsilon_that_is_no_threshold_is_refused(epsilon):
    with pytest.raises(ResponseError, match="above 0"):
        profile([[0.0, 0.5]], [0, 1], epsilon)
    with pytest.raises(ResponseError, match="above 0"):
        gate(integrate([[0.0, 0.5]], [0, 1]), epsilon)


@pytest.mark.parametrize("endpoint", [[0.1, 0.2], [[0.1, 0.2]], [np.nan], [True]])
def test_an_endpoint_that_is_no_contrast_is_refused(endpoint):
    with pytest.raises(ResponseError, match="endpoint"):
        profile([[0.0, 0.2]], [0, 1], endpoint=endpoint)


def test_more_stages_of_one_weight_than_a_byte_counts():
    response = np.full((1, 1001), -1.0)
    response[0, -1] = 1.0
    assert profile(response, np.linspace(0, 1, 1001)).sign_flip_frac[0] == pytest.approx(0.9995)
