"""Masks that fit no image: they are refused by name."""

import featured_images
import funny_birds
import pytest
from featured_images import SIZE
from PIL import Image
from small_studies import untrained

from decaf.errors import DataError
from decaf.plan.study import load_study


def masks(spoil):
    def make(folder):
        names = featured_images.photos(folder / "photos")
        features = featured_images.mask_files(folder / "masks", names)
        for file in sorted((folder / "masks").rglob("*.png")):
            spoil(file)
        return {"features": features}

    return make


def label_maps(folder):
    names = featured_images.photos(folder / "photos")
    features = featured_images.label_maps(folder / "maps", names)
    for name in names:
        Image.new("L", (SIZE // 2, SIZE // 2)).save(folder / "maps" / name)
    return {"features": features}


def annotations(folder):
    names = featured_images.photos(folder / "photos")
    features = featured_images.coco(folder / "parts.json", names)
    for name in names:
        Image.new("RGB", (SIZE, SIZE - 1)).save(folder / "photos" / name)
    return {"features": features}


def birds(folder):
    root = funny_birds.write(folder, shown=1)
    for file in (root / "FunnyBirds" / "test_part_map").rglob("*.png"):
        funny_birds.save(funny_birds.part_map()[: funny_birds.SIZE // 2], file)
    return {"adapter": "funnybirds", "root": str(root)}


WRONG = {
    "masks of another size": (
        masks(lambda file: Image.new("L", (16, 31)).save(file)),
        "images or masks that cannot be used: 12",
        "bird-0_head.png has 16 x 31 pixels, and its image",
        "32 x 32; expected one size",
    ),
    "masks in colours": (
        masks(lambda file: Image.new("RGB", (SIZE, SIZE)).save(file)),
        "PNG of RGB; expected one number per pixel",
    ),
    "masks that are no pictures": (
        masks(lambda file: file.write_bytes(b"mask")),
        "bird-0_head.png cannot be decoded",
    ),
    "label maps of another size": (
        label_maps,
        "16 x 16 pixels, and its image",
        "32 x 32; expected",
    ),
    "annotations of another size": (annotations, "32 x 32 pixels, and its image", "32 x 31"),
    "part maps of another size": (birds, "40 x 20 pixels, and its image", "40 x 40"),
}
"""What all files of a study are, and words of the message."""


def read_masks(data):
    """Compare the sizes of all masks and images, then read every mask."""
    pairs = data.pair_set()
    data.verify(pairs)
    return [data.read_mask(mask) for mask in pairs.masks]


@pytest.mark.parametrize("name", WRONG)
def test_masks_that_fit_no_image_are_refused_by_name(name, write, tmp_path):
    make, *words = WRONG[name]
    data = make(tmp_path)
    given = featured_images.settings(tmp_path, {}, [untrained(tmp_path, "cnn")])
    given["data"] = data if "adapter" in data else given["data"] | data
    if "adapter" in data:
        given["score"] = {"kind": "target_logit", "classes": 50}
    study = load_study(write(given))
    with pytest.raises(DataError) as refusal:
        read_masks(study.data)
    for word in words:
        assert word in str(refusal.value)
