"""Miniature birds in the official layout of FunnyBirds: rectangles of plain colours."""

import json
from itertools import product

import numpy as np
from PIL import Image

SIZE = 40
INSTANCES = {"beak": 4, "eye": 3, "foot": 4, "tail": 9, "wing": 6}
PARTS = list(INSTANCES)
BACKGROUND = (85, 85, 153)
PLACES = {
    "beak": [((4, 10), 3)],
    "eye": [((4, 16), 2), ((4, 21), 2)],
    "foot": [((26, 4), 3), ((26, 10), 3)],
    "tail": [((14, 4), 4)],
    "wing": [((12, 12), 5), ((12, 19), 5)],
}
"""Top and left of the squares of each part, left and right, and their side, px."""
CODES = {
    "beak": [(255, 255, 0)],
    "eye": [(255, 255, 253), (255, 255, 254)],
    "foot": [(255, 0, 1), (255, 0, 2)],
    "tail": [(0, 0, 255)],
    "wing": [(0, 255, 1), (0, 255, 2)],
}


def instances_of(label):
    return {part: (label * 7 + place) % INSTANCES[part] for place, part in enumerate(PARTS)}


def colour_of(part, instance):
    return ((40 * PARTS.index(part) + 90) % 256, 255 - 25 * instance, 25 * instance)


def regions(part):
    """(40, 40) bool of each side of a part."""
    found = []
    for (top, left), side in PLACES[part]:
        region = np.zeros((SIZE, SIZE), bool)
        region[top : top + side, left : left + side] = True
        found.append(region)
    return found


def picture(label, kept=PARTS):
    """(40, 40, 3) a bird of a class with some of its parts."""
    pixels = np.full((SIZE, SIZE, 3), BACKGROUND, np.uint8)
    for part in kept:
        for region in regions(part):
            pixels[region] = colour_of(part, instances_of(label)[part])
    return pixels


def part_map(kept=PARTS):
    pixels = np.zeros((SIZE, SIZE, 3), np.uint8)
    for part in kept:
        for region, code in zip(regions(part), CODES[part], strict=True):
            pixels[region] = code
    return pixels


def save(pixels, file):
    """As the authors save it: RGBA, opaque."""
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).convert("RGBA").save(file)


def write(folder, classes=50, shown=5, test_each=2, train_each=2, hidden=()):
    """Write birds of the first classes; of test birds, ``hidden`` are (number, part) not to see.

    Train birds lack the tail if their number is odd. Gives the folder that the data set lies in.
    """
    root = folder / "FunnyBirds"
    root.mkdir(parents=True)
    listed = [{"class_idx": n, "parts": instances_of(n)} for n in range(classes)]
    (root / "classes.json").write_text(json.dumps(listed))
    entries = {"train": [], "test": []}
    for split, each in (("train", train_each), ("test", test_each)):
        for number, (label, _) in enumerate(product(range(shown), range(each))):
            gone = ["tail"] if split == "train" and number % 2 else []
            gone += [part for place, part in hidden if place == number and split == "test"]
            kept = [part for part in PARTS if part not in gone]
            name = f"{label}/{number:06d}"
            save(picture(label, kept), root / split / f"{name}.png")
            removed = gone if split == "train" else []
            models = {f"{p}_model": "placeholder" if p in removed else f"{p}.glb" for p in PARTS}
            entries[split].append({"class_idx": label, **models})
            if split == "test":
                save(part_map(kept), root / "test_part_map" / f"{name}.png")
                for part in PARTS:
                    others = [p for p in kept if p != part]
                    called = "_".join(p for p in PARTS if p != part)
                    file = root / "test_interventions" / name / f"body_{called}.png"
                    save(picture(label, others), file)
        (root / f"dataset_{split}.json").write_text(json.dumps(entries[split]))
    return folder
