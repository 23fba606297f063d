import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ResponseError
from decaf.routing.route import as_scores, endpoint_per_trajectory, is_active, route


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        (0.3, [[0.1, 0.0], [0.0, 0.2], [0.0, 0.0]]),
        (-0.5, [[0.0, 0.2], [0.1, 0.0], [0.0, 0.0]]),
        (0.019, [[0.0, 0.0], [0.0, 0.0], [0.1, 0.2]]),
    ],
    ids=["active", "negative", "null"],
)
def test_components_by_hand(endpoint, expected):
    e, c, f = route([[0.1, -0.2]], [[endpoint]], epsilon=0.02)
    np.testing.assert_array_equal([e[0], c[0], f[0]], expected)


def test_equality_at_the_threshold_is_active_and_zero_is_null():
    assert is_active([0.02, -0.02, 0.0199999, 0.0], 0.02).tolist() == [True, True, False, False]


def test_single_precision_is_promoted_before_the_gate():
    # The float32 nearest to 0.02 lies below it: single precision would call the pair active.
    d = np.float32(0.02)
    assert d >= np.float32(0.02)
    assert float(d) < 0.02
    assert not is_active(d, 0.02)
    assert route(np.array([0.0, d], np.float32), epsilon=0.02).f.dtype == np.float64


@pytest.mark.parametrize(
    "values",
    [
        *(np.array([1, 0, 3], kind) for kind in ("f2", "f4", "longdouble", "i1", "u8")),
        torch.tensor([1.0, 0, 3], requires_grad=True),
        torch.tensor([1, 0, 3], dtype=torch.float16),
    ],
    ids=lambda values: str(values.dtype),
)
def test_every_real_dtype_becomes_double(values):
    scores = as_scores(values)
    assert scores.dtype == np.float64
    assert scores.tolist() == [1.0, 0.0, 3.0]


@pytest.mark.parametrize("dtype", [torch.bool, torch.complex64, torch.bfloat16], ids=str)
def test_tensors_that_are_no_real_array_are_refused(dtype):
    with pytest.raises(ResponseError, match="real numbers"):  # NumPy has no bfloat16
        as_scores(torch.ones(1, dtype=dtype))


def test_the_endpoint_is_the_last_stage_unless_it_is_given():
    response = [[0.1, -0.2, 0.3], [0.1, 0.2, -0.3]]
    np.testing.assert_array_equal(route(response), route(response, [0.3, -0.3]))


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
    assert endpoint_per_trajectory(endpoint, (2, 3)).tolist() == [0.4, 0.4]


def test_the_shapes_of_an_endpoint_follow_the_stage_axis():
    d = np.array([[0.1, 0.2], [0.3, 0.4]])
    for given_d in (d, d[:, None, :], np.repeat(d[:, None, :], 3, axis=1)):
        np.testing.assert_array_equal(endpoint_per_trajectory(given_d, (2, 3, 2), stage_axis=1), d)


@pytest.mark.parametrize("endpoint", [[0.1] * 3, [[0.1, 0.2]], [0.1], [[[0.1]]]])
def test_an_endpoint_of_another_shape_is_refused(endpoint):
    with pytest.raises(ResponseError, match=r"endpoint has shape.*\(2, 3\)"):
        route(np.ones((2, 3)), endpoint)


def test_an_endpoint_that_changes_between_stages_is_refused():
    with pytest.raises(ResponseError, match="changes between stages"):
        route([[0.1, 0.2]], [[0.3, 0.4]])


@given(arrays(np.float64, (2, 3, 4), elements=st.floats(-1, 1)), st.integers(-3, 2))
def test_the_position_of_the_stage_axis_does_not_matter(response, axis):
    moved = route(np.moveaxis(response, -1, axis), epsilon=0.1, stage_axis=axis)
    moved = [np.moveaxis(part, axis, -1) for part in moved]
    np.testing.assert_array_equal(moved, route(response, epsilon=0.1))


@pytest.mark.parametrize("axis", [2, -3])
def test_a_stage_axis_that_the_response_lacks_is_refused(axis):
    with pytest.raises(ResponseError, match=f"stage_axis is {axis}, but"):
        route([[0.1, 0.2]], stage_axis=axis)


@pytest.mark.parametrize(
    "response",
    [
        *([], [True, False], [1j], ["0.1"], [np.nan], [np.inf], [[0.1], [0.1, 0.2]], None),
        np.ma.masked_array([0.1, 0.2], [True, False]),
    ],
    ids=["empty", "boolean", "complex", "text", "nan", "infinite", "ragged", "nothing", "masked"],
)
def test_what_is_not_a_response_is_refused(response):
    with pytest.raises(ResponseError, match="response"):
        route(response, [0.5])


def test_the_first_non_finite_value_is_located():
    with pytest.raises(ResponseError, match=r"2 non-finite .* \(0, 1\)"):
        route([[0.1, np.nan], [np.inf, 0.2]], 0.5)


@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, True, "0.02", None, 1j])
def test_an_epsilon_that_is_no_threshold_is_refused(epsilon):
    with pytest.raises(ResponseError, match="above 0"):
        route([0.1], [0.5], epsilon)
