"""Columns of pairs and inputs: the same digests, rows and errors as pairs made one by one."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from blocks import features, foregrounds, with_contexts
from hypothesis import given, settings
from hypothesis import strategies as st

from decaf.data.coded import code_distinct, code_texts, concat_coded
from decaf.data.inputs import InputColumns
from decaf.data.pair_columns import PairColumns
from decaf.data.pairs import MOST_GROUP_VALUES, Input, InputSet, Pair, PairSet
from decaf.data.texts import Texts, WrittenTexts, sha256_rows, write_hex, write_numbers
from decaf.errors import DataError

GROUPS = ((), (("sex", "f"), ("age", "60s")), (("age", "60s"), ("sex", "m")), (("日本", "x'\""),))


def unusual():
    """Four pairs whose names need escapes, with masks, groups, weights and a context."""
    inputs = tuple(
        Input(f'{kind}/ü"{n}\\', kind, f"d{n}{kind}", f"{n}", None if n % 2 else f"f{n}")
        for n in range(4)
        for kind in ("factual", "Änderung")
    )
    masks = tuple(
        Input(f"m{n // 2 % 2}", "features", f"mask{n // 2 % 2}", "") for n in range(len(inputs))
    )
    pairs = tuple(
        Pair(
            pair_id=f"p{n}é",
            source_id=f"s{(n * 3) % 4}" if n % 2 else "ß",
            pair_type="swap" if n % 2 else 'without "a"',
            class_id=n - 1 if n else 5,
            split="test" if n < 3 else "all",
            plus=2 * n,
            minus=2 * n + n % 2,
            feature=(n + 1) * (1 - n % 2),
            context=(0, 3) if n == 1 else None,
            weight=[1.0, 0.1, 2.5, 1e-7][n],
            groups=GROUPS[n],
        )
        for n in range(4)
    )
    return PairSet(inputs, pairs, 'geo "é"', ("remark",), masks=masks, has_labels=False)


# Digests that decaf computed of these pairs when each was an object of its own.
DIGESTS = {
    "foregrounds": (
        foregrounds(5),
        "01a84a26fa2f213be22e8057bb9b6974f12a1abddecd3d3d532b828404e9aa75",
        "01a84a26fa2f213be22e8057bb9b6974f12a1abddecd3d3d532b828404e9aa75",
        "984cf6f7cc03b0e4e6878d6d4216e99d05152624fb759624f2fedbe545f19ae6",
        "d496ee353b83f71e4f48b7d5fe484b12604c61a6e5494e88668c3f577ddbdb41",
    ),
    "features": (
        features(3, 2),
        "afbcdfa45af213da05d181a2bb14852a6121df6640dc41151ab40ebdd378b0f6",
        "afbcdfa45af213da05d181a2bb14852a6121df6640dc41151ab40ebdd378b0f6",
        "3e4dc070c57695f10753599da344b552527fe096fd1254c61fd8eebf28140e7c",
        "96e93fa70f8384f2f01e626c31c39910e5a361de4981ea9c1ff58e7f9da772c6",
    ),
    "contexts": (
        with_contexts(3),
        "d0b2f5e65dac594841ab3bc5cdcb207f71bf79b5af8adf90dc52d2680d5df744",
        "d0b2f5e65dac594841ab3bc5cdcb207f71bf79b5af8adf90dc52d2680d5df744",
        "aaa9feced75bdd09899520eaaf12f4ff09f04c5a6dd38b585989089708b894a6",
        "dcd792401c0b980141945adc7a665d3d8a118dbb670046431a56e9bd8b31b496",
    ),
    "unusual": (
        unusual(),
        "69acf819873778bb27e093162a9419f0c67ce9e6d50852ab00fbfb655cc04494",
        "d1b8f45323b9cd28501ac1f77c30f89738595673c5c413f2c16b699e8426cea3",
        "4a700df5d93ec585a274f1acb5c15d802322a0947133adac6ce8c2f6dc8a9fa8",
        "b4fb1ec935e9f06738dab9f346b36a1f497a558873c0014a03191dca4faa480a",
    ),
}


@pytest.mark.parametrize("name", DIGESTS)
def test_digests_stay_as_they_were(name):
    pairs, *expected = DIGESTS[name]
    digests = [pairs.digest, pairs.analysed_digest, pairs.input_set.digest]
    assert [*digests, pairs.block_digest((2, 0))] == expected


def test_the_digest_of_masks_stays_as_it_was():
    digest = "428d4991c98061e7a7d2c8f7bbd662f572fa2e2fe5b3b9917ed4d3ddca9e78ad"
    assert unusual().mask_set.digest == digest


NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)


@st.composite
def some_pairs(draw):
    """Inputs and pairs of any names, shapes, features, contexts and weights."""
    count = draw(st.integers(1, 6))
    with_shapes = draw(st.booleans())
    inputs = [
        Input(
            draw(NAMES),
            draw(st.sampled_from("ab")),
            draw(st.text("0af", max_size=3)) + f"{number}",
            draw(st.text(max_size=2)),
            draw(st.none() | NAMES),
            (number // 2 + 1, 3) if with_shapes else None,
        )
        for number in range(2 * count)
    ]
    pairs = [
        Pair(
            f"{number}{draw(NAMES)}",
            draw(st.sampled_from(["t", "s", "é", "a"])),
            draw(st.sampled_from(["swap", "ü"])),
            draw(st.integers(0, 3)),
            draw(st.sampled_from(["all", "test"])),
            2 * number,
            2 * number + draw(st.integers(0, 1)),
            draw(st.integers(0, 2)),
            draw(st.none() | st.just((2 * number, 2 * number + 1))),
            draw(st.sampled_from([1.0, 0.25])),
            draw(st.sampled_from(GROUPS)),
        )
        for number in range(count)
    ]
    return inputs, pairs


def digest_one_by_one(inputs, pairs, rows, construction="g"):
    described = [
        [
            *(pair.pair_id, pair.source_id, pair.pair_type, pair.class_id, pair.feature),
            *(inputs[position].digest for position in pair.positions),
        ]
        for pair in (pairs[row] for row in rows)
    ]
    text = json.dumps([construction, described], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@settings(max_examples=30)
@given(some_pairs(), st.integers(1, 3), st.randoms())
def test_columns_are_the_pairs_that_they_were_made_of(members, per_block, random):
    inputs, pairs = members
    made = PairSet(inputs, pairs, "g")
    assert [*made.inputs] == inputs
    assert [made.inputs[number] for number in range(len(inputs))] == inputs
    assert [*made.pairs] == pairs
    assert [*made.pairs[:]] == pairs
    assert made.pairs[-1] == pairs[-1]
    assert made == PairSet(tuple(inputs), iter(pairs), "g")
    rows = random.sample(range(len(pairs)), len(pairs))
    assert made.block_digest(rows) == digest_one_by_one(inputs, pairs, rows)
    assert made.digest == digest_one_by_one(inputs, pairs, range(len(pairs)))
    sources = sorted({pair.source_id for pair in pairs})
    expected = [
        [
            row
            for source in sources[first : first + per_block]
            for row, pair in enumerate(pairs)
            if pair.source_id == source
        ]
        for first in range(0, len(sources), per_block)
    ]
    assert [block.tolist() for block in made.blocks(per_block)] == expected


@settings(max_examples=30)
@given(some_pairs())
def test_a_block_has_its_pairs_and_the_inputs_that_they_use(members):
    inputs, pairs = members
    made = PairSet([replace(image, shape=None) for image in inputs], pairs, "g")
    rows = [*range(len(pairs))][::-1]
    block = made.block(rows)
    for place, row in enumerate(rows):
        pair = pairs[row]
        assert block.pair_ids[place] == pair.pair_id
        assert block.source_ids[block.source[place]] == pair.source_id
        assert block.input_positions[block.plus[place]] == pair.plus
        assert block.input_positions[block.minus[place]] == pair.minus
        if pair.context:
            assert tuple(block.input_positions[block.context[place]]) == pair.context
        assert block.pair_types[place] == pair.pair_type
    assert [block.image_ids[n] for n in range(len(block.image_ids))] == [
        inputs[position].image_id for position in block.input_positions
    ]


def test_replaced_columns_share_all_others():
    pairs = foregrounds(4)
    moved = replace(pairs.pairs, class_ids=pairs.pairs.class_ids + 1)
    assert moved.pair_ids is pairs.pairs.pair_ids
    assert [pair.class_id for pair in moved] == [pair.class_id + 1 for pair in pairs.pairs]
    assert moved != pairs.pairs
    assert PairColumns.of(moved) is moved


def test_shapes_are_those_of_the_inputs():
    shapes = [(2, 2), (1, 3), (2, 2)]
    images = [Input(str(n), "any", str(n), "", shape=shape) for n, shape in enumerate(shapes)]
    given = InputSet(images, "g")
    assert given.shapes == {(1, 3): 1, (2, 2): 0}
    assert given.places.tolist() == [0, 4, 7]
    assert given.extremes == (1, 0)
    assert InputColumns.of(images) == given.inputs


def test_digests_of_rows_are_those_of_their_bytes():
    rows = np.random.default_rng(0).random((5, 3))
    digests = WrittenTexts(sha256_rows(rows[:, :2]), write_hex)
    assert [*digests] == [hashlib.sha256(row[:2].tobytes()).hexdigest() for row in rows]


def test_written_texts_are_texts():
    numbers = np.array([7, -30, 7, 2])
    written, texts = WrittenTexts(numbers, write_numbers), Texts(["7", "-30", "7", "2"])
    assert (written == texts, len(written), written[1], written[1:3]) == (
        *(True, 4, "-30"),
        ["-30", "7"],
    )
    some = np.array([2, 1])
    assert written.take(some) == texts.take(some)
    assert written.count_distinct() == texts.count_distinct() == 3
    assert written.to_numbers().tolist() == numbers.tolist()
    assert written.is_plain


def test_texts_that_differ_are_coded_like_other_texts():
    texts = Texts(["b", "a"])
    assert code_distinct(texts) == code_texts(texts)


def test_coded_columns_join_by_their_texts():
    columns = [code_texts(["b", "a", "b"]), code_texts(["c", "a"])]
    assert concat_coded(columns) == code_texts(["b", "a", "b", "c", "a"])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"pair_id": "a\nb"}, "printed"),
        ({"source_id": ""}, "letters"),
        ({"pair_type": "x" * 501}, "501"),
        ({"split": "\u202e"}, "printed"),
        ({"pair_id": "half \ud800"}, "printed"),
        ({"pair_id": "1__same_next"}, "1__same_next"),
        ({"weight": 0.0}, "0.0"),
        ({"weight": float("nan")}, "nan"),
        ({"groups": (("split", "x"),)}, "split"),
        ({"groups": (("", "x"),)}, "letters"),
        ({"groups": (("site\n", "x"),)}, r"the name 'site\\n'"),
        ({"groups": (("site", "x\n"),)}, r"the value 'x\\n' of the group 'site'"),
        ({"groups": tuple(("age", str(n)) for n in range(MOST_GROUP_VALUES + 1))}, "201 .* 200"),
    ],
)
def test_unusable_pairs_are_refused(change, word):
    pairs = foregrounds(2)
    changed = (replace(pairs.pairs[0], **change), *pairs.pairs[1:])
    with pytest.raises(DataError, match=word):
        PairSet(pairs.inputs, changed, "g")


def test_texts_find_what_is_doubled_and_where_texts_are():
    texts = Texts(["b", "a", "b", "a"])
    assert texts.first_duplicate == "b"
    assert Texts(["b", "a"]).first_duplicate is None
    assert texts.places_of(["a", "c", "b"]) == {"a": 1, "b": 0}
    assert texts.order().tolist() == [1, 3, 0, 2]
    assert texts.count_distinct() == 2
    assert Texts([]).is_plain
    assert not Texts(["a", "\x7f"]).is_plain
