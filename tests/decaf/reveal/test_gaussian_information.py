import numpy as np
import pytest

from decaf.errors import ResponseError
from decaf.reveal.gaussian.geometry import Geometry
from decaf.reveal.gaussian.information import information, information_scale, signal_to_noise
from decaf.reveal.gaussian.reference import reference_of
from decaf.routing.quadrature import trapezoid_weights

SIGMA = np.array([[5.0, 2.0], [2.0, 2.0]])  # eigenvalues 6 and 1, tau 3.5
REFERENCE = reference_of([0, 0], SIGMA)
GEOMETRIES = [Geometry(name) for name in ("cmmr", "pixel", "diagonal")]
GEOMETRIES += [Geometry("power", beta=0.5), Geometry("linear", share=0.3)]


def test_information_by_hand():
    # 1/2 log((1 + 3 x 1) (1 + 3 x 5)) = 1/2 log 64 at alpha 3/4.
    np.testing.assert_allclose(information(np.array([1.0, 5.0]), 0.75), np.log(8))
    np.testing.assert_array_equal(information(np.array([1.0, 5.0]), np.zeros((2, 3))), 0)


def test_ratios_by_hand():
    tiny = 1e-12
    np.testing.assert_allclose(signal_to_noise(REFERENCE, Geometry("cmmr"), tiny), [1, 1])
    np.testing.assert_allclose(
        signal_to_noise(REFERENCE, Geometry("pixel"), tiny), [6 / 3.5, 1 / 3.5]
    )
    # A ridge as large as tau: 6 / 9.5 and 1 / 4.5.
    np.testing.assert_allclose(signal_to_noise(REFERENCE, Geometry("cmmr"), 1), [6 / 9.5, 1 / 4.5])


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=lambda geometry: geometry.name)
@pytest.mark.parametrize("ridge", [1e-6, 0.5])
def test_ratios_are_the_eigenvalues_of_the_matrix(geometry, ridge):
    factor = np.random.default_rng(0).normal(size=(4, 6))
    reference = reference_of(np.zeros(6), factor.T @ factor)
    noise = geometry.colouring(reference).covariance(reference)
    noise += ridge * reference.mean_variance * np.eye(6)
    expected = np.linalg.eigvals(np.linalg.solve(noise, reference.covariance)).real
    found = signal_to_noise(reference, geometry, ridge)
    np.testing.assert_allclose(found, np.sort(expected)[::-1], rtol=1e-7, atol=1e-9)


def test_the_scale_of_cmmr_by_hand():
    # Equal ratios of one: I is proportional to -log(1 - alpha), so c = 1/2 at 1 - sqrt(1/16).
    scale = information_scale(REFERENCE, Geometry("cmmr"), 15 / 16, ridge=1e-12)
    assert scale.c.size == 51
    np.testing.assert_allclose(scale.alpha_of_c(np.array([0, 0.5, 1])), [0, 0.75, 15 / 16])
    np.testing.assert_allclose(scale.alpha, 1 - (1 / 16) ** scale.c, atol=1e-12)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=lambda geometry: geometry.name)
def test_the_scale_inverts_the_information(geometry):
    scale = information_scale(REFERENCE, geometry, 0.9)
    ratios = signal_to_noise(REFERENCE, geometry)
    share = information(ratios, scale.alpha) / information(ratios, 0.9)
    np.testing.assert_allclose(share, scale.c, atol=1e-12)
    assert (np.diff(scale.alpha) > 0).all()


def test_between_its_points_the_scale_is_linear():
    scale = information_scale(REFERENCE, Geometry("pixel"), 0.9, points=3)
    np.testing.assert_allclose(scale.alpha_of_c(np.array([0.25])), scale.alpha[1] / 2)


def test_weights_integrate_over_information():
    grid = np.linspace(0, 1, 16)
    scale = information_scale(REFERENCE, Geometry("pixel"), grid[-2])
    weights = scale.weights(grid)
    np.testing.assert_allclose(weights.sum(), 1)
    assert weights[-1] == 0
    # The integral of alpha itself, which is linear between the stages.
    np.testing.assert_allclose(weights @ grid, trapezoid_weights(scale.c) @ scale.alpha)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"alpha_max": 1.0}, "inside"),
        ({"alpha_max": 0.0}, "inside"),
        ({"alpha_max": 0.5, "points": 1}, "at least two"),
        ({"alpha_max": 0.5, "ridge": 0.0}, "the ridge is 0.0"),
    ],
)
def test_scales_that_there_are_not(arguments, reason):
    with pytest.raises(ResponseError, match=reason):
        information_scale(REFERENCE, Geometry("cmmr"), **arguments)
