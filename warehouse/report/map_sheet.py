"""One picture of images whose features are coloured by their scores from each method."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw, ImageFont

from decaf.data.array_images import picture_of
from decaf.data.cells import feature_words
from decaf.library.palette import COLOURS, INK
from warehouse.report.templates import write

TILE, GAP, CAPTION = 160, 6, 34
"""Side of a tile, gap between tiles, and height of the two lines above a tile, px."""
FORMATS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG"}
STRONGEST = 0.8
"""Share of colour in the feature with a tile's largest score."""
LEGEND = "teal: the feature raises the score; red: it lowers it; full colour: the tile's largest"


class Tile(NamedTuple):
    """Scores of the features of an image by one method."""

    lines: tuple[str, str]
    scores: Mapping[int, float]
    """Scores by number of the feature, from 1; features without a score stay grey."""


class MapRow(NamedTuple):
    """An image with its features and its tiles."""

    lines: tuple[str, str]
    pixels: NDArray[np.uint8]
    """(height, width, channels)."""
    words: NDArray[np.unsignedinteger]
    """(height, width); bit k - 1 is set in the pixels of feature k."""
    tiles: Sequence[Tile]


def write_map_sheet(target: Path, title: str, rows: Sequence[MapRow]) -> Path:
    """Write a JPEG or PNG, by the suffix, with a row for each image: itself, then its tiles.

    Every tile is scaled by its own largest absolute score. Raises WriteFailed when the disk
    refuses.
    """
    pitch, height = TILE + GAP, TILE + CAPTION + GAP
    columns = 1 + max(len(row.tiles) for row in rows)
    sheet = Image.new("RGB", (GAP + columns * pitch, 2 * CAPTION + len(rows) * height), "white")
    pen = ImageDraw.Draw(sheet)
    _write_lines(pen, (GAP, 4), (title, LEGEND), sheet.width)
    for number, row in enumerate(rows):
        top = CAPTION + GAP + number * height
        shown = [(row.lines, row.pixels)]
        shown += [
            (tile.lines, colour_features(row.pixels, row.words, tile.scores)) for tile in row.tiles
        ]
        for column, (lines, pixels) in enumerate(shown):
            tile_left = GAP + column * pitch
            _write_lines(pen, (tile_left, top), lines, TILE)
            sheet.paste(_tile(pixels), (tile_left, top + CAPTION))
    content = io.BytesIO()
    sheet.save(content, FORMATS[target.suffix.lower()], quality=88, optimize=True)
    return write(target, "picture", content.getvalue())


def colour_features(
    pixels: NDArray[np.uint8], words: NDArray[np.unsignedinteger], scores: Mapping[int, float]
) -> NDArray[np.uint8]:
    """(height, width, channels) image → a grey one with features in the colours of their scores.

    Scores of overlapping features add up. If all scores are 0, the image is grey.
    """
    total = np.zeros(words.shape)
    for feature, score in scores.items():
        total[words & feature_words(np.array(feature)) > 0] += score
    share = total / (np.abs(total).max() or 1)
    grey = np.repeat(127.5 + pixels.mean(axis=2, keepdims=True) / 2, 3, axis=2)
    raised, lowered = (
        np.array(ImageColor.getrgb(COLOURS[role])) for role in ("evidence", "contradiction")
    )
    colour = np.where(share[..., None] > 0, raised, lowered)
    strength = STRONGEST * np.abs(share)[..., None]
    return (grey + strength * (colour - grey)).round().astype(np.uint8)


def _tile(pixels: NDArray[np.uint8]) -> Image.Image:
    """White square with the image, as large as it fits."""
    image = picture_of(pixels)
    scale = TILE / max(image.size)
    image = image.resize((round(image.width * scale) or 1, round(image.height * scale) or 1))
    tile = Image.new("RGB", (TILE, TILE), "white")
    tile.paste(image, ((TILE - image.width) // 2, (TILE - image.height) // 2))
    return tile


def _write_lines(
    pen: ImageDraw.ImageDraw, place: tuple[int, int], lines: tuple[str, str], room: int
) -> None:
    """Write two lines of text, cut at ``room`` px."""
    font = ImageFont.load_default(13)
    for number, line in enumerate(lines):
        while pen.textlength(line, font) > room:
            line = f"{line[:-2]}…"
        pen.text((place[0], place[1] + 15 * number), line, INK, font)
