"""Segmentations of COCO annotations as masks: polygons, and run lengths, packed or not.

A mask of run lengths goes column by column and begins outside of the object. Packed counts are
text: groups of five bits from the lowest, each a letter from ``0`` on, with a sixth bit if another
group follows. From the fourth on, a count is the difference to the count two places before.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

EXPECTED = "a list of polygons [x, y, x, y, …], or a mapping of 'size' and 'counts'"
LARGEST = 1e6
"""Largest coordinate of a polygon's point, px; no picture is as wide."""
FIRST_LETTER, LETTERS = ord("0"), 64
BOX_NUMBERS = 4


def mask_of(segmentation: Any, height: int, width: int) -> NDArray[np.bool_]:
    """(height, width) mask of polygons or run lengths; empty for [] or None.

    Raises ValueError with the fault for anything else.
    """
    if isinstance(segmentation, dict):
        counts = _counts(segmentation, height, width)
        is_inside = np.arange(len(counts)) % 2 == 1
        return np.repeat(is_inside, counts).reshape(width, height).T
    mask = np.zeros((height, width), bool)
    for polygon in _polygons(segmentation):
        mask |= _inside(_points(polygon), height, width)
    return mask


def check_segmentation(segmentation: Any, height: int, width: int) -> None:
    """Check that :func:`mask_of` accepts a segmentation, with the same errors."""
    if isinstance(segmentation, dict):
        _counts(segmentation, height, width)
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


def encloses_nothing(segmentation: Any) -> bool:
    """True for no segmentation, empty lists, and run lengths of a mask that is empty."""
    if isinstance(segmentation, dict):
        counts = segmentation.get("counts")
        if isinstance(counts, str):  # a single count: each letter but the last has another after it
            return all(ord(letter) - FIRST_LETTER & 32 for letter in counts[:-1])
        return isinstance(counts, list) and not any(counts[1::2])
    return not segmentation or (isinstance(segmentation, list) and not any(segmentation))


def rectangle_of(box: Any) -> list[float] | None:
    """Polygon of a box [x, y, width, height]; None without a box, or for a box without area.

    Raises ValueError for anything else.
    """
    if not box:
        return None
    is_box = isinstance(box, list) and len(box) == BOX_NUMBERS
    if not is_box or not all(
        type(value) in (int, float) and abs(value) <= LARGEST for value in box
    ):
        raise ValueError(f"its bbox is {box!r:.80}; expected [x, y, width, height]")
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
        points = np.empty(0)
    if points.ndim != 1 or points.size < 6 or points.size % 2 or not (abs(points) <= LARGEST).all():
        raise ValueError(
            f"one of its polygons is not a list of three points or more; expected {EXPECTED}"
        )
    return points.reshape(-1, 2)


def _inside(points: NDArray[np.float64], height: int, width: int) -> NDArray[np.bool_]:
    """Pixels inside a polygon: a ray from the centre crosses the edges an odd number of times."""
    (x, y), (x_next, y_next) = points.T, np.roll(points, -1, axis=0).T
    # Columns whose centres each edge crosses, its left end included; then one entry a crossing.
    first, last = np.clip(np.ceil(np.sort([x, x_next], axis=0) - 0.5), 0, width).astype(int)
    edges = np.repeat(np.arange(len(points)), last - first)
    columns = np.arange(len(edges)) + (last - np.cumsum(last - first))[edges]
    at = y[edges] + (columns + 0.5 - x[edges]) * (y_next - y)[edges] / (x_next - x)[edges]
    crossed = np.zeros((height + 1, width), bool)
    rows = np.clip(np.ceil(at - 0.5), 0, height).astype(int)
    np.logical_xor.at(crossed, (rows, columns), True)
    return np.logical_xor.accumulate(crossed[:-1], axis=0)


def _counts(runs: dict[str, Any], height: int, width: int) -> list[int]:
    """Run lengths, unpacked."""
    counts = runs.get("counts")
    if runs.get("size") != [height, width]:
        raise ValueError(
            f"its run lengths have the size {runs.get('size')}; expected {[height, width]}"
        )
    if isinstance(counts, str):
        counts = _unpack_counts(counts)
    if not isinstance(counts, list) or not all(type(count) is int for count in counts):
        raise ValueError(f"its counts are {type(counts).__name__}; expected whole numbers, or text")
    if min(counts, default=0) < 0 or sum(counts) != height * width:
        raise ValueError(
            f"its run lengths add up to {sum(counts)}, the smallest {min(counts, default=0)}; "
            f"expected {height} x {width} pixels, none below 0"
        )
    return counts


def _unpack_counts(text: str) -> list[int]:
    counts: list[int] = []
    value = shift = 0
    for letter in text:
        bits = ord(letter) - FIRST_LETTER
        if not 0 <= bits < LETTERS:
            raise ValueError(f"its packed counts are damaged at {letter!r}")
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:  # the sign
            value -= 1 << shift
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
        value = shift = 0
    if shift:
        raise ValueError("its packed counts are damaged: the last count is incomplete")
    return counts
