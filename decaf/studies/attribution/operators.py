"""Replace a part of an image by other content, in ways that no reveal path uses."""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError
from decaf.foundation.digests import hashed_word
from decaf.foundation.extras import optional

Operator = Literal["telea", "texture"]
Image = NDArray[np.uint8]
Region = NDArray[np.bool_]
CODE = 1
"""Version of the operators, a part of the digest of their images: raise it when images change."""
REACH = 3
"""Px by which parts are dilated, and the radius of Telea's neighbourhoods."""


def remove_part(operator: Operator, image: Image, part: Region, parts: Region, name: str) -> Image:
    """Remove a part, dilated by 3 px, from a (height, width, 3) uint8 image.

    ``part`` and ``parts`` are (height, width) bool masks of that part and of all parts; the name is
    the seed of random draws. Pixels outside of the dilated part stay unchanged; an empty part
    changes nothing. Raises DataError, with the name, if no pixels are left to replace it by, and
    MissingPackage if `telea` has no OpenCV.
    """
    hidden = dilate_region(part, REACH)
    if not hidden.any():
        return image
    filled = MAKERS[operator](image, hidden, ~dilate_region(parts, REACH), name)
    return np.where(hidden[..., None], filled, image)


def dilate_region(region: Region, pixels: int) -> Region:
    """Dilate a (height, width) bool mask by a number of pixels along both axes.

    Equals ``pixels`` dilations by a 3 x 3 square: one maximum over a square of ``2 pixels + 1``.

    >>> dilate_region(np.array([[1, 0, 0, 0]], bool), 2).astype(int).tolist()
    [[1, 1, 1, 0]]
    """
    from scipy.ndimage import maximum_filter

    return maximum_filter(region, 2 * pixels + 1, mode="constant", cval=False)


def largest_rectangle(free: Region) -> tuple[slice, slice]:
    """Rows and columns of the largest rectangle of pixels that are all free, (height, width) bool.

    Of several largest rectangles, that with the uppermost last row wins, then the leftmost. Empty
    without a free pixel.

    >>> largest_rectangle(np.array([[0, 1, 1], [1, 1, 1], [1, 0, 0]], bool))
    (slice(0, 2, None), slice(1, 3, None))
    """
    width = free.shape[1]
    columns = np.arange(width)
    # Begin and end of the columns of the highest rectangle that ends in this row, by column.
    begin, end, height = np.zeros(width, int), np.full(width, width), np.zeros(width, int)
    most, best = 0, (slice(0, 0), slice(0, 0))
    for row, free_row in enumerate(free):
        run_begin = np.maximum.accumulate(np.where(free_row, 0, columns + 1))
        run_end = np.minimum.accumulate(np.where(free_row, width, columns)[::-1])[::-1]
        begin = np.where(free_row, np.maximum(begin, run_begin), 0)
        end = np.where(free_row, np.minimum(end, run_end), width)
        height = np.where(free_row, height + 1, 0)
        area = (end - begin) * height
        column = area.argmax()
        if area[column] > most:
            most = area[column]
            top, left_edge, right = (int(n[column]) for n in (row + 1 - height, begin, end))
            best = slice(top, row + 1), slice(left_edge, right)
    return best


def _telea(image: Image, hidden: Region, free: Region, name: str) -> Image:
    """Telea's fast marching from the border of the hidden region inwards (OpenCV)."""
    with optional():
        import cv2
    if hidden.all():
        raise DataError(f"{name}: the part covers the image; there is nothing to paint it from")
    return np.asarray(cv2.inpaint(image, hidden.astype(np.uint8), REACH, cv2.INPAINT_TELEA))


def _texture(image: Image, hidden: Region, free: Region, name: str) -> Image:
    """Tile the image with the largest rectangle without parts, mirrored, from a random offset."""
    rectangle = image[largest_rectangle(free)]
    if not rectangle.size:
        raise DataError(f"{name}: parts cover the image; there is no texture of the background")
    offsets = np.random.default_rng(hashed_word(f"decaf|texture|{name}"))
    rows, columns = (
        _mirror_places(side, period, int(offsets.integers(2 * period)))
        for side, period in zip(image.shape[:2], rectangle.shape[:2], strict=True)
    )
    return rectangle[np.ix_(rows, columns)]


def _mirror_places(side: int, period: int, offset: int) -> NDArray[np.int64]:
    """(side,) places from 0 to ``period`` and back, again and again; the ends come twice."""
    places = (np.arange(side) + offset) % (2 * period)
    return np.minimum(places, 2 * period - 1 - places)


MAKERS: Mapping[Operator, Callable[[Image, Region, Region, str], Image]] = {
    "telea": _telea,
    "texture": _texture,
}
"""Function of an image, its hidden region, its region without parts, and a name, to an image."""
