import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ResponseError
from decaf.routing.profiles import profile
from decaf.routing.streaming import PathStream

GRIDS = st.lists(st.integers(1, 99), max_size=10, unique=True).map(
    lambda inner: np.array([0, *sorted(inner), 100]) / 100
)


def values(*shape):
    return arrays(np.float64, shape, elements=st.floats(-1, 1))


def streamed(grid, response, endpoint, epsilon):
    stream = PathStream(endpoint, epsilon)
    for t, stage in zip(grid, np.moveaxis(response, -1, 0), strict=True):
        stream.update(t, stage)
    return stream.finalise()


@given(st.data(), GRIDS)
def test_a_stream_gives_the_numbers_of_the_batch(data, grid):
    response, endpoint = data.draw(values(3, 2, grid.size)), data.draw(values(3, 2))
    batch = profile(response, grid, 0.1, endpoint)
    np.testing.assert_allclose(streamed(grid, response, endpoint, 0.1), batch, rtol=0, atol=2e-15)


def test_one_trajectory_streams_as_numbers():
    stream = PathStream(0.4)
    for t, response in [(0, 0.0), (0.5, -0.2), (1, 0.4)]:
        stream.update(t, response)
    assert stream.finalise().evidence == pytest.approx(0.1)


def test_buffers_of_the_caller_can_be_used_again():
    endpoint, response = np.array([0.4]), np.empty(1)
    stream = PathStream(endpoint)
    for t, value in [(0, 0.2), (0.5, 0.0), (1, 0.4)]:
        response[:] = value
        stream.update(t, response)
        response[:] = endpoint[:] = -9.0
    p = stream.finalise()
    np.testing.assert_allclose(p.evidence, [0.15])
    assert p.endpoint_delta.tolist() == [0.4]


def test_single_precision_stages_are_promoted():
    stream = PathStream(np.float32([0.1]))
    for t in (0, 1):
        stream.update(t, np.float32([0.1]))
    assert stream.finalise().evidence.tolist() == [float(np.float32(0.1))]


@pytest.mark.parametrize(
    ("before", "stage", "message"),
    [
        ([], 0.1, "first stage is 0.1"),
        ([0], 0, "follows 0.0"),
        ([0, 0.5], 0.4, "0.4 follows 0.5"),
        ([0], 1.1, "at most 1"),
        ([0, 1], 1.1, "at most 1"),
        ([], np.nan, "non-finite"),
        ([], [0.0], "one number"),
    ],
)
def test_a_stage_out_of_order_is_refused(before, stage, message):
    stream = PathStream([0.4])
    for t in before:
        stream.update(t, [0.1])
    with pytest.raises(ResponseError, match=message):
        stream.update(stage, [0.1])


def test_a_refused_stage_leaves_the_stream_as_it_was():
    stream = PathStream([0.4])
    stream.update(0, [0.0])
    for t, response in [(0.5, [np.nan]), (0.5, [0.1, 0.2]), (2.0, [0.1]), (0.5, [True])]:
        with pytest.raises(ResponseError):
            stream.update(t, response)
    with pytest.raises(ResponseError, match="last stage is 0.0"):
        stream.finalise()
    stream.update(1, [0.4])
    np.testing.assert_allclose(stream.finalise().evidence, [0.2])


def test_a_stream_without_stages_has_no_profile():
    with pytest.raises(ResponseError, match="missing"):
        PathStream([0.4]).finalise()


def test_a_finalised_stream_takes_nothing_more():
    stream = PathStream([0.4])
    stream.update(0, [0.0])
    stream.update(1, [0.4])
    stream.finalise()
    with pytest.raises(ResponseError, match="finalised"):
        stream.update(1, [0.4])
    with pytest.raises(ResponseError, match="finalised"):
        stream.finalise()


def test_an_endpoint_or_epsilon_that_is_none_is_refused():
    with pytest.raises(ResponseError, match="endpoint"):
        PathStream([np.nan])
    with pytest.raises(ResponseError, match="above 0"):
        PathStream([0.4], 0)
