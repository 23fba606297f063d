import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ResponseError
from decaf.routing.route import as_scores, is_active, one_per_trajectory, route

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


def test_single_precision_is_promoted_before_the_gate():
    # The float32 nearest to 0.02 lies below it: single precision would call the pair active.
    d = np.float32(0.02)
    assert d >= np.float32(0.02)
    assert float(d) < 0.02
    assert not is_active(d, 0.02)
    assert route(np.array([0.0, d], np.float32), epsilon=0.02).f.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.int8, np.uint64])
def test_every_real_dtype_becomes_double(dtype):
    scores = as_scores(np.array([[1, 0, 3]], dtype))
    assert scores.dtype == np.float64
    assert scores.tolist() == [[1.0, 0.0, 3.0]]


def test_tensors_are_taken_with_or_without_a_gradient():
    tensor = torch.tensor([0.25, -0.5], requires_grad=True)
    assert as_scores(tensor).tolist() == [0.25, -0.5]
    assert as_scores(tensor.detach().to(torch.float16)).tolist() == [0.25, -0.5]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([True]),
        torch.tensor([1j]),
        torch.tensor([0.5], dtype=torch.bfloat16),  # NumPy has no such dtype
    ],
    ids=["boolean", "complex", "bfloat16"],
)
def test_tensors_that_are_no_real_array_are_refused(tensor):
    with pytest.raises(ResponseError, match="real numbers"):
        as_scores(tensor)


def test_the_endpoint_is_the_last_stage_unless_it_is_given():
    response = [[0.1, -0.2, 0.3], [0.1, 0.2, -0.3]]
    for one, other in zip(route(response), route(response, [0.3, -0.3]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_last_stage_is_not_forced_to_the_endpoint():
    components = route([[0.1, 0.3]], [-0.5])
    np.testing.assert_array_equal(components.c, [[0.1, 0.3]])
    np.testing.assert_array_equal(components.e, [[0.0, 0.0]])


@pytest.mark.parametrize(
    "endpoint",
    [0.4, [0.4, 0.4], [[0.4], [0.4]], [[0.4] * 3] * 2],
    ids=["scalar", "samples", "one stage", "all stages"],
)
def test_an_endpoint_has_one_value_per_trajectory_in_any_of_four_shapes(endpoint):
    assert one_per_trajectory(endpoint, (2, 3)).tolist() == [0.4, 0.4]


def test_the_shapes_of_an_endpoint_follow_the_stage_axis():
    d = np.array([[0.1, 0.2], [0.3, 0.4]])
    for given_d in (d, d[:, None, :], np.repeat(d[:, None, :], 3, axis=1)):
        np.testing.assert_array_equal(one_per_trajectory(given_d, (2, 3, 2), stage_axis=1), d)


@pytest.mark.parametrize("endpoint", [[0.1] * 3, [[0.1, 0.2]], [0.1], [[[0.1]]]])
def test_an_endpoint_of_another_shape_is_refused(endpoint):
    with pytest.raises(ResponseError, match=r"endpoint has shape.*\(2, 3\)"):
        route(np.ones((2, 3)), endpoint)


def test_an_endpoint_that_changes_between_stages_is_refused():
    with pytest.raises(ResponseError, match="changes between stages"):
        route([[0.1, 0.2]], [[0.3, 0.4]])


@given(arrays(np.float64, (2, 3, 4), elements=st.floats(-1, 1)), st.integers(-3, 2))
def test_the_position_of_the_stage_axis_does_not_matter(response, axis):
    for moved, last in zip(
        route(np.moveaxis(response, -1, axis), epsilon=0.1, stage_axis=axis),
        route(response, epsilon=0.1),
        strict=True,
    ):
        np.testing.assert_array_equal(np.moveaxis(moved, axis, -1), last)


@pytest.mark.parametrize("axis", [2, -3])
def test_a_stage_axis_that_the_response_lacks_is_refused(axis):
    with pytest.raises(ResponseError, match=f"no axis {axis}"):
        route([[0.1, 0.2]], stage_axis=axis)


@given(RESPONSES)
def test_magnitude_is_conserved_and_components_do_not_overlap(response):
    e, c, f = route(response, epsilon=0.1)
    np.testing.assert_array_equal(e + c + f, np.abs(response))
    assert (np.stack([e, c, f]) >= 0).all()
    assert ((np.stack([e, c, f]) > 0).sum(axis=0) <= 1).all()


@pytest.mark.parametrize(
    "response",
    [[], [True, False], [1j], ["0.1"], [np.nan], [np.inf], [[0.1], [0.1, 0.2]], None],
    ids=["empty", "boolean", "complex", "text", "nan", "infinite", "ragged", "nothing"],
)
def test_what_is_not_a_response_is_refused(response):
    with pytest.raises(ResponseError, match="response"):
        route(response, [0.5])


def test_the_first_non_finite_value_is_located():
    with pytest.raises(ResponseError, match=r"2 non-finite values, the first at \(0, 1\)"):
        route([[0.1, np.nan], [np.inf, 0.2]], 0.5)


@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, True, "0.02", None, 1j])
def test_an_epsilon_that_is_no_threshold_is_refused(epsilon):
    with pytest.raises(ResponseError, match="above 0"):
        route([0.1], [0.5], epsilon)
