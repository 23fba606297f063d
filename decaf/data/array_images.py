"""Images in arrays: layouts, channels, and remarks on numbers that look like pixels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from decaf.data.pixel_ranges import CHANNELS, ValueRange, pixel_scale
from decaf.errors import DataError

GREY_WEIGHTS = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in grey, of ITU-R BT.601; Pillow has them for 8-bit pixels."""


def channel_axis(shape: tuple[int, ...]) -> int | None:
    """Axis of the channels of an image (height, width), or with channels last or first.

    None if no axis has 1 or 3 channels. If both ends fit, three channels at the end win; one
    channel at the end is ambiguous and raises DataError.

    >>> channel_axis((28, 28, 1)), channel_axis((3, 28, 28)), channel_axis((28, 28))
    (2, 0, None)
    """
    if len(shape) != 3:
        return None
    first, last = (shape[axis] in CHANNELS for axis in (0, 2))
    if first and last and shape[2] == 1:
        raise DataError(
            f"rows of shape {shape} could have their channels first or last; write (n, height, "
            "width) and set 'channels: 1'"
        )
    return 2 if last else 0 if first else None


def as_image(row: NDArray[Any], channels: int | None) -> NDArray[Any]:
    """(height, width) or (…) with channels last or first → (height, width, channels).

    ``channels`` is the number of channels of the result; None leaves it unchanged. Three channels
    become one by :data:`GREY_WEIGHTS`; one channel becomes three equal ones. :func:`channel_axis`
    finds the channels of the row.
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
    """Remark on numbers that look like pixels and reach models unscaled, or None."""
    scale = pixel_scale(shape, dtype, found)
    if scale is None:
        return None
    image = "'channels: 1' for grey images or " if dtype == np.uint8 and len(shape) == 2 else ""
    numbers = f"{dtype.name} numbers of (n, {', '.join(map(str, shape))})"
    return (
        f"models get the {numbers} as they are, from "
        f"{found.low:g} to {found.high:g}; if models expect pixels in [0, 1], say {image}"
        f"'scale: {scale}', else 'scale: 1'"
    )


def remark_on_images(channels: int) -> str:
    """Remark that 8-bit arrays are read as images, which no key states."""
    return (
        "8-bit images reach models as float32 from 0 to 1, channels first, before a network's "
        f"'mean' and 'std'; if that is right, say 'channels: {channels}', else 'scale: 1', which "
        "keeps numbers and layout"
    )
