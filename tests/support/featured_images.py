"""Small made-up images with parts, in every form that says where the parts lie."""

import json

import numpy as np
from PIL import Image
from small_studies import of_scenes

from decaf.data.adapters.image_features import ImageFeatures

NAMES = ("head", "tail", "wing")
SIZE = 32
COUNT = 4


def parts(number):
    """(3, 32, 32) bool: where the parts of an image lie; head and tail overlap, a wing may hide."""
    found = np.zeros((3, SIZE, SIZE), bool)
    found[0, 2 : 12 + number, 4:16] = True
    found[1, 8:20, 10:24] = True
    found[2, 24:30, 20:30] = number != 2
    return found


def photos(folder, count=COUNT, seed=0):
    """Write images of two classes; their paths below the folder, sorted."""
    random = np.random.default_rng(seed)
    names = []
    for number in range(count):
        name = f"{number % 2}/bird-{number}.png"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 256, (SIZE, SIZE, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / name)
        names.append(name)
    return sorted(names)


def adapter(folder, features, **settings):
    """Adapter of the images in the folder ``photos`` of a folder, with their features."""
    given = {"adapter": "image_features", "images": str(folder / "photos"), "features": features}
    return ImageFeatures(**given | settings)


def number_of(name):
    return int(name.rpartition("-")[2].removesuffix(".png"))


def mask_files(folder, names):
    """A grey PNG for every image and part; the settings that name them."""
    for name in names:
        for part, mask in zip(NAMES, parts(number_of(name)), strict=True):
            file = folder / f"{name.removesuffix('.png')}_{part}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(mask.astype(np.uint8) * 255).save(file)
    return {"kind": "masks", "files": f"{folder}/{{image}}_{{feature}}.png", "names": NAMES}


def label_maps(folder, names, palette=False):
    """One PNG for every image, where a later part hides an earlier one."""
    for name in names:
        numbers = np.zeros((SIZE, SIZE), np.uint8)
        for number, mask in enumerate(parts(number_of(name)), 1):
            numbers[mask] = number
        image = Image.fromarray(numbers)
        if palette:
            image = image.convert("P")
            image.putdata(numbers.ravel().tolist())
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        image.save(file)
    return {"kind": "label_maps", "files": f"{folder}/{{image}}.png", "names": NAMES}


def run_lengths(mask):
    """Run lengths of a mask, column by column."""
    flat = np.concatenate([[False], mask.T.ravel(), [not mask.T.ravel()[-1]]])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    return [int(n) for n in np.diff([0, *ends])]


def coco(file, names):
    """Annotations: a head and a tail as run lengths, a wing as a polygon or as nothing."""
    images, annotations = [], []
    for place, name in enumerate(names):
        images.append({"id": 100 + place, "file_name": name, "width": SIZE, "height": SIZE})
        for category, mask in enumerate(parts(number_of(name)), 1):
            runs = {"size": [SIZE, SIZE], "counts": run_lengths(mask)}
            polygon = [[20, 24, 30, 24, 30, 30, 20, 30]] if mask.any() else []
            annotations.append(
                {"id": len(annotations), "image_id": 100 + place, "category_id": category}
                | {"segmentation": polygon if category == 3 else runs}
            )
    categories = [
        {"id": number, "name": name, "supercategory": "limb" if number > 1 else "head"}
        for number, name in enumerate(NAMES, 1)
    ]
    said = {"images": images, "annotations": annotations, "categories": categories}
    file.write_text(json.dumps(said))
    return {"kind": "coco", "file": str(file)}


def settings(folder, features, models=(), **changed):
    """Settings of a small study of the photos on one path of three stages."""
    data = {"adapter": "image_features", "images": str(folder / "photos"), "features": features}
    given = {"data": data, "paths": {"decaf": {"kind": "removal"}}, "stages": 3, "epsilon": 1e-6}
    return of_scenes(folder, models) | given | changed
