"""One page of pairs: thumbnails of images, curves of signals, changed columns of rows.

The page is one file; nothing in it is loaded from elsewhere.
"""

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from decaf.data.array_images import picture_of
from decaf.data.overview import Cell, ShownPair, describe_pair, share_of
from warehouse.report.templates import render, write

THUMBNAIL, SMALLEST = 192, 96
"""Largest and smallest length of the longer side of a picture, px."""
WIDTH, HEIGHT = 400, 80
"""Size of the curve of one channel, px."""
MOST_CHANNELS, MOST_COLUMNS = 8, 64
VEIL = 107
"""Added to a third of a pixel's value: two thirds of a light grey, 160."""
MOST_POINTS = 800
"""Largest number of points of a curve."""


class Card(NamedTuple):
    """One pair as the page shows it; only one of pictures, curves and cells is filled."""

    facts: dict[str, Any]
    pictures: list[str]
    """Data URIs: factual, counterfactual."""
    curves: list[tuple[str, str]]
    """Points of an SVG polyline for every channel: factual, counterfactual."""
    cells: list[Cell]
    note: str


def write_data_sheet(
    target: Path, study: str, lines: Sequence[str], shown: Sequence[ShownPair]
) -> Path:
    """Write the page: remarks on the data, then pair by pair.

    Raises WriteFailed when the page cannot be written.
    """
    cards = [_card(pair) for pair in shown]
    size = {"width": WIDTH, "height": HEIGHT}
    page = render("data_sheet.html.j2", study=study, lines=lines, cards=cards, **size)
    return write(target, "sheet", page)


def _card(shown: ShownPair) -> Card:
    plus, minus = shown.plus, shown.minus
    facts, differs = describe_pair(shown), plus != minus
    pictures, curves, cells = [], [], []
    note = f"{np.count_nonzero(differs):,} of {differs.size:,} values differ"
    if shown.has_names:
        note = f"{sum(cell.differs for cell in shown.cells)} of {len(shown.cells)} columns differ"
    elif shown.removed is not None:
        note = f"{shown.pair.pair_type}: {share_of(shown.removed)}"
    if plus.dtype == np.uint8:
        pictures = [_picture(plus), _picture(_lay_veil(minus, shown.removed))]
    elif plus.ndim == 2:
        curves = [_curves(*both) for both in zip(plus[:MOST_CHANNELS], minus, strict=False)]
        if len(plus) > MOST_CHANNELS:
            note += f"; {MOST_CHANNELS} of {len(plus)} channels are shown"
    else:
        # If not all columns fit, changed columns take precedence.
        first = sorted(range(len(shown.cells)), key=lambda place: not shown.cells[place].differs)
        cells = [shown.cells[place] for place in sorted(first[:MOST_COLUMNS])]
        if len(first) > MOST_COLUMNS:
            note += f"; {MOST_COLUMNS} of {len(first)} columns are shown"
    return Card(facts, pictures, curves, cells, note)


def _lay_veil(pixels: NDArray[np.uint8], removed: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    """Lay a grey veil over the removed feature, if there is one."""
    if removed is None:
        return pixels
    veiled = (pixels // 3 + VEIL).astype(np.uint8)
    return np.where(removed[..., None], veiled, pixels)


def _picture(pixels: NDArray[np.uint8]) -> str:
    image = picture_of(pixels)
    image.thumbnail((THUMBNAIL, THUMBNAIL))
    factor = -(-SMALLEST // max(image.size))
    if factor > 1:
        image = image.resize(
            (image.width * factor, image.height * factor), Image.Resampling.NEAREST
        )
    content = io.BytesIO()
    image.save(content, "PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


def _curves(plus: NDArray[np.floating], minus: NDArray[np.floating]) -> tuple[str, str]:
    """Both (length,) signals on one scale, thinned to at most ``MOST_POINTS`` points."""
    low, high = min(plus.min(), minus.min()), max(plus.max(), minus.max())
    places = np.linspace(0, plus.size - 1, min(plus.size, MOST_POINTS)).astype(int)
    x = places / max(plus.size - 1, 1) * WIDTH

    def points(values: NDArray[np.floating]) -> str:
        y = HEIGHT * (high - values[places]) / ((high - low) or 1)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))

    return points(plus), points(minus)
