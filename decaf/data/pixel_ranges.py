"""Recognise numbers that look like pixels; one rule for studies and for :func:`decaf.audit`."""

from typing import Any, NamedTuple

import numpy as np

from decaf.foundation.arrays import LEVELS

CHANNELS = (1, 3)
"""Numbers of channels that an image can have: grey, or red, green and blue."""
SIXTEEN_BITS = 2**16 - 1


class ValueRange(NamedTuple):
    """Smallest and largest number of an array."""

    low: float
    high: float


def pixel_scale(shape: tuple[int, ...], dtype: np.dtype[Any], found: ValueRange) -> int | None:
    """Divisor that brings numbers which look like pixels to [0, 1]: 255 or 65535; None for others.

    Whole numbers of 8 bits look like pixels in any shape (…) of a row; other numbers only if a row
    can be an image.

    >>> pixel_scale((3, 8, 8), np.dtype("float32"), ValueRange(0, 255))
    255
    """
    is_byte = dtype == np.uint8
    has_integers = dtype.kind in "iu"
    is_image = len(shape) == 3 and any(shape[axis] in CHANNELS for axis in (0, 2))
    is_image = is_image or (len(shape) == 2 and has_integers and min(shape) > 1)
    # Resizing may move images in [0, 1] slightly beyond the limits.
    is_pixels = found.low >= 0 and found.high > 2 and found.high <= SIXTEEN_BITS
    if not is_pixels or not (is_byte or is_image) or (not has_integers and found.high > LEVELS):
        return None
    return LEVELS if found.high <= LEVELS else SIXTEEN_BITS
