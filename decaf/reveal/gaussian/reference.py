"""Mean and covariance of the inputs: factorised once, stored in a file, identified by a digest."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import DataError
from decaf.foundation.arrays import Array, like, namespace, to_numpy

ASYMMETRY = 1e-12
"""Largest difference of mirrored entries, relative to the largest entry."""
NEGATIVITY = 1e-10
"""Most negative eigenvalue, relative to the largest one, that counts as zero."""
ROWS_AT_ONCE = 1024
LARGEST_INPUT = 16_384
"""Most values of one input: their covariance takes 2 GB, its factorisation several times that."""


@dataclass(frozen=True, eq=False)
class GaussianReference:
    """The Gaussian that a reveal starts from (paper, appendix D).

    References are equal when their digests are: no comparison walks through a large matrix. Raises
    DataError when the shapes do not fit together.
    """

    mean: NDArray[np.float64]
    """(D,), units of the model's input."""
    eigenvalues: NDArray[np.float64]
    """(D,) of the covariance, descending; zero beyond its rank."""
    eigenvectors: NDArray[np.float64]
    """(D, D), one per column."""
    variances: NDArray[np.float64]
    """(D,) diagonal of the covariance."""
    shape: tuple[int, ...]
    """Shape of one input, with ``prod(shape) == D``."""
    _axes: dict[Any, Array] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        size = prod(self.shape)
        expected = {
            "mean": (size,),
            "eigenvalues": (size,),
            "eigenvectors": (size, size),
            "variances": (size,),
        }
        for name, shape in expected.items():
            actual = getattr(self, name).shape
            if actual != shape:
                raise DataError(
                    f"{name} of the Gaussian reference have shape {actual}; expected {shape} for "
                    f"inputs of shape {self.shape}"
                )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GaussianReference) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"GaussianReference(shape={self.shape}, rank={self.rank}, {self.digest[:12]})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the copies on devices."""
        arrays = self.mean, self.eigenvalues, self.eigenvectors, self.variances
        return GaussianReference, (*arrays, self.shape)

    @cached_property
    def digest(self) -> str:
        """Hex sha256 of the shape and of every number."""
        digest = hashlib.sha256(json.dumps(self.shape).encode())
        for array in (self.mean, self.eigenvalues, self.eigenvectors, self.variances):
            digest.update(np.ascontiguousarray(array, "<f8").data)
        return digest.hexdigest()

    @property
    def size(self) -> int:
        """D, the numbers of one input."""
        return self.mean.size

    @property
    def rank(self) -> int:
        """Directions in which the data vary."""
        return int(np.count_nonzero(self.eigenvalues))

    @property
    def mean_variance(self) -> float:
        """``tau = tr(Sigma) / D``, the variance of trace-matched isotropic noise."""
        return float(self.variances.mean())

    @property
    def covariance(self) -> NDArray[np.float64]:
        """(D, D) float64 put together from the eigenpairs."""
        return (self.eigenvectors * self.eigenvalues) @ self.eigenvectors.T

    @property
    def axes(self) -> NDArray[np.float64]:
        """(rank, D) principal axes, one per row."""
        return self.eigenvectors[:, : self.rank].T

    def axes_like(self, array: Array) -> Array:
        """The axes in the library, type and device of ``array``.

        Moved there once: 3,072 dimensions in float32 are 38 MB.
        """
        place = namespace(array), array.dtype, array.device
        if place not in self._axes:
            self._axes[place] = like(array, np.ascontiguousarray(self.axes))
        return self._axes[place]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Accept a reference in memory without conversion."""
        from pydantic_core import core_schema

        return core_schema.is_instance_schema(cls)


def reference_of(
    mean: ArrayLike, covariance: ArrayLike, shape: tuple[int, ...] | None = None
) -> GaussianReference:
    """Reference with a given mean, (D,) or of the shape of an input, and (D, D) covariance.

    The covariance must be symmetric within 1e-12 of its largest entry. Eigenvalues may be negative
    down to -1e-10 of the largest one; those below ``D`` rounding errors of the largest become zero.
    The sign of each eigenvector makes its largest component positive. Without ``shape``, an input
    has the shape of the mean. Raises DataError if the matrix is not a covariance, or the sizes do
    not fit together.

    >>> reference_of([0, 0], [[2, 1], [1, 2]]).eigenvalues.round(12).tolist()
    [3.0, 1.0]
    """
    centre = np.asarray(mean, np.float64)
    matrix = _checked_covariance(np.asarray(covariance, np.float64), centre)
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = values[::-1], vectors[:, ::-1]
    if values[0] <= 0:
        raise DataError("the covariance is zero: the inputs do not vary, so noise cannot either")
    if values[-1] < -NEGATIVITY * values[0]:
        raise DataError(
            f"the covariance has the eigenvalue {values[-1]:.3g} (the largest is {values[0]:.3g}); "
            f"expected none below {-NEGATIVITY:g} times the largest: check how the covariance was "
            "estimated"
        )
    smallest = values.size * np.finfo(np.float64).eps * values[0]
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return GaussianReference(
        mean=centre.reshape(-1),
        eigenvalues=np.where(values > smallest, values, 0.0),
        eigenvectors=vectors * np.where(largest < 0, -1.0, 1.0),
        variances=np.diag(matrix).clip(min=0),
        shape=centre.shape if shape is None else tuple(shape),
    )


def fit_reference(batches: Iterable[Array]) -> GaussianReference:
    """Reference with the sample mean and covariance (``n - 1`` in the denominator) of inputs.

    Sums and products are accumulated in float64 around the mean of the first rows; no more than
    one batch is held. Their rounding depends on how the inputs are cut into batches, and so does
    the digest: fit once and keep the file.

    Parameters
    ----------
    batches
        Arrays (n, …) of inputs of one shape, in the units of the model's input.

    Raises
    ------
    DataError
        When an input has another shape than the first or is not finite, when there are fewer than
        two, or when they are too large for a covariance in memory.

    Examples
    --------
    >>> fit_reference([np.array([[0.0, 0.0]]), np.array([[2.0, 4.0]])]).variances.tolist()
    [2.0, 8.0]
    """
    count, shape = 0, ()
    for number, batch in enumerate(batches):
        rows = to_numpy(batch)
        if number == 0:
            shape, size = rows.shape[1:], _checked_size(rows.shape[1:])
            total, products = np.zeros(size), np.zeros((size, size))
        _check_inputs(rows, number, shape)
        for first in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[first : first + ROWS_AT_ONCE].reshape(-1, size).astype(np.float64)
            if count == 0:
                pivot = part.mean(axis=0)
            part -= pivot
            count += len(part)
            total += part.sum(axis=0)
            products += part.T @ part
    if count < 2:
        raise DataError(f"a covariance needs at least two inputs; found {count}")
    products -= np.outer(total, total) / count
    products /= count - 1
    return reference_of(pivot + total / count, products, shape)


def _checked_size(shape: tuple[int, ...]) -> int:
    size = prod(shape)
    if size > LARGEST_INPUT:
        raise DataError(
            f"inputs of shape {shape} have {size} numbers, whose covariance would take "
            f"{8 * size**2 / 1e9:.0f} GB; a Gaussian reveal is for inputs of up to {LARGEST_INPUT} "
            "numbers: make the inputs smaller, or choose another path"
        )
    return size


def _check_inputs(batch: NDArray[Any], number: int, shape: tuple[int, ...]) -> None:
    if batch.shape[1:] != tuple(shape):
        raise DataError(
            f"inputs of batch {number} have shape {batch.shape[1:]}; expected {tuple(shape)}"
        )
    finite = np.isfinite(batch).reshape(len(batch), -1).all(axis=1)
    if not finite.all():
        raise DataError(
            f"input {int(finite.argmin())} of batch {number} has values that are not finite; "
            "moments need finite inputs"
        )


def _checked_covariance(
    matrix: NDArray[np.float64], centre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The matrix made exactly symmetric."""
    if centre.size == 0 or matrix.shape != (centre.size, centre.size):
        raise DataError(
            f"the covariance has shape {matrix.shape}; expected {(centre.size, centre.size)} for a "
            f"mean of shape {centre.shape}"
        )
    for name, array in (("mean", centre), ("covariance", matrix)):
        if not np.isfinite(array).all():
            raise DataError(f"the {name} has {int((~np.isfinite(array)).sum())} non-finite entries")
    asymmetry, scale = np.abs(matrix - matrix.T).max(), np.abs(matrix).max()
    if asymmetry > ASYMMETRY * scale:
        raise DataError(
            f"the covariance is not symmetric: mirrored entries differ by up to {asymmetry:.3g}, "
            f"{ASYMMETRY * scale:.3g} is allowed ({ASYMMETRY:g} of the largest entry)"
        )
    return (matrix + matrix.T) / 2
