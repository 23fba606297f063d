"""COCO segmentations as masks: polygons and run-length encoding (RLE), also compressed.

Runs go down the columns; the first run counts pixels outside the object. A compressed count is
text: each character, less ``0``, has five bits of the count, the lowest bits first, and a sixth bit
if another character follows. From the fourth count on, the text has the difference from the count
two places earlier.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import number_of

EXPECTED = "a list of polygons [x, y, x, y, …], or a mapping of 'size' and 'counts'"
LARGEST_COORDINATE = 1e6
"""Largest coordinate of a polygon's point, px; no picture is as wide."""
FIRST_CHARACTER, CHARACTER_COUNT = ord("0"), 64
"""Characters of compressed counts: the first one, and how many there are."""
FEWEST_NUMBERS = 6
"""Coordinates of a polygon of three points."""
BOX_NUMBERS = 4


def mask_of(segmentation: Any, height: int, width: int) -> NDArray[np.bool_]:
    """(height, width) mask of polygons or run lengths; all False for [] or None.

    Raises ValueError, naming the fault, for an invalid segmentation.
    """
    if isinstance(segmentation, dict):
        counts = _check_counts(segmentation, height, width)
        is_inside = np.arange(len(counts)) % 2 == 1
        return np.repeat(is_inside, counts).reshape(width, height).T
    mask = np.zeros((height, width), bool)
    for polygon in _polygons(segmentation):
        mask |= _inside(_points(polygon), height, width)
    return mask


def check_segmentation(segmentation: Any, height: int, width: int) -> None:
    """Check that :func:`mask_of` accepts a segmentation, with the same errors."""
    if isinstance(segmentation, dict):
        _check_counts(segmentation, height, width)
    else:
        for polygon in _polygons(segmentation):
            _points(polygon)


def valid_polygons(segmentation: Any) -> list[Any]:
    """Valid polygons of a segmentation; empty if it is not a list."""
    return (
        [polygon for polygon in segmentation if _is_polygon(polygon)]
        if type(segmentation) is list
        else []
    )


def is_empty_segmentation(segmentation: Any) -> bool:
    """True for a missing segmentation, empty lists, and run lengths without a pixel inside."""
    if isinstance(segmentation, dict):
        counts = segmentation.get("counts")
        if isinstance(counts, str):
            # One count only (all pixels outside): each character but the last announces another.
            return all(ord(character) - FIRST_CHARACTER & 32 for character in counts[:-1])
        return isinstance(counts, list) and not any(counts[1::2])
    return not segmentation or (isinstance(segmentation, list) and not any(segmentation))


def rectangle_of(box: Any) -> list[float] | None:
    """Polygon of a box [x, y, width, height]; None without a box, or for a box without area.

    Raises ValueError, naming the fault, for an invalid box.
    """
    if not box:
        return None
    is_box = isinstance(box, list) and len(box) == BOX_NUMBERS
    if not is_box or not all(
        type(value) in (int, float) and abs(value) <= LARGEST_COORDINATE for value in box
    ):
        raise ValueError(
            f"its bbox is {box!r:.80}; expected four numbers [x, y, width, height] of at most "
            f"{LARGEST_COORDINATE:,.0f}"
        )
    x, y, width, height = box
    if min(width, height) < 0:
        raise ValueError(f"its bbox is {box}; expected a width and height of 0 or more")
    right, bottom = x + width, y + height
    return [x, y, right, y, right, bottom, x, bottom] if width and height else None


def _is_polygon(polygon: Any) -> bool:
    try:
        _points(polygon)
    except ValueError:
        return False
    return True


def _polygons(segmentation: Any) -> list[Any]:
    if not isinstance(segmentation or [], list):
        raise ValueError(f"its segmentation is {type(segmentation).__name__}; expected {EXPECTED}")
    return segmentation or []


def _points(polygon: Any) -> NDArray[np.float64]:
    try:
        points = np.array(polygon, np.float64)
    except (TypeError, ValueError):
        points = np.array(np.nan)
    if points.ndim != 1:
        raise ValueError(f"one of its polygons is {polygon!r:.80}; expected {EXPECTED}")
    if points.size < FEWEST_NUMBERS or points.size % 2:
        raise ValueError(
            f"one of its polygons has {number_of(points.size, 'number')}; expected x and y of "
            "three points or more"
        )
    is_valid = abs(points) <= LARGEST_COORDINATE
    if not is_valid.all():
        raise ValueError(
            f"one of its polygons has the coordinate {points[~is_valid][0]:g}; expected at most "
            f"{LARGEST_COORDINATE:,.0f}"
        )
    return points.reshape(-1, 2)


def _inside(points: NDArray[np.float64], height: int, width: int) -> NDArray[np.bool_]:
    """Pixels inside a polygon: a ray from the pixel's centre crosses an odd number of edges."""
    (x, y), (x_next, y_next) = points.T, np.roll(points, -1, axis=0).T
    # For each edge, the columns whose centre it crosses (left end included, right end excluded);
    # below, one entry for each crossing.
    first, last = np.clip(np.ceil(np.sort([x, x_next], axis=0) - 0.5), 0, width).astype(int)
    edges = np.repeat(np.arange(len(points)), last - first)
    columns = np.arange(len(edges)) + (last - np.cumsum(last - first))[edges]
    crossing_y = y[edges] + (columns + 0.5 - x[edges]) * (y_next - y)[edges] / (x_next - x)[edges]
    crossed = np.zeros((height + 1, width), bool)
    rows = np.clip(np.ceil(crossing_y - 0.5), 0, height).astype(int)
    np.logical_xor.at(crossed, (rows, columns), True)
    return np.logical_xor.accumulate(crossed[:-1], axis=0)


def _check_counts(runs: dict[str, Any], height: int, width: int) -> list[int]:
    """Uncompressed run lengths; raises ValueError if they do not fill (height, width)."""
    counts = runs.get("counts")
    if runs.get("size") != [height, width]:
        raise ValueError(
            f"its run lengths have the size {runs.get('size')}; expected {[height, width]}"
        )
    if isinstance(counts, str):
        counts = _decompress_counts(counts)
    if not isinstance(counts, list):
        raise ValueError(f"its counts are {type(counts).__name__}; expected whole numbers, or text")
    if strange := [count for count in counts if type(count) is not int]:
        raise ValueError(f"its counts contain {strange[0]!r:.80}; expected whole numbers, or text")
    if min(counts, default=0) < 0 or sum(counts) != height * width:
        raise ValueError(
            f"its run lengths add up to {sum(counts)}, the smallest {min(counts, default=0)}; "
            f"expected {height} x {width} pixels, none below 0"
        )
    return counts


def _decompress_counts(text: str) -> list[int]:
    counts: list[int] = []
    value = shift = 0
    for number, character in enumerate(text, 1):
        bits = ord(character) - FIRST_CHARACTER
        if not 0 <= bits < CHARACTER_COUNT:
            raise ValueError(
                f"its compressed counts are damaged at character {number}, {character!r}"
            )
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:  # the sign
            value -= 1 << shift
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
        value = shift = 0
    if shift:
        raise ValueError("its compressed counts are damaged: the last count is incomplete")
    return counts
