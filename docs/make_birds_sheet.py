"""Draw ``docs/images/birds.jpg``: birds without a part, by every means (needs the real data)."""

import os
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from decaf.reveal.paths.removal import without_features
from decaf.reveal.start import gaussian_blur
from decaf.studies.attribution.adapters import FunnyBirds
from decaf.studies.attribution.operators import MAKERS

SHEET = Path(__file__).parent / "images" / "birds.jpg"
SHOWN = (("3/000013.png", "wing"), ("9/000036.png", "beak"), ("21/000085.png", "tail"))
SHOWN += (("40/000162.png", "foot"),)
TITLES = ("", "part", "blur", *MAKERS, "native")
PIXELS, GAP, TOP = 160, 4, 18


def main() -> None:
    """Draw the sheet and save it."""
    root = Path(os.environ["DECAF_DATA_ROOT"]) / "funnybirds"
    data = FunnyBirds(adapter="funnybirds", root=root, operators=tuple(MAKERS), native=True)
    pairs = data.pair_set()
    by_id = {pair.pair_id: pair for pair in pairs.pairs}
    pitch = PIXELS + GAP
    sheet = Image.new("RGB", (len(TITLES) * pitch, TOP + len(SHOWN) * pitch), "white")
    pen = ImageDraw.Draw(sheet)
    for column, title in enumerate(TITLES):
        pen.text((column * pitch + 4, 3), title, fill="black")
    for row, (image, part) in enumerate(SHOWN):
        removal = by_id[f"{image}__{part}"]
        clean = data.read_input(pairs.inputs[removal.plus])
        mask = data.read_mask(pairs.masks[removal.plus]) >> (removal.feature - 1) & 1
        made = [clean, np.where(mask[..., None], clean, 255), _covered(clean, mask)]
        for means in (*MAKERS, "native"):
            pair = by_id[f"{image}__{means}__{part}"]
            made.append(data.read_input(pairs.inputs[pair.minus]))
        for column, pixels in enumerate(made):
            small = Image.fromarray(pixels).resize((PIXELS, PIXELS))
            sheet.paste(small, (column * pitch, TOP + row * pitch))
    sheet.save(SHEET, quality=85, optimize=True)


def _covered(clean: np.ndarray, mask: np.ndarray) -> np.ndarray:
    image = clean.transpose(2, 0, 1)[None] / 255
    covered = without_features(gaussian_blur(image, 12, 15), image, np.ones(1), mask)
    return (255 * covered[0].transpose(1, 2, 0)).round().astype(np.uint8)


if __name__ == "__main__":
    main()
