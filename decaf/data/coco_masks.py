"""Segmentations of COCO annotations as masks: polygons, and run lengths, packed or not.

A mask of run lengths goes column by column and begins with what is outside. Packed counts are text:
groups of five bits from the lowest, each a letter from ``0`` on, with a sixth bit where another one
follows; from the fourth on, a count is the difference to the one two places before.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

EXPECTED = "a list of polygons [x, y, x, y, …], or a mapping of 'size' and 'counts'"
LARGEST = 1e6
"""Px, of a polygon's point: no picture is as wide."""
FIRST_LETTER, LETTERS = ord("0"), 64
MOST_GROUPS = 7
"""Of a packed count: more than any picture has pixels."""


def mask_of(segmentation: Any, height: int, width: int) -> NDArray[np.bool_]:
    """(height, width) of a polygon or several, run lengths, or nothing ([] or None).

    Raises ValueError, saying what is wrong, for anything else.
    """
    if isinstance(segmentation, dict):
        return _of_runs(segmentation, height, width)
    if not isinstance(segmentation or [], list):
        raise ValueError(f"its segmentation is {type(segmentation).__name__}; expected {EXPECTED}")
    mask = np.zeros((height, width), bool)
    for polygon in segmentation or []:
        mask |= _inside(_points(polygon), height, width)
    return mask


def _points(polygon: Any) -> NDArray[np.float64]:
    try:
        points = np.array(polygon, np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 1 or points.size < 6 or points.size % 2 or not (abs(points) <= LARGEST).all():
        raise ValueError(f"a polygon of it is no list of three points or more; expected {EXPECTED}")
    return points.reshape(-1, 2)


def _inside(points: NDArray[np.float64], height: int, width: int) -> NDArray[np.bool_]:
    """Pixels whose centres lie inside: a way out of the picture crosses the edge an odd time."""
    (x, y), (x_next, y_next) = points.T, np.roll(points, -1, axis=0).T
    # Columns whose centres each edge passes, the left end included; then every crossing by itself.
    first, last = np.clip(np.ceil(np.sort([x, x_next], axis=0) - 0.5), 0, width).astype(int)
    edges = np.repeat(np.arange(len(points)), last - first)
    columns = np.arange(len(edges)) + (last - np.cumsum(last - first))[edges]
    at = y[edges] + (columns + 0.5 - x[edges]) * (y_next - y)[edges] / (x_next - x)[edges]
    crossed = np.zeros((height + 1, width), bool)
    rows = np.clip(np.ceil(at - 0.5), 0, height).astype(int)
    np.logical_xor.at(crossed, (rows, columns), True)
    return np.logical_xor.accumulate(crossed[:-1], axis=0)


def _of_runs(runs: dict[str, Any], height: int, width: int) -> NDArray[np.bool_]:
    counts = runs.get("counts")
    if runs.get("size") != [height, width]:
        raise ValueError(f"its run lengths are of {runs.get('size')}; expected {[height, width]}")
    if isinstance(counts, str):
        counts = _unpacked(counts)
    if not isinstance(counts, list) or not all(type(count) is int for count in counts):
        raise ValueError(f"its counts are {type(counts).__name__}; expected whole numbers, or text")
    if min(counts, default=0) < 0 or sum(counts) != height * width:
        raise ValueError(
            f"its run lengths add up to {sum(counts)}, the smallest {min(counts, default=0)}; "
            f"expected {height} x {width} pixels, none below 0"
        )
    is_inside = np.arange(len(counts)) % 2 == 1
    return np.repeat(is_inside, counts).reshape(width, height).T


def _unpacked(text: str) -> list[int]:
    counts: list[int] = []
    value = shift = 0
    for letter in text:
        bits = ord(letter) - FIRST_LETTER
        if not 0 <= bits < LETTERS or shift >= 5 * MOST_GROUPS:
            raise ValueError(
                f"its packed counts cannot be read from {letter!r} on; they are broken"
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
        raise ValueError("its packed counts end in the middle of one; they are broken")
    return counts
