"""Make a set in the layout of PartImageNet from the test birds of FunnyBirds.

    DECAF_DATA_ROOT=/your/folder python docs/make_partimagenet.py runs/partimagenet

Every bird becomes a photo of another size, 192 to 320 px a side and never square: it is resized,
and its edges are repeated at two ends, by a quarter at most. Its parts are annotated as polygons
and run lengths in turn, each piece of a part by itself.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import label

from decaf.data.photo_files import central_crop_of_mask
from decaf.foundation.square import find_central_start
from decaf.studies.attribution.adapters import FunnyBirds
from decaf.studies.attribution.birds import PARTS, class_parts


def write(birds: Path, folder: Path, sides: tuple[int, int] = (192, 256)) -> None:
    """Write photos, their annotations, and the WordNet ids that classes are given here."""
    data = FunnyBirds(adapter="funnybirds", root=birds)
    pairs = data.pair_set()
    class_of = {pair.plus: pair.class_id for pair in pairs.pairs}
    draw = np.random.default_rng(0)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    photos = folder / "PartImageNet" / "images" / "test"
    photos.mkdir(parents=True, exist_ok=True)
    for place, image in enumerate(pairs.inputs):
        side = int(draw.integers(*sides, endpoint=True))
        missing = int(draw.integers(1, side // 4, endpoint=True))
        ends = [(0, 0), (0, 0)]
        before = find_central_start(missing, 0)  # so that the network's crop is the bird
        ends[place % 2] = (before, missing - before)
        bird = Image.fromarray(data.read_input(image)).resize((side, side))
        words = central_crop_of_mask(data.read_mask(pairs.masks[place]), side, None)
        words = np.pad(words, ends)
        height, width = words.shape
        name = f"n{class_of[place]:08d}_{place}.JPEG"
        pixels = np.pad(np.asarray(bird), [*ends, (0, 0)], mode="edge")
        Image.fromarray(pixels).save(photos / name, quality=95)
        images.append({"id": place, "file_name": name, "width": width, "height": height})
        for number in range(len(PARTS)):
            pieces, count = label(words >> number & 1)
            for piece in range(1, count + 1):
                annotations.append(_annotation(pieces == piece, place, number, len(annotations)))
    categories = [
        {"id": number, "name": f"Bird {part.title()}", "supercategory": "Bird"}
        for number, part in enumerate(PARTS)
    ]
    said = {"images": images, "annotations": annotations, "categories": categories}
    file = folder / "PartImageNet" / "annotations" / "test" / "test.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(said))
    classes = {
        number: [f"n{number:08d}", f"bird {number}"] for number in range(len(class_parts(birds)))
    }
    (folder / "classes.json").write_text(json.dumps(classes))


def _annotation(piece: NDArray[np.bool_], image: int, category: int, number: int) -> dict[str, Any]:
    rows, columns = np.nonzero(piece)
    left, top = int(columns.min()), int(rows.min())
    size = [int(columns.max()) + 1 - left, int(rows.max()) + 1 - top]
    return {
        "id": number,
        "image_id": image,
        "category_id": category,
        "segmentation": _polygons(piece) if image % 2 else _run_lengths(piece),
        "area": int(piece.sum()),
        "bbox": [left, top, *size],
        "iscrowd": 0,
    }


def _polygons(piece: NDArray[np.bool_]) -> list[list[int]]:
    """A rectangle for every run of pixels in a row, so that no pixel is lost."""
    steps = np.diff(np.pad(piece.astype(np.int8), [(0, 0), (1, 1)]), axis=1)
    begins, ends = np.argwhere(steps == 1), np.argwhere(steps == -1)
    runs = zip(begins.tolist(), ends[:, 1].tolist(), strict=True)
    return [[x, y, end, y, end, y + 1, x, y + 1] for (y, x), end in runs]


def _run_lengths(piece: NDArray[np.bool_]) -> dict[str, Any]:
    """Column by column, what lies outside first."""
    changes = np.flatnonzero(np.diff(piece.T.ravel(), prepend=False)).tolist()
    counts = np.diff([0, *changes, piece.size]).tolist()
    return {"size": list(piece.shape), "counts": counts}


if __name__ == "__main__":
    write(Path(os.environ["DECAF_DATA_ROOT"]) / "funnybirds", Path(sys.argv[1]))
