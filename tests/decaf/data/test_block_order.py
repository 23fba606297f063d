"""Blocks in a drawn order: each source once, the same for all, alike where classes are dealt."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.data.block_order import drawn_blocks, sources_in_order
from decaf.data.pairs import Input, Pair, PairSet


def paired(classes, per_source=1):
    """Pairs of sources s00, s01, … of these classes; those of a source do not lie together."""
    inputs = tuple(Input(f"i{n}", "factual", f"{n}", "") for n in range(2))
    pairs = [
        Pair(f"{part}-{n:02}", f"s{n:02}", "change", one, "test", 0, 1)
        for part in range(per_source)
        for n, one in enumerate(classes)
    ]
    return PairSet(inputs, tuple(pairs), "")


def names(blocks, pairs):
    return sources_in_order(pairs, blocks)


@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 9), st.booleans())
def test_every_row_is_in_one_block_beside_all_of_its_source(count, per_source, size, by_class):
    pairs = paired([n % 3 for n in range(count)], per_source)
    blocks = drawn_blocks(pairs, size, 7, by_class=by_class)
    assert sorted(row for block in blocks for row in block) == list(range(len(pairs.pairs)))
    sources = [name for block in names(blocks, pairs) for name in block]
    assert len(sources) == len(set(sources)) == count
    assert len(blocks) == -(-count // size)
    assert all(len(block) <= size * per_source for block in blocks)


def test_the_order_is_of_the_seed_and_the_names_alone():
    few, many = paired([0] * 20), paired([1] * 50, per_source=2)
    drawn = [name for block in names(drawn_blocks(many, 5, 1), many) for name in block]
    assert drawn != sorted(drawn)
    there = {f"s{n:02}" for n in range(20)}
    own = [name for block in names(drawn_blocks(few, 3, 1), few) for name in block]
    assert own == [name for name in drawn if name in there]
    assert own != [name for block in names(drawn_blocks(few, 3, 2), few) for name in block]


def test_every_source_comes_first_about_as_often():
    pairs = paired([0] * 5)
    first = Counter(names(drawn_blocks(pairs, 1, seed), pairs)[0][0] for seed in range(250))
    assert sorted(first.values()) == pytest.approx([50] * 5, abs=25)  # over 3.9 deviations


def test_blocks_by_class_have_as_many_of_each_class():
    pairs = paired([0] * 8 + [1] * 4)
    blocks = drawn_blocks(pairs, 3, 0, by_class=True)
    classes = [Counter(pairs.pairs[row].class_id for row in block) for block in blocks]
    assert classes == [{0: 2, 1: 1}] * 4
