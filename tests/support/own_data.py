"""A stranger's own data: squares of two greys as image files with a table, and signals."""

import csv

import numpy as np
from PIL import Image

SIDE = 16
HEADER = ("before", "after", "species", "change", "scene", "part")
COLUMNS = {
    "factual": "before",
    "counterfactual": "after",
    "label": "species",
    "pair_type": "change",
    "source": "scene",
    "split": "part",
}


def square(level, background):
    """(16, 16, 3) a square of a grey in the middle of a background."""
    pixels = np.full((SIDE, SIDE, 3), background, np.uint8)
    pixels[4:12, 4:12] = level
    return pixels


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def write_table(path, rows, header=HEADER):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def rows_of_squares(folder, numbers):
    """Paint squares on black, white and grey; two pairs of each, as rows of a table."""
    rows = []
    for number in numbers:
        name, level = f"s{number}", 40 + 20 * number
        for background, kind in ((0, "black"), (255, "white"), (100, "grey")):
            save(folder / "images" / f"{name}-{kind}.png", square(level, background))
        species = ("dog", "cat")[number % 2]
        for kind in ("white", "grey"):
            files = [f"images/{name}-black.png", f"images/{name}-{kind}.png"]
            rows.append([*files, species, f"to {kind}", name, "test"])
    return rows


def signals(count):
    """(n, 2, 16) float32 sines, and the same with the first channel turned over."""
    x = np.linspace(0, 2 * np.pi, 16)
    rows = [[np.sin((n + 1) * x), np.cos(x) + n] for n in range(count)]
    factual = np.array(rows, np.float32)
    changed = factual.copy()
    changed[:, 0] *= -1
    return factual, changed
