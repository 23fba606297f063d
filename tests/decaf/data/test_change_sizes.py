"""Sizes of changes by pair type, and what is remarked on controls of another size."""

import numpy as np
import pytest

from decaf.data.change_sizes import change_sizes, remarks_on_controls
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError


def sizes_of(*pairs):
    """Sizes of pairs, each given as pair type, factual and counterfactual array."""
    arrays = [array for _, *both in pairs for array in both]
    inputs = tuple(Input(str(n), "any", str(n), n) for n in range(len(arrays)))
    rows = tuple(
        Pair(f"pair {n}", f"source {n}", pair_type, 0, "all", 2 * n, 2 * n + 1)
        for n, (pair_type, *_) in enumerate(pairs)
    )
    return change_sizes(PairSet(inputs, rows, "a test"), lambda image: arrays[image.location])


def grey(value):
    return np.full((2, 2, 3), value, np.uint8)


def test_sizes_by_hand():
    sizes = sizes_of(
        ("wall", grey(0), grey(255)),
        ("wall", grey(10), grey(10)),
        ("signal", np.array([0.0, 4.0]), np.array([-1.0, 1.0])),
    )
    assert sizes == {"signal": 2.0, "wall": 0.5}


def test_darker_pixels_count_as_brighter_ones():
    assert sizes_of(("wall", grey(51), grey(0))) == sizes_of(("wall", grey(0), grey(51)))


def test_inputs_of_different_shapes_are_refused():
    with pytest.raises(DataError):
        sizes_of(("wall", np.zeros(2), np.zeros(3)))


@pytest.mark.parametrize(
    ("wall", "expectation", "count"),
    [
        (0.1, "should_not_matter", 0),
        (0.19, "should_not_matter", 0),
        (0.2, "should_not_matter", 1),
        (0.05, "should_not_matter", 1),
        (0.05, "unknown", 1),
        (0.0, "should_not_matter", 1),
        (0.2, "should_matter", 0),
        (0.2, "control", 0),
    ],
)
def test_controls_of_another_size_are_remarked_on(wall, expectation, count):
    expect = {"floor": "control", "wall": expectation}
    remarks = [*remarks_on_controls({"floor": 0.1, "wall": wall}, expect)]
    assert len(remarks) == count
    assert all("floor" in remark and "wall" in remark for remark in remarks)


def test_each_control_has_one_remark():
    sizes = {"floor": 0.1, "sky": 0.3, "wall": 0.5, "hue": 0.31, "tint": 0.02, "shape": 0.9}
    expect = {"floor": "control", "sky": "control", "shape": "should_matter"}
    floor, sky = remarks_on_controls(sizes, expect)
    assert floor.startswith("control 'floor' changes inputs by 0.1, 'wall' by 0.5, 'hue' by 0.31")
    assert "'tint' by 0.02" in floor
    assert sky.startswith("control 'sky' changes inputs by 0.3, 'tint' by 0.02;")


def test_nothing_is_remarked_on_without_a_control():
    assert not [*remarks_on_controls({"floor": 0.1, "wall": 0.9}, {})]
