"""Charts of a report by name, as files for papers and slides."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import numpy as np
import vl_convert

from decaf.errors import BadInput, UnknownName
from decaf.library.plots import trajectory_chart
from warehouse.query.formats import write_file
from warehouse.report.audit import figures
from warehouse.report.audit.dots import dots_picture
from warehouse.report.audit.facts import COMPONENTS, Facts, read_facts
from warehouse.report.audit.looks import look_pictures
from warehouse.report.audit.verdict_bars import verdict_pictures
from warehouse.report.pair_card import response_of
from warehouse.report.paper.marks import FIGURE
from warehouse.report.paper.pictures import paper_pictures
from warehouse.report.paper.reading import NO_PAPER, read_paper
from warehouse.report.registry import history_pictures
from warehouse.report.svg import INK, Picture, colour, standalone, svg_element

SVG = "http://www.w3.org/2000/svg"
LEGEND_MARGIN, LEGEND_STEP, LEGEND_HEIGHT = 12, 110, 26
"""Sizes of a legend, CSS pixels."""
LETTER_WIDTH = 6
"""Width of a letter of a legend, CSS pixels."""
MARKS = "diamond: M; line: 95 % interval of Abs; dashes: limit of the study"
"""Legend of the marks on the verdict's bars."""
PNG_SCALE = 2
"""Pixels of a PNG file for each CSS pixel."""
WRITERS = {
    ".svg": lambda svg: svg.encode(),
    ".png": lambda svg: vl_convert.svg_to_png(svg, scale=PNG_SCALE),
    ".pdf": vl_convert.svg_to_pdf,
}
"""Functions that convert an SVG text to the bytes of a file, by ending."""


def read_charts(
    connection: duckdb.DuckDBPyConnection,
    study: str,
    *,
    has_paper: bool = False,
    stage_path: str | None = None,
) -> dict[str, Picture]:
    """Draw all charts of a study's report, by name; the names depend on its contents.

    ``has_paper`` adds pictures of the paper's tables. ``stage_path`` is the reveal path of the
    charts of stages, by default the first. Raises UnknownName when the warehouse has no run of the
    study, or the run has no such path.
    """
    facts = read_facts(connection, study, ("breakdowns",))
    paper = read_paper(connection, study) if has_paper else NO_PAPER
    of_paper = paper_pictures(paper, facts.profiles)
    facts = facts.for_people()
    path_names = {row.name: row.display_name for row in facts.names if row.kind == "path"}
    if stage_path is not None and stage_path not in path_names:
        raise UnknownName.among("path", stage_path, path_names)
    whole = {
        "verdict": verdict_pictures(facts),
        "dots": [picture for picture in [dots_picture(facts)] if picture.svg],
        "stops": look_pictures(facts),
    }
    by_type = {
        "models": figures.bar_pictures(facts),
        "paths": figures.slope_pictures(facts),
        "stages": figures.stage_pictures(facts, path_names.get(stage_path)),
        "versions": history_pictures(facts),
    }
    named = [(name, picture) for name, pictures in whole.items() for picture in pictures]
    named += [
        (f"{name}-{_slug(picture.title.partition(':')[0])}", picture)
        for name, pictures in by_type.items()
        for picture in pictures
    ]
    named = [
        (name, with_legend(picture, MARKS if name == "verdict" else "")) for name, picture in named
    ]
    for picture in (*of_paper.explained, *map(with_legend, of_paper.coloured)):
        figure = FIGURE.search(picture.title)
        named.append((_slug(figure[0]) if figure else "paper", picture))
    named += [
        (f"pair-{_slug(picture.title.partition(':')[0])}", picture)
        for picture in pair_pictures(facts)
    ]
    return _with_distinct_names(named)


def with_legend(picture: Picture, marks: str = "") -> Picture:
    """Add the names of the colours, and words on other marks, below a picture.

    A page has one legend for all pictures.
    """
    metrics = [metric for metric in figures.NAMES if f"var(--{metric}," in picture.svg]
    if not metrics:
        return picture
    root = ElementTree.fromstring(picture.svg)
    width, height = (float(root.get(side, "0")) for side in ("width", "height"))
    y = height + LEGEND_HEIGHT / 2
    for place, metric in enumerate(metrics):
        x = str(LEGEND_MARGIN + place * LEGEND_STEP)
        chip = {"x": x, "y": str(y - 10), "width": "10", "height": "10", "fill": colour(metric)}
        ElementTree.SubElement(root, f"{{{SVG}}}rect", chip)
        words = {"x": str(float(x) + 15), "y": str(y), "font-size": "11", "fill": INK}
        ElementTree.SubElement(root, f"{{{SVG}}}text", words).text = figures.NAMES[metric]
    legend_width = LEGEND_MARGIN + len(metrics) * LEGEND_STEP
    if marks:
        words = {"x": f"{legend_width}", "y": str(y), "font-size": "11", "fill": INK}
        ElementTree.SubElement(root, f"{{{SVG}}}text", words).text = marks
        legend_width += LETTER_WIDTH * len(marks)
    width = max(width, legend_width)
    root.set("width", f"{width:g}")
    root.set("height", f"{height + LEGEND_HEIGHT:g}")
    root.set("viewBox", f"0 0 {width:g} {height + LEGEND_HEIGHT:g}")
    return picture._replace(svg=ElementTree.tostring(root, encoding="unicode"))


def pair_pictures(facts: Facts) -> list[Picture]:
    """Draw the response of the strongest pair of each component, by pair type."""
    pictures = []
    for pair_type in facts.profiled_types:
        for component in COMPONENTS:
            rows = [
                row
                for row in facts.shown_pairs
                if (row.pair_type, row.component) == (pair_type, component)
            ]
            if rows:
                row = max(rows, key=lambda each: each.value)
                response = response_of(row.q_plus, row.q_minus)[np.newaxis]
                chart = trajectory_chart(row.pair_id, np.array(row.t), response, facts.run.epsilon)
                title = f"{component}, {pair_type}: {row.pair_id} in {row.model_id} on {row.path}"
                pictures.append(Picture(title, svg_element(chart, title)))
    return pictures


def write_chart(charts: dict[str, Picture], name: str, target: Path) -> Picture:
    """Write one chart as SVG, PNG or PDF, by the ending of the file's name; return the chart.

    The file is written whole or not at all. Raises UnknownName for an unknown chart; BadInput for
    another ending, for a chart that is not drawn, and for a target that cannot be a file;
    WriteFailed when the disk cannot be written.
    """
    write = WRITERS.get(target.suffix.lower())
    if write is None:
        raise BadInput(f"{target}: expected a name that ends in {', '.join(WRITERS)}")
    if name not in charts:
        raise UnknownName.among("chart", name, charts)
    if not charts[name].svg:
        raise BadInput(f"chart {name} is not drawn: {charts[name].note}")
    content = write(standalone(charts[name].svg))
    write_file(target, lambda sink: sink.write(content))
    return charts[name]


def _slug(text: str) -> str:
    """Write a text as a part of a name.

    >>> _slug("Wall colour, fading in"), _slug("figure 2b")
    ('wall-colour-fading-in', 'figure-2b')
    """
    return re.sub(r"\W+", "-", text.casefold()).strip("-")


def _with_distinct_names(named: Iterable[tuple[str, Picture]]) -> dict[str, Picture]:
    """Pictures by name; if two names are equal, the second ends in ``-2``."""
    counts: Counter[str] = Counter()
    charts = {}
    for name, picture in named:
        counts[name] += 1
        charts[f"{name}-{counts[name]}" if counts[name] > 1 else name] = picture
    return charts
