"""Geometries of the noise: covariances with the trace of the data's (paper, appendix D)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ResponseError, UnknownName
from decaf.foundation.arrays import Array, like
from decaf.reveal.gaussian.reference import GaussianReference

GeometryName = Literal["cmmr", "pixel", "diagonal", "power", "linear"]


class Colouring(NamedTuple):
    """Rule that turns two independent sets of standard normals into noise.

    ``eta = (z_principal * principal) @ axes + z_pixel * pixel``, with the principal axes of the
    reference as rows. The term of an absent set is left out.
    """

    principal: NDArray[np.float64] | None
    """(rank,) standard deviations along the principal axes of the data."""
    pixel: NDArray[np.float64] | None
    """(D,) standard deviations of independent noise on every pixel."""

    def covariance(self, reference: GaussianReference) -> NDArray[np.float64]:
        """(D, D) float64 exact covariance of the noise."""
        covariance = np.zeros((reference.size, reference.size))
        if self.principal is not None:
            axes = reference.axes * self.principal[:, None]
            covariance += axes.T @ axes
        if self.pixel is not None:
            covariance += np.diag(self.pixel**2)
        return covariance


def cmmr(reference: GaussianReference) -> Colouring:
    """``Gamma = Sigma``: covariance-matched, the primary protocol."""
    return Colouring(np.sqrt(_spectrum(reference)), None)


def pixel(reference: GaussianReference) -> Colouring:
    """``Gamma = tau I`` with ``tau = tr(Sigma) / D``: isotropic, trace-matched."""
    return Colouring(None, np.full(reference.size, np.sqrt(reference.mean_variance)))


def diagonal(reference: GaussianReference) -> Colouring:
    """``Gamma = diag(Sigma)``: the variance of every pixel, no correlations."""
    return Colouring(None, np.sqrt(reference.variances))


def power(reference: GaussianReference, beta: float) -> Colouring:
    """Eigenvalues ``l^beta``, rescaled to the trace; directions without variance stay so.

    ``beta = 1`` is :func:`cmmr`; 0 is white within the span of the data.
    """
    spectrum = _spectrum(reference)
    # Relative to the largest eigenvalue, so that no power under- or overflows.
    raised = (spectrum / spectrum[0]) ** beta
    return Colouring(np.sqrt(raised * (spectrum.sum() / raised.sum())), None)


def linear(reference: GaussianReference, share: float) -> Colouring:
    """``Gamma = (1 - lambda) Sigma + lambda tau I``, from two independent noises.

    ``share`` is lambda: 0 is :func:`cmmr` and 1 is :func:`pixel`, draw by draw.
    """
    principal, isotropic = cmmr(reference).principal, pixel(reference).pixel
    return Colouring(
        None if share == 1 else np.sqrt(1 - share) * principal,
        None if share == 0 else np.sqrt(share) * isotropic,
    )


@dataclass(frozen=True)
class Geometry:
    """A geometry by name, with the parameter that it takes.

    Raises UnknownName when no geometry has the name, and ResponseError when ``beta`` (for
    ``power``) or ``share`` (for ``linear``) is missing, out of range, or given to another geometry.
    """

    name: GeometryName
    beta: float | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        geometry_names = get_args(GeometryName)
        if self.name not in geometry_names:
            raise UnknownName.among("geometry", self.name, geometry_names)
        self._check_parameter("beta", "power", 100)
        self._check_parameter("share", "linear", 1)

    def colouring(self, reference: GaussianReference) -> Colouring:
        """Colouring of normals under this reference."""
        match self.name:
            case "cmmr":
                return cmmr(reference)
            case "pixel":
                return pixel(reference)
            case "diagonal":
                return diagonal(reference)
            case "power":
                return power(reference, cast("float", self.beta))  # as checked
            case "linear":
                return linear(reference, cast("float", self.share))

    def _check_parameter(self, name: str, owner: str, largest: float) -> None:
        value = getattr(self, name)
        if self.name != owner:
            if value is not None:
                raise ResponseError(
                    f"{name} is {value}, but geometry {self.name!r} has no {name}; it belongs to "
                    f"{owner!r}"
                )
        elif value is None or not 0 <= value <= largest:
            raise ResponseError(
                f"{name} of geometry {owner!r} is {value}; expected a number from 0 to {largest:g}"
            )


def colour_normals(
    reference: GaussianReference,
    colouring: Colouring,
    principal: NDArray[np.float64] | None,
    pixel: NDArray[np.float64] | None,
    array: Array,
) -> Array:
    """(n, D) noise from standard normals, of the library, type and device of ``array``.

    ``principal`` (n, rank) and ``pixel`` (n, D) are standard normals; each may be None if the
    colouring has no such part. The matrix product runs on the device.
    """
    parts = []
    if colouring.principal is not None:
        scaled = like(array, cast("NDArray[np.float64]", principal) * colouring.principal)
        parts.append(scaled @ reference.axes_like(array))
    if colouring.pixel is not None:
        parts.append(like(array, cast("NDArray[np.float64]", pixel) * colouring.pixel))
    return sum(parts[1:], start=parts[0])


def _spectrum(reference: GaussianReference) -> NDArray[np.float64]:
    """(rank,) eigenvalues that are not zero."""
    return reference.eigenvalues[: reference.rank]
