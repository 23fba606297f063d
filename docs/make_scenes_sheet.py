"""Draw ``docs/images/scenes.png``: the four shapes of the built-in scenes, and every factor."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from decaf.studies.scenes.factors import FACTORS, SCENE_COUNT, scene_index, scene_levels
from decaf.studies.scenes.render import render

SHEET = Path(__file__).parent / "images" / "scenes.png"
SHAPES = ("cube", "cylinder", "sphere", "capsule")
PIXELS, COLUMNS, GAP, MARGIN = 96, 10, 2, 86
MIDDLE = (3, 6, 0, 5, 0, 8)
SEED = 7


def main() -> None:
    """Draw the sheet and save it."""
    rows = _shape_rows() + _factor_rows()
    pitch = PIXELS + GAP
    sheet = Image.new("RGB", (MARGIN + COLUMNS * pitch, len(rows) * pitch), "white")
    pen = ImageDraw.Draw(sheet)
    for top, (label, index) in enumerate(rows):
        pen.text((4, top * pitch + PIXELS // 2 - 6), label, fill="black")
        for left, image in enumerate(render(index, PIXELS)):
            sheet.paste(Image.fromarray(image), (MARGIN + left * pitch, top * pitch))
    sheet.save(SHEET, optimize=True)


def _shape_rows() -> list[tuple[str, np.ndarray]]:
    """Scenes drawn at random, the same but for their shape in every row."""
    drawn = scene_levels(np.random.default_rng(SEED).integers(SCENE_COUNT, size=COLUMNS))
    rows = []
    for level, label in enumerate(SHAPES):
        drawn[:, 4] = level
        rows.append((label, scene_index(drawn)))
    return rows


def _factor_rows() -> list[tuple[str, np.ndarray]]:
    """Every other factor through its levels, as many as there is room for."""
    rows = []
    for column, factor in enumerate(FACTORS):
        if factor.name == "shape":
            continue
        shown = np.unique(np.linspace(0, factor.cardinality - 1, COLUMNS).round().astype(int))
        levels = np.tile(MIDDLE, (len(shown), 1))
        levels[:, column] = shown
        rows.append((factor.name, scene_index(levels)))
    return rows


if __name__ == "__main__":
    main()
