"""The report's pictures of tables of cells: one scale for all panels, with a colour bar."""

from typing import Any

import altair as alt
import numpy as np

from warehouse.report.paper.declared import Figure
from warehouse.report.paper.entry_panels import distinct, in_panels, label
from warehouse.report.paper.marks import display_name, drawn_values
from warehouse.report.paper.reading import Paper, PaperTable
from warehouse.report.svg import INK, MUTED, PAPER

LETTERS = 100
"""Most letters of all column names together; if there are more, names are rotated."""
CELL, CELL_WITH_NOTE = 26, 36
"""Heights of a cell with one line and with two."""
DARKEST = 0.4
"""Opacity of the cell furthest from 0, on which text can be read."""
STEPS = 9
"""Cells of the colour bar."""


def heat_map(figure: Figure, table: PaperTable, _: Paper) -> alt.TopLevelMixin | None:
    """Draw a cell for each row; ``x`` is the column of the cell, ``method`` its row.

    Cells are the darker, the further from 0, on one scale in all panels; cells below 0 have a
    dashed rim. A bar explains it.
    """
    along, title = figure.along
    values = drawn_values(
        filter(figure.is_drawn, table.rows),
        panel=figure.panel_of,
        x=lambda row: display_name(row.keys[along]),
        y=lambda row: label(figure.method.split(","), row),
        below=lambda row: f"{figure.below} {row.keys[figure.below]}" if figure.below else "",
    )
    if not values:
        return None
    numbers = [value["value"] for value in values]
    end = max(map(abs, numbers)) or 1.0
    ticks = {"ticks": False, "domain": False}
    letters = sum(map(len, distinct(value["x"] for value in values)))
    angle = 0 if letters <= LETTERS else -40
    base = alt.Chart().encode(
        x=alt.X("x:N", sort=None, title=title, axis=alt.Axis(labelAngle=angle, **ticks)),
        y=alt.Y("y:N", sort=None, title=None, axis=alt.Axis(labelLimit=260, **ticks)),
    )
    written = base.mark_text(
        fontSize=10, fill=INK, stroke=PAPER, strokeWidth=2, strokeOpacity=0.6
    ).encode(text=alt.Text("value:Q", format=figure.digits))
    layers = [*_shade_layers(base, end), written]
    if figure.below:
        written.mark.dy = -5
        layers.append(base.mark_text(fontSize=8.5, dy=8, fill=INK).encode(text="below:N"))
    chart = alt.layer(*layers, data=alt.InlineData(values=values))
    height = CELL_WITH_NOTE if figure.below else CELL
    cells = in_panels(chart, figure, values, height=alt.Step(height))
    bar = _bar(min(numbers) < 0, end, figure.digits)
    return alt.hconcat(cells, bar, spacing=12).resolve_scale(fillOpacity="shared")


def _shade_layers(base: alt.Chart, end: float) -> list[alt.Chart]:
    """Cells whose opacity is the distance from 0, and a layer of rims around those below 0."""
    scale = alt.Scale(domain=[0, end], range=[0.04, DARKEST])
    shade = alt.FillOpacity("size:Q", legend=None, scale=scale)
    cells = base.transform_calculate(size="abs(datum.value)").mark_rect(fill=INK)
    below = base.transform_filter("datum.value < 0")
    rims = below.mark_rect(fillOpacity=0, stroke=INK, strokeDash=[3, 2])
    return [cells.encode(fillOpacity=shade), rims]


def _bar(is_two_sided: bool, end: float, digits: str) -> alt.LayerChart:
    places = np.linspace(end, -end if is_two_sided else 0.0, STEPS)
    values: list[dict[str, Any]] = [
        {"value": float(place), "name": format(place, digits).replace("-", "−")} for place in places
    ]
    axis = alt.Axis(orient="right", ticks=False, domain=False, labelColor=MUTED)
    base = alt.Chart().encode(y=alt.Y("name:N", sort=None, title=None, axis=axis))
    return alt.layer(*_shade_layers(base, end), data=alt.InlineData(values=values)).properties(
        width=14, height=alt.Step(14)
    )
