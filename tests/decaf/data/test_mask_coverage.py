"""Masks that cover a whole image, or the background in place of an object."""

import featured_images
import numpy as np
import pytest
from featured_images import COUNT, NAMES, SIZE, adapter
from PIL import Image

from decaf.data.mask_coverage import check_coverage, read_words
from decaf.errors import DataError

RING = np.ones((4, 4), np.uint8)
RING[1:3, 1:2] = 0
"""14 of 16 pixels, on all four edges."""


@pytest.fixture
def photos(tmp_path):
    return featured_images.photos(tmp_path / "photos")


def coverage(data):
    pairs = data.pair_set()
    return check_coverage(pairs, read_words(pairs, data.read_mask))


def with_wings(folder, photos, wings):
    """Mask files in which ``wings`` are those of the first photos."""
    features = featured_images.mask_files(folder / "masks", photos)
    for name, wing in zip(photos, wings, strict=False):
        file = folder / "masks" / f"{name.removesuffix('.png')}_wing.png"
        Image.fromarray(wing).resize((SIZE, SIZE), Image.Resampling.NEAREST).save(file)
    return adapter(folder, features)


def test_masks_that_are_never_0_are_refused(photos, tmp_path):
    whole = np.array([[1, 255]], np.uint8)  # 1 is the background, as tools for trimaps write it
    (remark,) = coverage(with_wings(tmp_path, photos, [whole] * (COUNT - 1)))
    assert "wing (3 of 4)" in remark
    with pytest.raises(DataError, match=r"wing \(4 of 4\)"):
        coverage(with_wings(tmp_path, photos, [whole] * COUNT))


def test_a_feature_that_fills_its_only_image_is_remarked_on(photos, tmp_path):
    annotations = featured_images.label_maps(tmp_path / "maps", photos)
    Image.new("L", (SIZE, SIZE), 4).save(tmp_path / "maps" / photos[0])
    names = [*NAMES, "bed"]
    (remark,) = (
        remark
        for remark in coverage(adapter(tmp_path, annotations | {"names": names}))
        if "every" in remark
    )
    assert "bed (1 of 1)" in remark


@pytest.mark.parametrize(
    ("wings", "count"), [([RING] * 3, 3), ([RING] * 2, None), ([1 - RING] * 4, None)]
)
def test_inverted_masks_are_remarked_on(wings, count, photos, tmp_path):
    found = [remark for remark in coverage(with_wings(tmp_path, photos, wings)) if "half" in remark]
    assert len(found) == (count is not None)
    assert count is None or f"wing ({count} of 4)" in found[0]


def test_half_of_the_pixels_or_three_edges_are_no_background(photos, tmp_path):
    frame = np.zeros((4, 4), np.uint8)
    frame[[0, -1]] = frame[:, [0, -1]] = 1  # 12 of 16 pixels
    three, half = frame | 1, frame.copy()
    three[:, 0], half[1:3, 0] = 0, 0
    half[0, :2] = 0  # 8 of 16 pixels
    # One of the photos hides its wing.
    for wing, count in ((frame, 1), (three, 0), (half, 0)):
        remarks = coverage(with_wings(tmp_path, photos, [wing] * COUNT))
        assert len(remarks) == count


def test_a_cell_of_the_size_of_a_photo_is_accepted(photos, tmp_path):
    assert coverage(adapter(tmp_path, {"kind": "grid", "side": 1})) == ()
