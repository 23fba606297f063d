import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ResponseError
from decaf.routing import is_active, route

RESPONSES = arrays(np.float64, (4, 5), elements=st.floats(-1, 1))


def test_an_active_pair_splits_into_evidence_and_contradiction():
    components = route([[0.1, -0.2, 0.3]], [[0.3]], epsilon=0.02)
    np.testing.assert_allclose(components.e, [[0.1, 0.0, 0.3]])
    np.testing.assert_allclose(components.c, [[0.0, 0.2, 0.0]])
    np.testing.assert_array_equal(components.f, [[0.0, 0.0, 0.0]])


def test_a_negative_endpoint_turns_the_orientation():
    components = route([[0.1, -0.2]], [[-0.5]])
    np.testing.assert_allclose(components.e, [[0.0, 0.2]])
    np.testing.assert_allclose(components.c, [[0.1, 0.0]])


def test_a_null_pair_is_all_fragility():
    components = route([[0.1, -0.2]], [[0.019]], epsilon=0.02)
    np.testing.assert_allclose(components.f, [[0.1, 0.2]])
    assert not components.e.any()
    assert not components.c.any()


def test_equality_at_the_threshold_is_active_and_zero_is_null():
    assert is_active([0.02, -0.02, 0.0199999, 0.0], 0.02).tolist() == [True, True, False, False]


@given(RESPONSES)
def test_magnitude_is_conserved_and_components_do_not_overlap(response):
    e, c, f = route(response, response[:, -1:], 0.1)
    np.testing.assert_array_equal(e + c + f, np.abs(response))
    assert (np.stack([e, c, f]) >= 0).all()
    assert ((np.stack([e, c, f]) > 0).sum(axis=0) <= 1).all()


@given(RESPONSES)
def test_swapping_the_endpoints_changes_nothing(response):
    there = route(response, response[:, -1:], 0.1)
    back = route(-response, -response[:, -1:], 0.1)
    for one, other in zip(there, back, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "response",
    [[], [True, False], [1j], ["0.1"], [np.nan], [np.inf]],
    ids=["empty", "boolean", "complex", "text", "nan", "infinite"],
)
def test_what_is_not_a_response_is_refused(response):
    with pytest.raises(ResponseError):
        route(response, [0.5])


@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, True, "0.02"])
def test_an_epsilon_that_is_no_threshold_is_refused(epsilon):
    with pytest.raises(ResponseError, match="above 0"):
        route([0.1], [0.5], epsilon)


def test_an_endpoint_that_does_not_broadcast_is_refused():
    with pytest.raises(ResponseError, match=r"\(2,\).*\(1, 3\)"):
        route([[0.1, 0.2, 0.3]], [0.1, 0.2])
