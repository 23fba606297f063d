"""Draw built-in scenes: 480,000 images from 480 small tables of weights."""

import functools

import numpy as np

from decaf.studies.scenes.factors import FACTORS, scene_levels
from decaf.studies.scenes.raycast import weight_maps

# Positions of red, green and blue on the circle that begins at a hue, in sixths of it.
_TURN = (6 * np.arange(10)[:, None] / 10 + [5, 3, 1]) % 6
HUES = np.rint(255 * (1 - np.minimum(_TURN, 4 - _TURN).clip(0, 1))).astype(np.uint8)
"""(10, 3) RGB by hue level: 0, 0.1, …, 0.9 of the HSV circle at full saturation and value."""

_WHITE = 255
_WEIGHT_ONE = 1 << 14
_GEOMETRY = tuple(factor.cardinality for factor in FACTORS[3:])
_BLOCK_PIXELS = 1 << 20


def render(index: np.ndarray, size: int = 32) -> np.ndarray:
    """Draw scenes: (n,) numbers → (n, size, size, 3) uint8 RGB, rows from the top; n may be 0.

    Every byte depends on its scene alone, not on which scenes are drawn together. Two scenes that
    differ in one hue differ only where that surface is seen. :mod:`decaf.studies.scenes.factors`
    numbers the scenes.
    """
    levels = scene_levels(index).astype(np.intp)
    geometry = np.ravel_multi_index(tuple(levels[:, 3:].T), _GEOMETRY)
    colours = _colours(levels[:, :3])
    tables = _tables(size)
    tables.fill(geometry)
    images = np.empty((len(levels), size, size, 3), dtype=np.uint8)
    for block in _blocks(len(levels), size):
        mixed = np.matmul(colours[block], tables.weights[geometry[block]])
        planes = ((mixed + _WEIGHT_ONE // 2) / _WEIGHT_ONE).astype(np.uint8)
        images[block] = planes.reshape(-1, 3, size, size).transpose(0, 2, 3, 1)
    return images


def _colours(hues: np.ndarray) -> np.ndarray:
    """Colours of floor, wall, object and highlight: (n, 3, 4) float32, one row per channel."""
    colours = np.full((len(hues), 3, 4), _WHITE, dtype=np.float32)
    colours[:, :, :3] = HUES[hues].transpose(0, 2, 1)
    return colours


class _Tables:
    """The weight tables of one image size, computed when they are first needed.

    Weights are whole numbers of 1 / 2**14 kept in float32: a mixed colour stays below 2**24, so
    sums of products are exact and the order in which they are added does not matter.
    """

    def __init__(self, size: int):
        self.size = size
        combinations = int(np.prod(_GEOMETRY))
        self.weights = np.empty((combinations, 4, size * size), dtype=np.float32)
        self._is_filled = np.zeros(combinations, dtype=bool)

    def fill(self, geometry: np.ndarray) -> None:
        missing = np.unique(geometry[~self._is_filled[geometry]])
        for block in _blocks(len(missing), self.size):
            size, shape, orientation = np.unravel_index(missing[block], _GEOMETRY)
            maps = weight_maps(size, shape, orientation, self.size)
            self.weights[missing[block]] = np.rint(maps * _WEIGHT_ONE)
        self._is_filled[missing] = True


def _blocks(count: int, size: int) -> list[slice]:
    """Cut a number of images into pieces of bounded memory."""
    step = max(1, _BLOCK_PIXELS // size**2)
    return [slice(start, start + step) for start in range(0, count, step)]


@functools.cache
def _tables(size: int) -> _Tables:
    return _Tables(size)
