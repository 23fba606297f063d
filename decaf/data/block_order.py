"""Blocks of pairs in a random order, so that the first blocks are a sample of all."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from decaf.data.coded import first_rows
from decaf.data.pairs import PairSet, Rows

WORDS = 4
"""Words of 64 bits in a sha256."""


def drawn_blocks(
    pairs: PairSet, source_count: int, seed: int, *, by_class: bool = False
) -> list[Rows]:
    """Rows of the pairs, ``source_count`` sources at a time, in an order drawn by hashing.

    The order depends only on the seed and the names of the sources, so all models and versions get
    the same blocks. ``by_class`` deals the sources of every class (the class of a source's first
    pair) out to all blocks and draws the order of the blocks. Blocks are then alike, and the unit
    of the draw is a block, not a source. The sizes of blocks differ by one source at most.
    """
    sources = pairs.pairs.sources
    drawn = _drawn_order(seed, sources.values)
    if by_class:
        first = first_rows(sources.codes, len(sources.values))[drawn]
        drawn = drawn[np.argsort(pairs.pairs.class_ids[first], kind="stable")]
        count = -(-drawn.size // source_count)
        dealt = [drawn[first::count] for first in range(count)]
        dealt = [dealt[place] for place in _drawn_order(seed, map(str, range(count)))]
    else:
        dealt = np.split(drawn, range(source_count, drawn.size, source_count))
    return pairs.pairs.rows_of_sources(dealt)


def sources_in_order(pairs: PairSet, blocks: Sequence[Rows]) -> list[list[str]]:
    """Names of the sources of every block, in the order of their rows."""
    return [pairs.pairs.sources.take(np.asarray(rows)).values.to_list() for rows in blocks]


def _drawn_order(seed: int, names: Iterable[str]) -> NDArray[np.int64]:
    """(n,) places of names in an order that depends only on the seed and each name."""
    draws = [hashlib.sha256(f"{seed}/{name}".encode()).digest() for name in names]
    words = np.frombuffer(b"".join(draws), ">u8").reshape(-1, WORDS)
    return np.lexsort(words.T[::-1])
