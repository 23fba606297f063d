import threading
import tracemalloc

import numpy as np
import pytest

from decaf.errors import ResponseError
from decaf.routing import integrals
from decaf.routing.integrals import integrate
from decaf.routing.profiles import profile

NINE = np.linspace(0, 1, 9)


@pytest.fixture
def response():
    return np.random.default_rng(0).normal(size=(1000, 9))


def test_integrals_by_hand():
    # Weights 1/4, 1/2, 1/4; the sign of the third pair's zero says which side is opposed.
    sums = integrate([[0.0, -0.2, 0.4], [0.8, 0.2, -0.4], [0.4, -0.2, -0.0]], [0, 0.5, 1])
    np.testing.assert_allclose(sums.aligned, [0.1, 0.1, 0.1])
    np.testing.assert_allclose(sums.opposed, [0.1, 0.3, 0.1])
    np.testing.assert_allclose(sums.opposed_frac, [0.5, 0.75, 0.25])
    np.testing.assert_array_equal(sums.endpoint_delta, [0.4, -0.4, 0.0])


@pytest.mark.parametrize("values", [1, 63, 64, 9 * 999, 9 * 1001])
def test_the_size_of_a_block_does_not_matter(monkeypatch, response, values):
    whole = profile(response, NINE, 0.1)
    monkeypatch.setattr(integrals, "VALUES_PER_BLOCK", values)
    np.testing.assert_allclose(whole, profile(response, NINE, 0.1), rtol=0, atol=1e-15)


def test_threads_share_the_rows_and_change_no_number(monkeypatch, response):
    alone = profile(response, NINE, 0.1)
    monkeypatch.setattr(integrals, "VALUES_PER_THREAD", 9 * 300)
    monkeypatch.setattr(integrals.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(integrals, "VALUES_PER_BLOCK", 9 * 100)
    names = set()
    integrate_block = integrals._integrate_block

    def observed(*args):
        names.add(threading.current_thread().name)
        return integrate_block(*args)

    monkeypatch.setattr(integrals, "_integrate_block", observed)
    shared = profile(response, NINE, 0.1)
    assert threading.main_thread().name not in names
    np.testing.assert_allclose(alone, shared, rtol=0, atol=1e-15)


def test_fewer_trajectories_than_threads_are_integrated_too(monkeypatch, response):
    monkeypatch.setattr(integrals, "VALUES_PER_THREAD", 1)
    monkeypatch.setattr(integrals.os, "cpu_count", lambda: 8)
    few = integrate(response[:3], NINE)
    np.testing.assert_allclose(few.aligned, integrate(response, NINE).aligned[:3], atol=1e-15)


def test_a_bad_value_is_refused_from_a_thread_too(monkeypatch, response):
    monkeypatch.setattr(integrals, "VALUES_PER_THREAD", 9 * 300)
    monkeypatch.setattr(integrals.os, "cpu_count", lambda: 2)
    response[999, 4] = np.nan
    with pytest.raises(ResponseError, match=r"\(999, 4\)"):
        integrate(response, NINE)


def test_the_layout_in_memory_does_not_matter(response):
    wanted = profile(response, NINE, 0.1)
    for layout in (np.asfortranarray(response), np.repeat(response, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(wanted, profile(layout, NINE, 0.1))


def test_the_smallest_numbers_still_oppose():
    tiny = np.nextafter(0.0, 1.0)
    sums = integrate([[-tiny, 0.5]], [0, 1])
    assert sums.opposed_frac.tolist() == [0.5]


def beyond_the_results(response):
    """Bytes at the peak that are not of the results."""
    tracemalloc.start()
    results = profile(response, NINE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - sum(column.nbytes for column in results)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_beyond_the_results_does_not_grow_with_the_pairs(monkeypatch, dtype):
    monkeypatch.setattr(integrals, "MAX_THREADS", 1)
    beyond = []
    for pairs in (50_000, 200_000):
        response = np.ones((pairs, 9), dtype)
        # The least of three: other threads of the tests' process allocate as well.
        beyond.append(min(beyond_the_results(response) for _ in range(3)))
    assert beyond[0] == pytest.approx(beyond[1], abs=100_000)
    assert beyond[1] < 5_000_000  # a few blocks of 1 MiB
