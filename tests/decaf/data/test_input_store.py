"""Clean inputs of either kind go into one file as they are, and come out as models take them."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decaf.data.input_store import channels_first, inputs_at, open_inputs, store_inputs
from decaf.data.pairs import Input, InputSet, Pair, PairSet
from decaf.errors import DataError
from decaf.foundation.arrays import as_taken
from decaf.scoring.states import on_device

CPU = torch.device("cpu")


def stored(tmp_path, arrays):
    images = tuple(Input(f"input-{n}", "any", f"content {n}", str(n)) for n in range(len(arrays)))
    path = store_inputs(
        tmp_path, InputSet(images, "a test"), lambda image: arrays[int(image.location)]
    )
    return open_inputs(path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_keep_their_numbers_and_their_type(tmp_path, dtype):
    rows = np.array([[0.1, -7.0, 1e9], [2.5, 255.0, 0.0]], dtype)
    found = stored(tmp_path, rows)
    assert isinstance(found, np.memmap)
    assert found.dtype == dtype
    np.testing.assert_array_equal(channels_first(found), rows)
    taken = on_device(channels_first(found[[0, 1]]), CPU)
    assert taken.numpy().dtype == dtype
    np.testing.assert_array_equal(taken, rows)


@pytest.mark.parametrize(("places", "shape"), [([2, 0], None), ([4, 0], (2,))])
def test_inputs_are_put_where_there_is_room_for_them(tmp_path, places, shape):
    """Rows of two values; in a file of inputs that differ in shape, a place is that of a value."""
    rows = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "inputs.npy", rows if shape is None else rows.ravel())
    made = []

    def room(asked, dtype):
        made.append(np.full(asked, np.nan, dtype))
        return made[0]

    found = inputs_at(tmp_path / "inputs.npy", np.array(places), shape, room)
    assert found is made[0]
    np.testing.assert_array_equal(found, np.float32([[4, 5], [0, 1]]))


def test_images_come_out_channels_first_between_0_and_1_without_a_copy(tmp_path):
    images = np.arange(2 * 2 * 1 * 3, dtype=np.uint8).reshape(2, 2, 1, 3)
    found = stored(tmp_path, images)
    assert (found.dtype, found.shape) == (np.uint8, (2, 2, 1, 3))
    turned = channels_first(found)
    assert np.shares_memory(turned, found)
    assert turned.shape == (2, 3, 2, 1)
    # Channel 1 of the first image: its upper pixel has bytes 0, 1, 2, its lower one 3, 4, 5.
    np.testing.assert_array_equal(turned[0, 1].ravel(), [1, 4])
    np.testing.assert_array_equal(as_taken(turned)[0, 1].ravel(), np.float32([1, 4]) / 255)
    np.testing.assert_array_equal(on_device(turned[[0, 1]], CPU), as_taken(turned))


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (np.zeros(3, np.float64), r"float64 \(3,\); expected float32 \(3,\)"),
        (np.zeros(2, np.float32), r"float32 \(2,\); expected float32 \(3,\)"),
    ],
)
def test_inputs_of_two_kinds_are_named_and_nothing_is_left(tmp_path, other, found):
    with pytest.raises(DataError, match=rf": 1 of 2\n.*input-1 is {found}"):
        stored(tmp_path, [np.zeros(3, np.float32), other])
    assert list((tmp_path / "inputs").iterdir()) == []


@pytest.mark.parametrize("shape", [(2, 5), (3, 4, 4), (4, 4, 3), (1, 2, 3, 4)])
def test_floats_of_any_shape_stay_as_they_are(tmp_path, shape):
    arrays = np.random.default_rng(0).standard_normal((2, *shape)).astype(np.float32)
    found = channels_first(stored(tmp_path, arrays))
    np.testing.assert_array_equal(found, arrays)
    np.testing.assert_array_equal(on_device(found[[0, 1]], CPU), arrays)


@pytest.mark.parametrize(
    "neither",
    [
        np.zeros((3, 2, 2), np.uint8),
        np.zeros(3, np.int64),
        np.zeros((2, 3), np.uint8),
        np.zeros(3, np.float16),
        np.zeros(0, np.float32),
        np.float64(1),
    ],
)
def test_what_is_neither_an_image_nor_floats_is_refused(tmp_path, neither):
    with pytest.raises(DataError, match="input-0 .* at least one axis and one value"):
        stored(tmp_path, [neither])
    assert list((tmp_path / "inputs").iterdir()) == []


def images_of(shapes):
    """Inputs of 0s, 1s, 2s …, and how they are read."""
    images = tuple(Input(str(n), "any", f"content {n}", "", None, s) for n, s in enumerate(shapes))
    return images, lambda image: np.full(image.shape, int(image.image_id), np.uint8)


def test_images_of_different_shapes_lie_one_after_the_other(tmp_path):
    images, read = images_of([(1, 2, 3), (2, 2, 3), (1, 2, 3)])
    given = InputSet(images, "a test")
    assert given.shapes == {(1, 2, 3): 0, (2, 2, 3): 1}
    assert given.extremes == (0, 1)
    file = store_inputs(tmp_path, given, read)
    np.testing.assert_array_equal(open_inputs(file), [0] * 6 + [1] * 12 + [2] * 6)
    assert given.places.tolist() == [0, 6, 18]
    found = inputs_at(file, given.places[[2, 0]], (1, 2, 3))
    np.testing.assert_array_equal(found, np.array([[[[2] * 3] * 2], [[[0] * 3] * 2]]))
    with pytest.raises(DataError, match=r"1 is uint8 \(1, 2, 3\); expected uint8 \(2, 2, 3\)$"):
        store_inputs(tmp_path / "other", given, lambda image: read(images[0]))


def test_a_shape_is_said_of_all_inputs_or_of_none():
    images, _ = images_of([(1, 2, 3), None])
    with pytest.raises(DataError, match="input '1'"):
        _ = InputSet(images, "a test").shapes


def test_all_inputs_of_a_pair_have_one_shape():
    images, _ = images_of([(1, 2, 3)] * 3 + [(2, 1, 3)])
    pair = Pair("p", "p", "t", 0, "all", 0, 1, context=(2, 3))
    with pytest.raises(DataError, match=r"pair p: 0 .* \(1, 2, 3\) .* 3 .* \(2, 1, 3\)"):
        PairSet(images, (pair,), "a test")


SHAPES = st.lists(st.sampled_from([(1, 2, 3), (2, 1, 3), (2, 2, 3)]), min_size=1, max_size=8)


@settings(max_examples=30)
@given(SHAPES, st.integers(1, 3), st.booleans())
def test_parts_of_blocks_are_the_pairs_by_shape(shapes, per_block, has_shapes):
    images, read = images_of(shapes)
    told = images if has_shapes else tuple(replace(image, shape=None) for image in images)
    alike = [Pair(str(n), str(n // 2), "t", 0, "all", n, n, 1) for n in range(len(images))]
    pairs = PairSet(told, tuple(alike), "a test")
    plain = PairSet(tuple(replace(image, shape=None) for image in images), tuple(alike), "a test")
    assert (pairs.digest, pairs.input_set.digest) == (plain.digest, plain.input_set.digest)
    assert [*map(list, pairs.blocks(per_block))] == [*map(list, plain.blocks(per_block))]
    if not has_shapes:
        return
    with TemporaryDirectory() as folder:
        file = store_inputs(Path(folder), pairs.input_set, read)
        for rows in pairs.blocks(per_block):
            parts = pairs.split_by_shape(rows)
            assert sorted(row for part in parts for row in part) == sorted(rows)
            assert len(parts) == len({shapes[row] for row in rows})
            for part in parts:
                block = pairs.block(part)
                found = inputs_at(file, block.input_positions, block.shape)
                expected = np.stack([read(images[row]) for row in part])
                np.testing.assert_array_equal(found[block.plus], expected)
