from functools import cache

import numpy as np
import pytest
import torch

from decaf.errors import ResponseError, UnknownName
from decaf.reveal.gaussian.geometry import Geometry, colour_normals
from decaf.reveal.gaussian.reference import reference_of

SIGMA = np.array([[5.0, 2.0], [2.0, 2.0]])  # eigenvalues 6 and 1, trace 7
REFERENCE = reference_of([10, 20], SIGMA)
AXES = np.array([[2, 1], [-1, 2]]) / 5**0.5
ROOTS = 7 / (6**0.5 + 1)  # rescales the square roots of the eigenvalues to the trace
COVARIANCES = {
    Geometry("cmmr"): SIGMA,
    Geometry("pixel"): 3.5 * np.eye(2),
    Geometry("diagonal"): np.diag([5.0, 2.0]),
    Geometry("power", beta=0.5): AXES.T @ np.diag([6**0.5 * ROOTS, ROOTS]) @ AXES,
    Geometry("power", beta=1): SIGMA,
    Geometry("power", beta=0): 3.5 * np.eye(2),
    Geometry("linear", share=0): SIGMA,
    Geometry("linear", share=0.25): 0.75 * SIGMA + 0.25 * 3.5 * np.eye(2),
    Geometry("linear", share=1): 3.5 * np.eye(2),
}


def name_of(geometry):
    return f"{geometry.name}-{geometry.beta}-{geometry.share}"


@pytest.fixture(params=COVARIANCES, ids=name_of)
def geometry(request):
    return request.param


def test_covariances_by_hand(geometry):
    found = geometry.colouring(REFERENCE).covariance(REFERENCE)
    np.testing.assert_allclose(found, COVARIANCES[geometry], rtol=1e-13, atol=1e-13)


def test_traces_match_at_any_rank(geometry):
    rng = np.random.default_rng(0)
    for rank in (1, 3, 8):
        factor = rng.normal(size=(rank, 8)) * 10.0 ** np.linspace(-2, 2, 8)
        reference = reference_of(np.zeros(8), factor.T @ factor)
        assert reference.rank == rank
        covariance = geometry.colouring(reference).covariance(reference)
        np.testing.assert_allclose(np.trace(covariance), np.sum(factor**2), rtol=1e-11)


def normals(count, reference=REFERENCE, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, reference.rank)), rng.normal(size=(count, reference.size))


def test_noise_has_the_covariance(geometry):
    count = 200_000
    noise = colour_normals(REFERENCE, geometry.colouring(REFERENCE), *normals(count), np.empty(0))
    # The standard error of an entry is at most sqrt(2 x 5^2 / n) = 0.016: five of them.
    np.testing.assert_allclose(np.cov(noise.T), COVARIANCES[geometry], atol=0.08)
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=0.03)


def test_noise_by_hand():
    principal, pixel = np.array([[1.0, 0], [0, 2]]), np.array([[2.0, 0], [0, -1]])
    cmmr = colour_normals(
        REFERENCE, Geometry("cmmr").colouring(REFERENCE), principal, None, np.empty(0)
    )
    np.testing.assert_allclose(cmmr, [6**0.5 * AXES[0], 2 * AXES[1]], rtol=1e-14)
    diagonal = Geometry("diagonal").colouring(REFERENCE)
    np.testing.assert_allclose(
        colour_normals(REFERENCE, diagonal, None, pixel, np.empty(0)),
        [[2 * 5**0.5, 0], [0, -(2**0.5)]],
    )
    linear = Geometry("linear", share=0.36).colouring(REFERENCE)
    np.testing.assert_allclose(
        colour_normals(REFERENCE, linear, principal, pixel, np.empty(0)),
        0.8 * cmmr + 0.6 * 3.5**0.5 * pixel,
    )


def test_the_ends_of_the_linear_family_are_cmmr_and_pixel_draw_by_draw():
    for share, end in ((0, "cmmr"), (1, "pixel")):
        linear = Geometry("linear", share=share).colouring(REFERENCE)
        expected = Geometry(end).colouring(REFERENCE)
        drawn = normals(9)
        np.testing.assert_array_equal(
            colour_normals(REFERENCE, linear, *drawn, np.empty(0)),
            colour_normals(REFERENCE, expected, *drawn, np.empty(0)),
        )


@cache
def wide_reference(size=300):
    factor = np.random.default_rng(5).normal(size=(size // 2, size))
    return reference_of(np.zeros(size), factor.T @ factor)


def test_torch_computes_what_numpy_does(geometry):
    reference = wide_reference()
    colouring = geometry.colouring(reference)
    drawn = normals(40, reference)
    expected = colour_normals(reference, colouring, *drawn, np.empty(0))
    double = colour_normals(reference, colouring, *drawn, torch.empty(0, dtype=torch.float64))
    assert isinstance(double, torch.Tensor)
    np.testing.assert_allclose(double.numpy(), expected, rtol=1e-12, atol=1e-12)
    single = colour_normals(reference, colouring, *drawn, torch.empty(0))
    assert single.dtype == torch.float32
    numpy_single = colour_normals(reference, colouring, *drawn, np.empty(0, np.float32))
    np.testing.assert_allclose(single.numpy(), numpy_single, atol=5e-6 * np.abs(expected).max())
    np.testing.assert_allclose(single.numpy(), expected, atol=5e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ({"name": "cmr"}, UnknownName, "did you mean 'cmmr'"),
        ({"name": "power"}, ResponseError, "beta .*'power' .*None"),
        ({"name": "power", "beta": -0.5}, ResponseError, "from 0 to 100"),
        ({"name": "power", "beta": np.inf}, ResponseError, "from 0 to 100"),
        ({"name": "power", "beta": 1, "share": 1}, ResponseError, "belongs to 'linear'"),
        ({"name": "linear"}, ResponseError, "share .*'linear' .*None"),
        ({"name": "linear", "share": 1.1}, ResponseError, "from 0 to 1"),
        ({"name": "linear", "share": np.nan}, ResponseError, "from 0 to 1"),
        ({"name": "cmmr", "beta": 0.5}, ResponseError, "'cmmr' has no beta"),
    ],
)
def test_geometries_that_there_are_not(arguments, error, reason):
    with pytest.raises(error, match=reason):
        Geometry(**arguments)
