"""The report's pictures of many entries at once: points, cells, and bars of stacked parts."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import Any

import altair as alt
import numpy as np

from decaf.library.plots import COLOURS
from decaf.statistics.ranks import spearman_rows
from warehouse.report.audit.facts import COMPONENTS
from warehouse.report.audit.figures import PAGE_WIDTH
from warehouse.report.paper.declared import Figure, figures_of
from warehouse.report.paper.marks import captioned, drawn_values, told_apart
from warehouse.report.paper.reading import Paper, PaperRow, PaperTable
from warehouse.report.paper.tables import heading
from warehouse.report.svg import INK, PAPER, Picture, colour, colour_scale, panels, svg_element

SCATTER_SIDE = 300
SHARE = "_share"
"""What a statistic of a component ends in where it is a share."""
SHAPES = ("circle", "triangle-up", "square", "cross", "diamond", "triangle-down")
KINDS = ("colour", "shape")
"""What tells the kind of a point."""
WIDE = 50
"""From here on, the largest place along over the smallest asks for a scale of powers."""
LETTERS = 100
"""Names along of more letters have no room side by side."""
BAR, CELL = 9, 26
"""Heights of a bar among others of its row, and of a cell."""


def entry_pictures(paper: Paper) -> list[Picture]:
    """Pictures of the kinds ``scatter``, ``heat_map`` and ``stacked`` with anything to draw."""
    makers = {"scatter": _scatter, "heat_map": _heat_map, "stacked": _stacked}
    drawn = [
        (figure, table, makers[figure.kind](figure, table))
        for figure, table in figures_of(paper, *makers)
    ]
    notes = {
        "scatter": "ρ is the rank correlation of the points.",
        "heat_map": "The darker, the larger, in every panel by itself.",
        "stacked": "",
    }
    pictures = []
    for figure, table, chart in drawn:
        if chart is not None:
            caption = captioned(figure.title, paper, table, figure.figure)
            pictures.append(Picture(caption, svg_element(chart, caption), notes[figure.kind]))
    return pictures


def _scatter(figure: Figure, table: PaperTable) -> alt.TopLevelMixin | None:
    """A point for every line of a table with statistics side by side.

    The statistic of a panel goes up, that of ``x`` along. The first column of ``method`` gives the
    colour, the second one the shape; where there are too many of either, all of them give both.
    Where every point has a name of its own, and there are more than colours, it is written beside.
    """
    along, title = _named(figure.x)
    charts = []
    for statistic, name in figure.panels.items():
        lines = [
            (line[along].estimate, line[statistic])
            for line in table.lines.values()
            if along in line and statistic in line and figure.is_drawn(line[statistic])
        ]
        values = [
            {"x": x, "y": row.estimate, **_kinds(figure, row)}
            for x, row in lines
            if x is not None and row.estimate is not None
        ]
        if values:
            charts.append(_points(values, title, [name, figure.axis]))
    return alt.hconcat(*charts, spacing=30) if charts else None


def _points(values: list[dict[str, Any]], x_title: str, y_title: list[str]) -> alt.LayerChart:
    """Points with their rank correlation, where neither side is constant."""
    lowest, highest = (end(value["x"] for value in values) for end in (min, max))
    scale, axis = alt.Scale(zero=False), alt.Axis(tickCount=5)
    if 0 < lowest * WIDE <= highest:
        powers = range(floor(log10(lowest)), ceil(log10(highest)) + 1)
        scale, axis = alt.Scale(type="log"), alt.Axis(values=[10.0**power for power in powers])
    x = alt.X("x:Q", title=x_title, scale=scale, axis=axis)
    y = alt.Y("y:Q", title=y_title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    names = _distinct(value["colour"] for value in values)
    is_written = len(names) == len(values) > len(COLOURS)
    (rho,) = spearman_rows([[value["x"] for value in values]], [[value["y"] for value in values]])
    base = alt.Chart(alt.InlineData(values=values)).encode(x=x, y=y)
    points = base.mark_point(filled=True, size=42, opacity=0.8, color=INK)
    names_beside = base.mark_text(align="left", dx=7, fontSize=10, fill=INK)
    layers = [points.encode(**({} if is_written else _looks(values)))]
    layers += [names_beside.encode(text="colour:N")] if is_written else []
    return alt.layer(*layers).properties(
        width=SCATTER_SIDE,
        height=SCATTER_SIDE,
        title="" if np.isnan(rho) else f"ρ = {rho:.3f}, {len(values):,} points",
    )


def _heat_map(figure: Figure, table: PaperTable) -> alt.TopLevelMixin | None:
    """A cell for every row, at ``x`` along and the columns of ``method`` down."""
    along, title = _named(figure.x)
    values = drawn_values(
        filter(figure.is_drawn, table.rows),
        panel=lambda row: _panel(figure, row),
        x=lambda row: str(row.of[along]),
        y=lambda row: _label(figure.method.split(","), row),
    )
    if not values:
        return None
    ticks = {"ticks": False, "domain": False}
    letters = sum(map(len, _distinct(value["x"] for value in values)))
    angle = 0 if letters <= LETTERS else -40
    base = alt.Chart().encode(
        x=alt.X("x:N", sort=None, title=title, axis=alt.Axis(labelAngle=angle, **ticks)),
        y=alt.Y("y:N", sort=None, title=None, axis=alt.Axis(labelLimit=260, **ticks)),
    )
    shade = alt.Opacity("value:Q", legend=None, scale=alt.Scale(range=[0.05, 0.75], zero=False))
    cells = base.mark_rect(fill=colour("evidence")).encode(opacity=shade)
    written = base.mark_text(
        fontSize=10, fill=INK, stroke=PAPER, strokeWidth=2, strokeOpacity=0.6
    ).encode(text=alt.Text("value:Q", format=figure.digits))
    chart = alt.layer(cells, written, data=alt.InlineData(values=values))
    faceted = _in_panels(chart, figure, values, height=alt.Step(CELL))
    return faceted.resolve_scale(opacity="independent")


def _stacked(figure: Figure, table: PaperTable) -> alt.TopLevelMixin | None:
    """E, C and F of every entry as one bar; ``x`` is the column that says which a row is of.

    The first column of ``method`` names the rows of the picture, the others the bars of a row.
    """
    along, _ = _named(figure.x)
    first, *others = figure.method.split(",")

    def part(row: PaperRow) -> str:
        return str(row.of[along]).removesuffix(SHARE)

    values = drawn_values(
        (row for row in table.rows if figure.is_drawn(row) and part(row) in COMPONENTS),
        panel=lambda row: _panel(figure, row),
        part=part,
        place=lambda row: COMPONENTS.index(part(row)),
        y=lambda row: str(row.of[first]),
        bar=lambda row: _label(others, row),
    )
    if not values:
        return None
    bars = _distinct(value["bar"] for value in values)
    shade = colour_scale("part:N", {name: name for name in COMPONENTS})
    shade.legend = alt.Legend(title=None, orient="top", labelColor=INK, labelFontSize=11)
    axis = alt.Axis(ticks=False, domain=False, labelLimit=200)
    chart = alt.layer(
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(
                "value:Q",
                stack="zero",
                title=figure.axis,
                scale=alt.Scale(nice=False),
                axis=alt.Axis(tickCount=4),
            ),
            y=alt.Y("y:N", sort=None, title=None, axis=axis),
            yOffset=alt.YOffset("bar:N", sort=bars),
            color=shade,
            order=alt.Order("place:Q"),
        ),
        data=alt.InlineData(values=values),
    )
    rows = len(_distinct(value["y"] for value in values))
    return _in_panels(chart, figure, values, height=rows * (BAR * max(len(bars), 2) + 8))


def _in_panels(
    chart: alt.LayerChart, figure: Figure, values: list[dict[str, Any]], height: float | alt.Step
) -> alt.TopLevelMixin:
    """Side by side, those that have anything to draw."""
    drawn = {value["panel"] for value in values}
    names = [name for name in figure.panels.values() if name in drawn] or [""]
    width = (PAGE_WIDTH - 220) / len(names) - 24
    return panels(chart, "panel", names, width=width, height=height)


def _panel(figure: Figure, row: PaperRow) -> str:
    return figure.panels[str(row.of[figure.panel])] if figure.panel else ""


def _kinds(figure: Figure, row: PaperRow) -> dict[str, str]:
    """Colour and shape of a point, as far as there are columns for them."""
    columns = zip(KINDS, figure.method.split(","), strict=False)
    return {name: str(row.of[column]) for name, column in columns}


def _looks(values: list[dict[str, Any]]) -> dict[str, alt.Color | alt.Shape]:
    """Colour and shape, from which every kind of point is told."""
    names = {key: _distinct(value[key] for value in values) for key in KINDS if key in values[0]}
    colours, shapes = names["colour"], names.get("shape", [])
    if len(colours) > len(COLOURS) or len(shapes) > len(SHAPES):
        for value in values:
            value["kind"] = " ".join(value[key] for key in names)
        kinds = _distinct(value["kind"] for value in values)
        shades, marks = told_apart(kinds, SHAPES)
        return {
            "color": _look(alt.Color, "kind", kinds, shades),
            "shape": _look(alt.Shape, "kind", kinds, marks),
        }
    looks = {"color": _look(alt.Color, "colour", colours, told_apart(colours, SHAPES)[0])}
    return looks | ({"shape": _look(alt.Shape, "shape", shapes, SHAPES)} if shapes else {})


def _look(
    channel: type[alt.Color | alt.Shape], field: str, names: list[str], look: Sequence[str]
) -> alt.Color | alt.Shape:
    legend = alt.Legend(title=None, orient="top", labelColor=INK, labelFontSize=11)
    return channel(f"{field}:N", legend=legend, scale=alt.Scale(domain=names, range=look))


def _label(columns: Iterable[str], row: PaperRow) -> str:
    return " ".join(str(row.of[column]) for column in columns)


def _named(cell: str) -> tuple[str, str]:
    """Column and title of a cell such as ``epoch=Epoch``."""
    name, _, title = cell.partition("=")
    return name, title or heading(name)


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
