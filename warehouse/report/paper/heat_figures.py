"""The report's pictures of tables of cells: one scale for all panels, with a colour bar."""

from typing import Any

import altair as alt
import numpy as np

from warehouse.report.paper.declared import Figure
from warehouse.report.paper.entry_panels import distinct, in_panels, label
from warehouse.report.paper.marks import display_name, drawn_values
from warehouse.report.paper.reading import Paper, PaperTable
from warehouse.report.svg import INK, MUTED, PAPER, colour

LETTERS = 100
"""Most letters of all column names together; if there are more, names are rotated."""
CELL, CELL_WITH_NOTE = 26, 36
"""Heights of a cell with one line and with two."""
STEPS = 9
"""Cells of the colour bar."""


def heat_map(figure: Figure, table: PaperTable, _: Paper) -> alt.TopLevelMixin | None:
    """Draw a cell for each row; ``x`` is the column of the cell, ``method`` its row.

    Cells at or above 0 are teal, cells below 0 red, on one scale in all panels; a bar explains it.
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
    return alt.hconcat(cells, bar, spacing=12).resolve_scale(opacity="shared")


def _shade_layers(base: alt.Chart, end: float) -> list[alt.Chart]:
    """Cells whose opacity is the distance from 0: one layer from 0 upwards, one below."""
    shade = alt.Opacity("size:Q", legend=None, scale=alt.Scale(domain=[0, end], range=[0.05, 0.75]))
    sized = base.transform_calculate(size="abs(datum.value)")
    return [
        sized.transform_filter(condition).mark_rect(fill=colour(metric)).encode(opacity=shade)
        for condition, metric in (
            ("datum.value >= 0", "evidence"),
            ("datum.value < 0", "contradiction"),
        )
    ]


def _bar(is_two_sided: bool, end: float, digits: str) -> alt.LayerChart:
    places = np.linspace(end, -end if is_two_sided else 0.0, STEPS)
    values: list[dict[str, Any]] = [
        {"value": float(place), "name": format(place, digits)} for place in places
    ]
    axis = alt.Axis(orient="right", ticks=False, domain=False, labelColor=MUTED)
    base = alt.Chart().encode(y=alt.Y("name:N", sort=None, title=None, axis=axis))
    return alt.layer(*_shade_layers(base, end), data=alt.InlineData(values=values)).properties(
        width=14, height=alt.Step(14)
    )
