"""Common uninformative states that are not random: a blurred midpoint, a constant."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ModelError, ResponseError
from decaf.foundation.arrays import Array, Same, Tensor, is_tensor, like

TRUNCATE = 4
"""Kernel radius in standard deviations, where none is given."""
LARGEST_SIGMA = 1000
"""Largest blur, px: it leaves only the mean of an image; a wider kernel only costs memory."""


@dataclass(frozen=True)
class BlurredMidpoint:
    """``x0 = Blur((x+ + x-) / 2)``, the same for both branches (paper, appendix F).

    Shapes, ``sigma`` and ``radius`` are those of :func:`gaussian_blur`; inputs other than images
    need ``sigma`` 0 or None. None stands for :func:`usual_blur`.
    """

    sigma: float | None
    radius: int | None = None
    of_pair = True

    def __post_init__(self) -> None:
        sigma, radius = self.sigma or 0, self.radius or 0
        if not (0 <= sigma <= LARGEST_SIGMA and 0 <= radius <= TRUNCATE * LARGEST_SIGMA):
            raise ResponseError(
                f"sigma is {sigma} px and radius {radius} px; expected sigma from 0 to "
                f"{LARGEST_SIGMA} and radius from 0 to {TRUNCATE * LARGEST_SIGMA}"
            )

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise ResponseError if inputs of a shape, (n, …), would be blurred and are not images.

        >>> BlurredMidpoint(0).check((8, 2, 128))
        """
        if self.sigma and len(shape) != 4:
            raise ResponseError(
                f"an input has shape {tuple(shape[1:])}; a blur (sigma {self.sigma}) needs images "
                "(channels, height, width): leave 'sigma' out for other inputs"
            )

    def states(self, plus: Array, minus: Array, draw: NDArray[np.uint64]) -> Array:
        """(n, channels, height, width) or, without a blur, (n, …) → the same shape."""
        sigma = usual_blur(plus.shape) if self.sigma is None else self.sigma
        return gaussian_blur((plus + minus) / 2, sigma, self.radius)


def usual_blur(shape: tuple[int, ...]) -> float:
    """Blur of the start, px: for images 8 px of 224 of the shorter side (paper, appendix F).

    ``shape`` is that of the inputs, (n, …). Inputs other than (n, channels, height, width) are not
    blurred.

    >>> usual_blur((5, 3, 64, 112)), usual_blur((5, 12))
    (2.2857142857142856, 0.0)
    """
    return 8 * min(shape[2:]) / 224 if len(shape) == 4 else 0.0


@dataclass(frozen=True)
class Constant:
    """The same value everywhere: one number for all channels (or features), or one for each."""

    value: tuple[float, ...]
    of_pair = False

    def states(self, plus: Array, minus: Array, draw: NDArray[np.uint64]) -> Array:
        """(n, channels, height, width) or other (n, …) → the same shape."""
        return self.value_like(plus) + 0 * plus

    def value_like(self, inputs: Same) -> Same:
        """(1, channels or 1, 1, …) the value, of the library, type and device of the inputs.

        Raises ResponseError when the inputs have another number of channels or features.
        """
        if len(self.value) not in (1, inputs.shape[1]):
            raise ResponseError(
                f"the baseline has {len(self.value)} values; expected 1, or "
                f"{inputs.shape[1]}, one for each channel"
            )
        return like(inputs, np.array(self.value).reshape(1, -1, *[1] * (inputs.ndim - 2)))


@dataclass(frozen=True)
class ModelMean:
    """The mean that the model subtracts: zero, as a network sees it.

    The plan of states is the same for all models. Before scoring, :meth:`of` replaces this start by
    the constant mean of the model.
    """

    of_pair = False

    def of(self, model: object) -> Constant:
        """Mean that a model subtracts; raises ModelError when the model does not state it."""
        return Constant(normalisation_of(model)[0])

    def states(self, plus: Array, minus: Array, draw: NDArray[np.uint64]) -> Array:
        """Raise ModelError: functions, which the library audits, do not state their mean."""
        return self.of(None).states(plus, minus, draw)


def normalisation_of(model: object) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and deviation by which a model, or its score, normalises inputs in [0, 1].

    The model subtracts the mean, then divides by the deviation; each is one number for each
    channel, or one for all. Raises ModelError when the model does not state them; networks with a
    card do.
    """
    normalisation: tuple[tuple[float, ...], tuple[float, ...]] | None = getattr(
        model, "normalisation", None
    )
    if normalisation is None:
        raise ModelError(
            "'baseline: mean' needs the mean that the model subtracts, and this model states none "
            "('mean:' of a network's card); use 'baseline: constant' with that mean as its 'value:'"
        )
    return normalisation


def gaussian_blur(images: Same, sigma: float, radius: int | None = None) -> Same:
    """Separable Gaussian blur; (n, channels, height, width) → the same shape.

    ``sigma`` is the standard deviation in pixels; 0 leaves any inputs as they are. ``radius`` is
    the reach of the kernel in pixels, ``ceil(4 sigma)`` if it is not given; borders are reflected,
    or replicated if the radius is at least a side of the image. Raises ResponseError when inputs
    that are not images are to be blurred.
    """
    BlurredMidpoint(sigma).check(images.shape)
    if sigma == 0:
        return images
    radius = ceil(TRUNCATE * sigma) if radius is None else radius
    kernel = gaussian_kernel(sigma, radius)
    blur: Callable[..., Any] = _blur_tensor if is_tensor(images) else _blur_array
    return blur(images, kernel, radius < min(images.shape[2:]))


@lru_cache(maxsize=64)
def gaussian_kernel(sigma: float, radius: int) -> NDArray[np.float64]:
    """Normalised samples of a Gaussian, (2 radius + 1,) float64."""
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return weights / weights.sum()


def _blur_tensor(images: Tensor, kernel: NDArray[np.float64], reflects: bool) -> Tensor:
    import torch
    from torch.nn import functional

    radius, channels = kernel.size // 2, images.shape[1]
    weights, mode = like(images, kernel), "reflect" if reflects else "replicate"
    row = weights.view(1, 1, 1, -1)
    if images.device.type == "cpu" and images.dtype == torch.float32 and channels > 1:
        for _ in range(2):
            # Rows of pixels as channels, which is faster on a CPU. With several float32 channels,
            # the sums equal those below; with other types or one channel, they may not.
            padded = functional.pad(images, (radius, radius, 0, 0), mode=mode)
            rows = padded.flatten(1, 2)[:, :, None]
            count = rows.shape[1]
            blurred = functional.conv2d(rows, row.expand(count, 1, 1, -1), groups=count)
            images = blurred.view(*padded.shape[:3], -1).transpose(2, 3)
        return images.contiguous()
    images = functional.pad(images, (radius, radius, 0, 0), mode=mode)
    images = functional.conv2d(images, row.expand(channels, 1, 1, -1), groups=channels)
    images = functional.pad(images, (0, 0, radius, radius), mode=mode)
    column = weights.view(1, 1, -1, 1).expand(channels, 1, -1, 1)
    return functional.conv2d(images, column, groups=channels)


def _blur_array(
    images: NDArray[np.floating], kernel: NDArray[np.float64], reflects: bool
) -> NDArray[np.floating]:
    from scipy.ndimage import correlate1d

    mode = "mirror" if reflects else "nearest"
    for axis in (3, 2):
        images = correlate1d(images, kernel, axis=axis, mode=mode)
    return images
