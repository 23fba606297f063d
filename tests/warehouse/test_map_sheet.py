"""The picture of images and what methods say of their features."""

import numpy as np
import pytest
from PIL import Image

from warehouse.report.map_sheet import (
    CAPTION,
    GAP,
    TILE,
    MapRow,
    Tile,
    colour_features,
    write_map_sheet,
)

TEAL, RED = np.array([0x0F, 0x7B, 0x80]), np.array([0xB9, 0x3A, 0x2B])
# Four pixels: of feature 1, of both, of feature 2, of none.
WORDS = np.array([[1, 3, 2, 0]], np.uint8)
PIXELS = np.array([[[0, 0, 0], [0, 0, 0], [30, 60, 90], [255, 255, 255]]], np.uint8)
GREY = np.array([[127.5], [127.5], [157.5], [255]])


def test_colours_are_those_of_the_scores_by_the_largest_one():
    found = colour_features(PIXELS, WORDS, {1: 4.0, 2: -2.0})[0].astype(float)
    # In sum 4, 2, -2 and 0, of 4: four fifths of the colour, two fifths, two fifths, none.
    expected = [
        0.2 * GREY[0] + 0.8 * TEAL,
        0.6 * GREY[1] + 0.4 * TEAL,
        0.6 * GREY[2] + 0.4 * RED,
        GREY[3] * np.ones(3),
    ]
    np.testing.assert_allclose(found, expected, atol=0.6)


@pytest.mark.parametrize("scores", [{}, {1: 0.0, 2: 0.0}])
def test_without_scores_the_image_is_grey(scores):
    np.testing.assert_allclose(
        colour_features(PIXELS, WORDS, scores)[0], GREY * np.ones(3), atol=0.6
    )


def test_every_image_has_a_row_and_every_method_a_tile(tmp_path):
    wide = np.full((20, 40, 3), 200, np.uint8)
    words = np.ones((20, 40), np.uint8)
    rows = [
        MapRow(("a name that is far too long for a tile", ""), wide, words, []),
        MapRow(("b", ""), wide, words, [Tile(("decaf_9", ""), {1: 1.0})]),
    ]
    with Image.open(write_map_sheet(tmp_path / "maps.png", "two images", rows)) as picture:
        drawn = np.array(picture)
    assert drawn.shape == (2 * CAPTION + 2 * (TILE + CAPTION + GAP), 2 * (TILE + GAP) + GAP, 3)
    # The second tile of the second row: teal across the middle, white above since it is wide.
    top, left = CAPTION + GAP + TILE + CAPTION + GAP + CAPTION, GAP + TILE + GAP
    tile = drawn[top : top + TILE, left : left + TILE]
    assert (tile[:30] == 255).all()
    np.testing.assert_allclose(tile[80, 80], 0.2 * 227.5 + 0.8 * TEAL, atol=1)
