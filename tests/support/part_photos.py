"""Small sets in the layout of PartImageNet: annotated by hand, and made from miniature birds."""

import importlib.util
import json
from pathlib import Path

import funny_birds
import numpy as np
from PIL import Image

SCRIPT = Path(__file__).parents[2] / "docs" / "make_partimagenet.py"
SIZES = {"n00000001_7": (12, 10), "n00000000_3": (8, 9)}
"""Width and height of the photos; both show parts."""
CATEGORIES = ["Bird Head", "Bird Foot", "Reptile Foot", "Bird Side Tail", "Bird Wing"]


def rectangle(left, top, right, bottom):
    return [left, top, right, top, right, bottom, left, bottom]


def annotation(image, category, segmentation, **others):
    named = {"image_id": image, "category_id": CATEGORIES.index(category)}
    return named | {"segmentation": segmentation} | others


def annotations():
    """Annotations of the first photo: two feet, a tail over the head, and an empty wing."""
    feet = {"size": [10, 12], "counts": [8, 2, 110]}
    tail = {"size": [10, 12], "counts": [32, 1, 9, 1, 77]}
    return {
        "images": [
            {"id": 5 + place, "file_name": f"{name}.JPEG", "width": width, "height": height}
            for place, (name, (width, height)) in enumerate(SIZES.items())
        ],
        "annotations": [
            annotation(5, "Bird Head", [rectangle(1, 1, 5, 4)]),
            annotation(5, "Bird Foot", feet, iscrowd=1),
            annotation(5, "Reptile Foot", [rectangle(10, 8, 12, 10), [3, 3, 4, 4], [1, 1]]),
            annotation(5, "Bird Side Tail", tail),
            annotation(5, "Bird Wing", [[2, 2, 9, 9]]),
            annotation(5, "Bird Wing", None),
            annotation(6, "Bird Head", [rectangle(0, 0, 3, 3)]),
            annotation(6, "Bird Wing", [rectangle(4, 4, 8, 9)]),
        ],
        "categories": [
            {"id": number, "name": name, "supercategory": name.partition(" ")[0]}
            for number, name in enumerate(CATEGORIES)
        ],
    }


def write(folder, said=None, images="images/test", file="annotations/test/test.json", by=""):
    """Write both photos and their annotations; ``by`` is a pattern of folders of classes."""
    for name, (width, height) in SIZES.items():
        photo = folder / images / by.format(name.partition("_")[0]) / f"{name}.JPEG"
        photo.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((height, width, 3), 90, np.uint8)).save(photo)
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(json.dumps(said or annotations()))
    return folder


def of_birds(folder, **birds):
    """Photos of 40 to 60 px made of miniature birds by the script of the docs; both folders."""
    spec = importlib.util.spec_from_file_location("make_partimagenet", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    drawn = funny_birds.write(folder / "birds", **birds)
    script.write(drawn, folder / "photos", sides=(40, 48))
    return drawn, folder / "photos"
