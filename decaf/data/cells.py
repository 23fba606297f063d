"""Square cells of an image, and sets of cells or features as bits of words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 64
"""Bits of a word: the most features that one input can have."""


def cell_of_pixel(pixels: int, cells: int) -> NDArray[np.int64]:
    """(pixels,) index of the cell of each pixel of a side; edges at floor(i pixels / cells)."""
    edges = np.arange(1, cells) * pixels // cells
    return np.searchsorted(edges, np.arange(pixels), side="right")


def cell_map(shape: Sequence[int], side: int) -> NDArray[np.int64]:
    """(height, width) number of the cell of each pixel, row by row from 0."""
    height, width = shape
    return cell_of_pixel(height, side)[:, None] * side + cell_of_pixel(width, side)


def feature_words(numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Feature numbers from 1, 0 for none → words of the same shape: bit k - 1 for feature k."""
    bit = (numbers.astype(np.uint64) - np.uint64(1)) % WORD_BITS  # 0 wraps around
    return np.where(numbers > 0, np.uint64(1) << bit, np.uint64(0))


def pack(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """(n, bits) bool → (n, ceil(bits / 64)) words."""
    padded = np.zeros((bits.shape[0], -(-bits.shape[1] // WORD_BITS) * WORD_BITS), bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def unpack(words: NDArray[np.uint64], bits: int) -> NDArray[np.bool_]:
    """Inverse of :func:`pack`: (n, words) → (n, bits) bool."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :bits].astype(bool)
