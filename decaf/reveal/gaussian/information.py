"""Stages at which several geometries have revealed the same share of the input, to compare them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ResponseError
from decaf.reveal.gaussian.geometry import Geometry
from decaf.reveal.gaussian.reference import GaussianReference
from decaf.routing.quadrature import check_grid, trapezoid_weights

POINTS = 51
RIDGE = 1e-6
BISECTIONS = 60


class InformationScale(NamedTuple):
    """Alpha as a function of the share ``c`` of the information; linear between the points."""

    c: NDArray[np.float64]
    """(n_points,) evenly spaced from 0 to 1."""
    alpha: NDArray[np.float64]
    """(n_points,) increasing from 0 to the largest alpha of the scale."""

    def alpha_of_c(self, c: NDArray[np.float64]) -> NDArray[np.float64]:
        """Alpha at any shares ``c`` in [0, 1]."""
        return np.interp(c, self.c, self.alpha)

    def weights(self, grid: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n_stages,) weights of the trapezoid over ``c`` of values known at the stages.

        Values are linear in alpha between the stages. The weights sum to one.
        """
        stages = check_grid(grid)
        at_points = np.stack([np.interp(self.alpha, stages, unit) for unit in np.eye(stages.size)])
        return at_points @ trapezoid_weights(self.c)


def information(
    ratios: NDArray[np.float64], alpha: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """``I(alpha) = 1/2 log det(I + alpha / (1 - alpha) Gamma^-1 Sigma)``, in nats.

    The mutual information of a Gaussian input and its state: infinite at alpha 1. From (D,)
    eigenvalues of ``Gamma^-1 Sigma`` and (…,) alphas in [0, 1), (…,) float64.

    >>> np.exp(2 * information(np.array([1.0, 3.0]), np.array([0.0, 0.5]))).round(12).tolist()
    [1.0, 8.0]
    """
    odds = np.asarray(alpha) / (1 - np.asarray(alpha))
    return 0.5 * np.log1p(odds[..., None] * ratios).sum(axis=-1)


def signal_to_noise(
    reference: GaussianReference, geometry: Geometry, ridge: float = RIDGE
) -> NDArray[np.float64]:
    """Eigenvalues of ``(Gamma + ridge tau I)^-1 Sigma``, (D,) float64, descending.

    The ridge is what makes the inverse exist for covariances of less than full rank; directions in
    which the data do not vary count nothing. Geometries with the eigenvectors of ``Sigma`` need
    only its eigenvalues, ``diagonal`` a decomposition of its own (seconds for D = 3,072). Raises
    ResponseError when the ridge is not positive.
    """
    if not ridge > 0:
        raise ResponseError(f"the ridge is {ridge}; expected a positive share of the mean variance")
    colouring = geometry.colouring(reference)
    floor = ridge * reference.mean_variance
    if geometry.name == "diagonal" and colouring.pixel is not None:
        scale = 1 / np.sqrt(colouring.pixel**2 + floor)
        whitened = reference.covariance * scale * scale[:, None]
        return np.linalg.eigvalsh(whitened)[::-1].clip(min=0)
    noise = np.full(reference.size, floor)
    if colouring.principal is not None:
        noise[: reference.rank] += colouring.principal**2
    if colouring.pixel is not None:
        noise += colouring.pixel[0] ** 2
    return np.sort(reference.eigenvalues / noise)[::-1]


def information_scale(
    reference: GaussianReference,
    geometry: Geometry,
    alpha_max: float,
    ridge: float = RIDGE,
    points: int = POINTS,
) -> InformationScale:
    """Alpha at evenly spaced shares of the information, ``c = I(alpha) / I(alpha_max)``.

    The paper and its code name a common information coordinate without defining it. Ours: the
    mutual information of Gaussians above; a ridge of 1e-6 of the mean variance on the noise; each
    geometry normalised by its own information at ``alpha_max``; 51 points, each inverted by
    bisection, and linear interpolation between them.

    ``alpha_max`` in (0, 1) is where ``c`` is one. The information of the clean input is infinite,
    so that the scale has to end before: at the last stage below 1. Raises ResponseError when it is
    not inside (0, 1), or there are fewer than two points.
    """
    if not 0 < alpha_max < 1:
        raise ResponseError(
            f"alpha_max is {alpha_max}; expected a stage inside (0, 1): at 1 the information is "
            "infinite"
        )
    if points < 2:
        raise ResponseError(f"the scale has {points} points; expected at least two")
    ratios = signal_to_noise(reference, geometry, ridge)
    c = np.linspace(0, 1, points)
    target = c * information(ratios, alpha_max)
    low, high = np.zeros(points), np.full(points, float(alpha_max))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = information(ratios, middle) > target
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    alpha = (low + high) / 2
    alpha[0], alpha[-1] = 0, alpha_max
    return InformationScale(c, alpha)
