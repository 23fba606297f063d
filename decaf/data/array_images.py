"""Images in arrays: layouts, channels, and numbers that look like pixels."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from decaf.errors import DataError
from decaf.foundation.arrays import LEVELS

CHANNELS = (1, 3)
"""Numbers of channels that an image can have: grey, or red, green and blue."""
GREY_WEIGHTS = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in grey, of ITU-R BT.601; Pillow has them for 8-bit pixels."""
SIXTEEN_BITS = 2**16 - 1


class ValueRange(NamedTuple):
    """Smallest and largest number of an array."""

    low: float
    high: float


def channel_axis(shape: tuple[int, ...]) -> int | None:
    """Axis of the channels of an image (height, width), or with channels last or first.

    It is None where there is no axis of 1 or 3 channels. Three channels last come before any that
    are first. Raises DataError where one channel last and channels first both fit.

    >>> channel_axis((28, 28, 1)), channel_axis((3, 28, 28)), channel_axis((28, 28))
    (2, 0, None)
    """
    if len(shape) != 3:
        return None
    first, last = (shape[axis] in CHANNELS for axis in (0, 2))
    if first and last and shape[2] == 1:
        raise DataError(
            f"rows of shape {shape} are images with the channels first or last; expected one of "
            "both: write (n, height, width) and say 'channels: 1'"
        )
    return 2 if last else 0 if first else None


def as_image(row: NDArray[Any], channels: int | None) -> NDArray[Any]:
    """(height, width) or (…) with channels last or first → (height, width, channels).

    ``channels`` is how many there shall be; None leaves as many as there are. One channel of three
    is grey by :data:`GREY_WEIGHTS`, three of one are equal. The row is an image by
    :func:`channel_axis`.
    """
    axis = channel_axis(row.shape)
    image = row[..., None] if axis is None else np.moveaxis(row, axis, -1)
    if channels in (None, image.shape[2]):
        return np.ascontiguousarray(image)
    if channels == 3:
        return np.repeat(image, 3, axis=2)
    if image.dtype == np.uint8:
        return np.asarray(picture_of(np.ascontiguousarray(image)).convert("L"))[..., None]
    grey: NDArray[Any] = image.astype(np.float64) @ np.array(GREY_WEIGHTS)
    return grey.astype(image.dtype)[..., None]


def picture_of(pixels: NDArray[np.uint8]) -> PillowImage.Image:
    """Picture of (height, width, 1) or (height, width, 3) pixels: grey or RGB."""
    return PillowImage.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)


def remark_on_pixels(shape: tuple[int, ...], dtype: np.dtype[Any], found: ValueRange) -> str | None:
    """Remark on numbers that look like pixels and reach models unscaled, or None.

    Whole numbers of 8 bits look like pixels in any shape (…) of a row, others where a row can be an
    image.
    """
    is_byte = dtype == np.uint8
    is_whole = dtype.kind in "iu"
    is_image = len(shape) == 3 and any(shape[axis] in CHANNELS for axis in (0, 2))
    is_image = is_image or (len(shape) == 2 and is_whole and min(shape) > 1)
    # Images in [0, 1] may overshoot a little once they are resized.
    is_pixels = found.low >= 0 and found.high > 2 and found.high <= SIXTEEN_BITS
    if not is_pixels or not (is_byte or is_image) or (not is_whole and found.high > LEVELS):
        return None
    most = LEVELS if found.high <= LEVELS else SIXTEEN_BITS
    image = "'channels: 1' for grey images or " if is_byte and len(shape) == 2 else ""
    numbers = f"{dtype.name} numbers of (n, {', '.join(map(str, shape))})"
    return (
        f"models get the {numbers} as they are, from "
        f"{found.low:g} to {found.high:g}; if models expect pixels in [0, 1], say {image}"
        f"'scale: {most}', else 'scale: 1'"
    )
