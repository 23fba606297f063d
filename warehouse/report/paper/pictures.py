"""All pictures of a study's tables of the paper, for its report and for its page of results."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from warehouse.report import templates
from warehouse.report.audit.facts import Row
from warehouse.report.paper.benchmark_figures import benchmark_pictures
from warehouse.report.paper.curve_figures import curve_pictures
from warehouse.report.paper.entry_figures import entry_pictures
from warehouse.report.paper.marks import FIGURE
from warehouse.report.paper.protocol_figures import (
    order_pictures,
    protocol_pictures,
    threshold_pictures,
)
from warehouse.report.paper.reading import Paper
from warehouse.report.svg import Picture, standalone


class PaperPictures(NamedTuple):
    """Pictures with their own legends, and pictures in the colours of E, C, F and Abs only."""

    explained: list[Picture]
    coloured: list[Picture]


def paper_pictures(paper: Paper, profiles: Sequence[Row]) -> PaperPictures:
    """Draw the pictures that studies declare; profiles are model means by pair type and path."""
    return PaperPictures(
        [*benchmark_pictures(paper), *curve_pictures(paper), *entry_pictures(paper)],
        [
            *protocol_pictures(paper),
            *order_pictures(paper, profiles),
            *threshold_pictures(paper),
        ],
    )


def write_pictures(pictures: Sequence[Picture], page: Path) -> list[str]:
    """Write SVG files into a folder next to a page; return their links, "" for empty pictures.

    A file is named after the figure of the paper, as ``figure-2b.svg``; equal pictures have equal
    bytes. Raises WriteFailed when the disk cannot be written.
    """
    folder = page.with_name(f"{page.stem}_pictures")
    places, named = [], Counter()
    for picture in pictures:
        figure = FIGURE.search(picture.title)
        name = figure[0].replace(" ", "-") if figure else "picture"
        named[name] += 1
        file = folder / f"{name}{f'-{named[name]}' if named[name] > 1 else ''}.svg"
        if picture.svg:
            templates.write(file, "picture", standalone(picture.svg).encode())
        places.append(quote(f"{folder.name}/{file.name}") if picture.svg else "")
    return places
