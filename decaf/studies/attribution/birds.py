"""Files of FunnyBirds: which parts the classes have, and which birds there are to train on."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.adapters.image_files import Folder
from decaf.data.json_files import read_json
from decaf.data.pairs import Input, InputSet
from decaf.studies.attribution.part_maps import COLOURS

Split = Literal["train", "test"]
PARTS = tuple(COLOURS)
REMOVED = -1
"""Instance of a part that a bird lacks."""
PLACEHOLDERS = ("placeholder", "")
"""Models of parts that are not drawn."""
EXPECTED = "expected the file as FunnyBirds publishes it"


class Birds(NamedTuple):
    """Birds of a split, in the order of its list."""

    pictures: InputSet
    classes: NDArray[np.int64]
    """(n,) class of each."""
    instances: NDArray[np.int64]
    """(n, 5) instance of each part, -1 if it is removed."""


def birds_folder(root: Path) -> Path:
    """The folder of the data set: the root, or the folder of its name in it."""
    below = root / "FunnyBirds"
    return below if below.is_dir() else root


def class_parts(root: Path) -> NDArray[np.int64]:
    """(n_classes, 5) instance of each part that makes a class, from ``classes.json``.

    Raises DataError when the file cannot be read, or does not list classes 0, 1, … with all parts.
    """
    file = birds_folder(root) / "classes.json"

    def select(listed: Any) -> NDArray[np.int64]:
        if [entry["class_idx"] for entry in listed] != [*range(len(listed))] or not listed:
            raise ValueError("classes are not numbered 0, 1, … in ascending order")
        instances = np.array([[entry["parts"][part] for part in PARTS] for entry in listed])
        if instances.dtype.kind != "i" or instances.min() < 0:
            raise ValueError("instance numbers of parts are not whole numbers from 0")
        return instances

    return read_json(file, "list", EXPECTED, select)


def birds(root: Path, split: Split) -> Birds:
    """Birds of a split with the parts that they have; decodes none.

    Raises DataError when a list or a picture is missing, or the list is not as it is published.
    """
    classes = class_parts(root)

    def select(listed: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        labels = np.array([entry["class_idx"] for entry in listed], int)
        if not labels.size or not ((labels >= 0) & (labels < len(classes))).all():
            raise ValueError(f"classes are not from 0 to {len(classes) - 1}")
        models = [[entry[f"{part}_model"] for part in PARTS] for entry in listed]
        return labels, np.isin(models, PLACEHOLDERS)

    labels, is_removed = read_json(
        birds_folder(root) / f"dataset_{split}.json", "list", EXPECTED, select
    )
    names = [f"{label}/{place:06d}.png" for place, label in enumerate(labels)]
    folder = Folder(birds_folder(root) / split)
    pictures = tuple(Input(name, split, *folder.file(name), name) for name in names)
    instances = np.where(is_removed, REMOVED, classes[labels])
    return Birds(InputSet(pictures, "as stored"), labels, instances)
