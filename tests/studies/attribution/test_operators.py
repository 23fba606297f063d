"""Operators that replace a part: hand-computed small images, and what holds of any."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.errors import DataError
from decaf.studies.attribution.operators import (
    MAKERS,
    dilate_region,
    largest_rectangle,
    remove_part,
)

OPERATORS = list(MAKERS)
SIDES = st.integers(1, 24)


@pytest.fixture(autouse=True)
def _needs_opencv():
    pytest.importorskip("cv2", reason="Telea's inpainting needs the extra 'inpainting'")


def image_of(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def square(height, width, top, left, side):
    region = np.zeros((height, width), bool)
    region[top : top + side, left : left + side] = True
    return region


def brute_force(free):
    """Area of the largest rectangle, by looking at all of them."""
    height, width = free.shape
    areas = [0]
    for top in range(height):
        for left in range(width):
            for bottom in range(top + 1, height + 1):
                for right in range(left + 1, width + 1):
                    if free[top:bottom, left:right].all():
                        areas.append((bottom - top) * (right - left))
    return max(areas)


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_no_rectangle_is_larger(height, width, seed, share):
    free = np.random.default_rng(seed).random((height, width)) < share
    rows, columns = largest_rectangle(free)
    assert free[rows, columns].all()
    assert (rows.stop - rows.start) * (columns.stop - columns.start) == brute_force(free)


def test_the_uppermost_and_leftmost_of_equal_rectangles():
    free = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 1]], bool)
    assert largest_rectangle(free) == (slice(0, 3), slice(2, 3))
    free[2, 2] = False
    assert largest_rectangle(free) == (slice(0, 2), slice(0, 1))


@given(SIDES, SIDES, st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_dilation_is_so_many_passes_of_a_square(height, width, seed, pixels):
    region = np.random.default_rng(seed).random((height, width)) < 0.05
    expected = region
    for _ in range(pixels):
        padded = np.pad(expected, 1)
        shifted = [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
        expected = np.any(shifted, axis=0)
    np.testing.assert_array_equal(dilate_region(region, pixels), expected)


@pytest.mark.parametrize("operator", OPERATORS)
@given(st.integers(12, 32), st.integers(12, 32), st.integers(0, 2**32 - 1))
def test_what_is_not_hidden_stays(operator, height, width, seed):
    image, part = image_of(height, width, seed), square(height, width, 1, 2, 3)
    made = remove_part(operator, image, part, part, "a")
    hidden = dilate_region(part, 3)
    np.testing.assert_array_equal(made[~hidden], image[~hidden])
    assert made.dtype == np.uint8
    assert made.shape == image.shape
    np.testing.assert_array_equal(made, remove_part(operator, image, part, part, "a"))
    np.testing.assert_array_equal(image, image_of(height, width, seed))


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_plain_image_shows_no_part_any_more(operator):
    part = square(32, 24, 10, 8, 5)
    image = np.full((32, 24, 3), (10, 200, 30), np.uint8)
    image[part] = (255, 0, 0)
    made = remove_part(operator, image, part, part, "a")
    off = np.abs(made.astype(int) - (10, 200, 30))
    assert off.max() <= 2, "OpenCV rounds between passes"


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_empty_part_changes_nothing(operator):
    image, empty = image_of(8, 8), np.zeros((8, 8), bool)
    np.testing.assert_array_equal(remove_part(operator, image, empty, ~empty, "a"), image)


def test_texture_is_the_mirrored_rectangle():
    """One part in the last column of a row: the columns left of it are mirrored under it."""
    row = np.arange(30, 40, dtype=np.uint8)
    image = np.repeat(row[None, :, None], 3, axis=2)
    part = np.zeros((1, 10), bool)
    part[0, -1] = True  # dilated: the last four columns, so six are free: 30 … 35
    mirrored = [*range(30, 36), *range(35, 29, -1)] * 2
    allowed = {tuple(mirrored[offset + 6 : offset + 10]) for offset in range(12)}
    seen = set()
    for name in map(str, range(40)):
        made = remove_part("texture", image, part, part, name)[0, :, 0].tolist()
        assert made[:6] == row[:6].tolist()
        seen.add(tuple(made[6:]))
    assert seen <= allowed
    assert len(seen) > 6, "the place is drawn by the name"


def test_texture_shows_no_other_part():
    image = image_of(40, 40)
    image[..., 0] = 0
    part, other = square(40, 40, 4, 4, 4), square(40, 40, 25, 25, 6)
    image[part | other, 0] = 255
    made = remove_part("texture", image, part, part | other, "a")
    assert not made[dilate_region(part, 3)][:, 0].any()


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_part_as_large_as_the_image_is_refused(operator):
    every = np.ones((9, 9), bool)
    with pytest.raises(DataError, match="a bird"):
        remove_part(operator, image_of(9, 9), every, every, "a bird")
