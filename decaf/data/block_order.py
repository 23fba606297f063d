"""Blocks of pairs in an order that is drawn, so that the first of them stand for all."""

import hashlib
from collections.abc import Sequence

from decaf.data.pairs import PairSet

Rows = tuple[int, ...]


def drawn_blocks(
    pairs: PairSet, source_count: int, seed: int, *, by_class: bool = False
) -> list[Rows]:
    """Rows of the pairs, ``source_count`` sources at a time, in an order drawn by hashing.

    It depends on the seed and the names of the sources alone, so all models and versions meet the
    same blocks. ``by_class`` deals the sources of every class (that of a source's first pair) out
    to all blocks and draws the order of the blocks: then blocks are alike, and a block, not a
    source, is what was drawn. Its blocks differ by one source at most.
    """
    rows: dict[str, list[int]] = {}
    for row, pair in enumerate(pairs.pairs):
        rows.setdefault(pair.source_id, []).append(row)
    drawn = sorted(rows, key=lambda name: _draw(seed, name))
    if by_class:
        drawn.sort(key=lambda name: pairs.pairs[rows[name][0]].class_id)
        count = -(-len(drawn) // source_count)
        dealt = [drawn[first::count] for first in range(count)]
        dealt = [dealt[place] for place in sorted(range(count), key=lambda n: _draw(seed, f"{n}"))]
    else:
        dealt = [drawn[at : at + source_count] for at in range(0, len(drawn), source_count)]
    return [tuple(row for source in block for row in rows[source]) for block in dealt]


def sources_in_order(pairs: PairSet, blocks: Sequence[Rows]) -> list[list[str]]:
    """Names of the sources of every block, in the order of their rows."""
    return [list(dict.fromkeys(pairs.pairs[row].source_id for row in rows)) for rows in blocks]


def _draw(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()
