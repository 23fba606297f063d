"""Recognise numbers that look like pixels; one rule for studies and for :func:`decaf.audit`."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from decaf.foundation.arrays import LEVELS

CHANNELS = (1, 3)
"""Numbers of channels that an image can have: grey, or red, green and blue."""
SIXTEEN_BITS = 2**16 - 1
FAR = 20
"""Ratio of the largest absolute values of two ranges that suggests two scales."""
UNIT_MARGIN, LEAST_BELOW = 0.25, -0.75
"""How far resized images in [0, 1] may leave it, and what normalised images fall below."""


class ValueRange(NamedTuple):
    """Smallest and largest number of an array."""

    low: float
    high: float

    @property
    def size(self) -> float:
        """Largest absolute value."""
        return max(abs(self.low), abs(self.high))


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


def remark_on_ranges(shape: tuple[int, ...], ranges: Mapping[str, ValueRange]) -> str:
    """Remark on inputs, by their names, whose ranges suggest different scales; else empty.

    Shape is (…) of one input. Columns of rows, (features,), may be on any scale.

    >>> remark_on_ranges((3, 8, 8), {"x": ValueRange(0.06, 0.93), "y": ValueRange(16, 236)})
    'x run from 0.06 to 0.93, y from 16 to 236: are they on one scale? If not, scale them alike'
    """
    if len(shape) < 2:
        return ""
    for (name, first), (second_name, second) in combinations(ranges.items(), 2):
        if _are_far_apart(shape, *sorted((first, second), key=lambda each: each.size)):
            return (
                f"{name} run from {first.low:.4g} to {first.high:.4g}, {second_name} from "
                f"{second.low:.4g} to {second.high:.4g}: are they on one scale? If not, scale them "
                "alike"
            )
    return ""


def _are_far_apart(shape: tuple[int, ...], small: ValueRange, large: ValueRange) -> bool:
    """True for [0, 1] and 0 to 255, and for images in [0, 1] and normalised ones."""
    if small.low == small.high:  # a silent signal or a black image
        return False
    is_unit = small.low >= -UNIT_MARGIN and small.high <= 1 + UNIT_MARGIN
    is_normalised = len(shape) == 3 and is_unit and large.low < LEAST_BELOW
    return is_normalised or (large.size > 2 and large.size >= FAR * small.size)
