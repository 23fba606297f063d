"""Masks that do not fit, of every image: commands refuse them by name before anything is scored."""

import featured_images
import funny_birds
import pytest
from ended_commands import refused
from featured_images import SIZE
from PIL import Image
from small_studies import untrained


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
        "PNG of RGB; a mask or label map has one number a pixel",
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


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize("name", WRONG)
def test_masks_that_fit_no_image_are_refused_by_name(
    name, command, decaf, write, tmp_path, workers, prefect_server
):
    make, *words = WRONG[name]
    data = make(tmp_path)
    given = featured_images.settings(tmp_path, {}, [untrained(tmp_path, "cnn")])
    given["data"] = data if "adapter" in data else given["data"] | data
    if "adapter" in data:
        given["score"] = {"kind": "target_logit", "classes": 50}
    given["cluster"] = workers
    refused(decaf(command, write(given), **prefect_server), *words)
