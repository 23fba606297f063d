"""Segmentations of COCO, by hand and against a plain reading of what they mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from decaf.data.coco_masks import mask_of

SQUARE = [[1, 1, 3, 1, 3, 3, 1, 3]]


def packed(counts):
    """Run lengths as COCO packs them: written from its description, one count at a time."""
    text = ""
    for place, count in enumerate(counts):
        value = count - counts[place - 2] if place > 2 else count
        more = True
        while more:
            bits = value & 31
            value >>= 5
            more = value != (-1 if bits & 16 else 0)
            text += chr((bits | 32 if more else bits) + 48)
    return text


def runs(mask):
    """Run lengths of a mask, column by column, what is outside first."""
    counts, inside = [0], False
    for pixel in mask.T.ravel():
        if pixel != inside:
            counts.append(0)
            inside = not inside
        counts[-1] += 1
    return counts


def test_a_square_has_the_pixels_whose_centres_it_holds():
    expected = np.zeros((4, 5), bool)
    expected[1:3, 1:3] = True
    np.testing.assert_array_equal(mask_of(SQUARE, 4, 5), expected)


def test_polygons_of_one_annotation_are_joined():
    found = mask_of([*SQUARE, [0, 0, 2, 0, 2, 2, 0, 2]], 4, 4)
    assert found.sum() == 4 + 4 - 1


def test_a_polygon_that_leaves_the_picture_is_cut():
    assert mask_of([[-5, -5, 9, -5, 9, 9, -5, 9]], 3, 4).all()
    assert not mask_of([[10, 10, 12, 10, 12, 12]], 3, 4).any()


@pytest.mark.parametrize("nothing", [None, []])
def test_nothing_lies_nowhere(nothing):
    assert not mask_of(nothing, 2, 3).any()


def test_run_lengths_go_down_the_columns():
    # Of 2 x 3 pixels: one outside, three inside, two outside.
    expected = [[False, True, False], [True, True, False]]
    for counts in ([1, 3, 2], "132"):
        assert mask_of({"size": [2, 3], "counts": counts}, 2, 3).tolist() == expected


def test_a_packed_count_of_two_letters_and_one_below_zero():
    # 100 = 4 + 3 x 32 is 'T3'; the fourth count 4 is 100 - 96: its difference -96 is 'PM'.
    counts = [0, 100, 6, 4]
    text = packed(counts)
    assert text.startswith("0T3")
    assert mask_of({"size": [10, 11], "counts": text}, 10, 11).sum() == 104


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=40)))
def test_run_lengths_give_back_any_mask(mask):
    height, width = mask.shape
    for counts in (runs(mask), packed(runs(mask))):
        found = mask_of({"size": [height, width], "counts": counts}, height, width)
        np.testing.assert_array_equal(found, mask)


@given(st.lists(st.tuples(st.integers(-4, 24), st.integers(-4, 24)), min_size=3, max_size=9))
def test_polygons_hold_what_an_odd_number_of_edges_lies_above(points):
    points = [(x / 2, y / 2) for x, y in points]
    expected = np.zeros((9, 10), bool)
    for row, column in np.ndindex(expected.shape):
        x, y, count = column + 0.5, row + 0.5, 0
        for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1], strict=True):
            if (x0 <= x) != (x1 <= x):
                count += y0 + (x - x0) * (y1 - y0) / (x1 - x0) <= y
        expected[row, column] = count % 2
    found = mask_of([[value for point in points for value in point]], 9, 10)
    np.testing.assert_array_equal(found, expected)


BROKEN = {
    "text": ("polygon", "str"),
    "two points": ([[0, 0, 1, 1]], "three points"),
    "an odd number": ([[0, 0, 1, 1, 2, 2, 3]], "three points"),
    "a flat list": ([0, 0, 1, 1, 2, 2], "polygons is 0; expected a list of polygons"),
    "words": ([["a"] * 6], "polygons is .'a', .*expected a list of polygons"),
    "no number": ([[0, 0, 1, 1, 2, float("nan")]], "coordinate nan; .*1,000,000"),
    "far away": ([[0, 0, 1, 1, 2, 1e300]], "coordinate 1e.300; .*1,000,000"),
    "another size": ({"size": [3, 2], "counts": [6]}, r"\[3, 2\].* \[2, 3\]"),
    "no size": ({"counts": [6]}, "None"),
    "no counts": ({"size": [2, 3]}, "NoneType"),
    "fractions": ({"size": [2, 3], "counts": [2, 1.5, 2.5]}, "contain 1.5; .*whole numbers"),
    "too few": ({"size": [2, 3], "counts": [5]}, "add up to 5"),
    "too many": ({"size": [2, 3], "counts": [10**30]}, "2 x 3"),
    "below zero": ({"size": [2, 3], "counts": [-1, 7]}, "-1"),
    "no text": ({"size": [2, 3], "counts": "6\n"}, r"character 2, '\\n'"),
    "cut short": ({"size": [2, 3], "counts": "T"}, "incomplete"),
    "without an end": ({"size": [2, 3], "counts": "o" * 100}, "incomplete"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_refused(name):
    segmentation, words = BROKEN[name]
    with pytest.raises(ValueError, match=words):
        mask_of(segmentation, 2, 3)
