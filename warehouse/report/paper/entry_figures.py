"""The report's pictures of many entries at once: points, cells, and bars of stacked parts."""

import altair as alt

from warehouse.report.audit.facts import COMPONENTS
from warehouse.report.paper.declared import Figure, figures_of
from warehouse.report.paper.entry_panels import distinct, in_panels, label
from warehouse.report.paper.heat_figures import heat_map
from warehouse.report.paper.marks import (
    MARK,
    caption_of,
    drawn_values,
    marks,
    paper_svg,
    with_marks,
)
from warehouse.report.paper.reading import Paper, PaperRow, PaperTable
from warehouse.report.paper.scatter_figures import scatter
from warehouse.report.svg import INK, Picture, colour_scale

WHOLE = "abs_response"
"""Part with the paper's value of a whole bar; its mark shows where the bar should end."""
SHARE = "_share"
"""Ending of the names of statistics that are shares of a component."""
BAR = 9
"""Height of a bar among others of its row."""


def entry_pictures(paper: Paper) -> list[Picture]:
    """Pictures of the kinds ``scatter``, ``heat_map`` and ``stacked`` with anything to draw."""
    makers = {"scatter": scatter, "heat_map": heat_map, "stacked": _stacked_bars}
    drawn = [
        (figure, table, makers[figure.kind](figure, table, paper))
        for figure, table in figures_of(paper, *makers)
    ]
    pictures = []
    for figure, table, chart in drawn:
        if chart is not None:
            caption = caption_of(figure.title, paper, table, figure.figure)
            svg = paper_svg(chart, caption, paper, table)
            pictures.append(Picture(caption, svg, _note(figure, table, svg)))
    return pictures


def _note(figure: Figure, table: PaperTable, svg: str) -> str:
    if figure.kind == "heat_map":
        return (
            "The darker, the further from 0, alike in all panels; cells below 0 have a dashed rim."
        )
    sentences = []
    if "ρ" in svg:
        sentences.append("ρ is the rank correlation of the points.")
    if "ρ" in svg and " [" in svg:
        sentences.append("Brackets are its 95 % interval.")
    if figure.hollow:
        sentences.append("Hollow marks miss the gates of the comparison.")
    return with_marks(" ".join(sentences), table.rows if MARK in svg else ())


def _stacked_bars(figure: Figure, table: PaperTable, _: Paper) -> alt.TopLevelMixin | None:
    """E, C and F of every entry as one bar; the column ``x`` names the component of a row.

    The first column of ``method``, or several that ``+`` joins, names the rows of the picture; the
    other columns name the bars of a row. The paper's value of Abs is marked.
    """
    along = figure.along[0]
    first, *bar_columns = figure.method.split(",")

    def part(row: PaperRow) -> str:
        return str(row.keys[along]).removesuffix(SHARE)

    values = drawn_values(
        (row for row in table.rows if figure.is_drawn(row) and part(row) in (*COMPONENTS, WHOLE)),
        panel=figure.panel_of,
        part=part,
        place=lambda row: (*COMPONENTS, WHOLE).index(part(row)),
        y=lambda row: label(first.split("+"), row),
        bar=lambda row: label(bar_columns, row),
    )
    if not values:
        return None
    bars = distinct(value["bar"] for value in values)
    shade = colour_scale("part:N", {name: name for name in COMPONENTS})
    shade.legend = alt.Legend(title=None, orient="top", labelColor=INK, labelFontSize=11)
    axis = alt.Axis(ticks=False, domain=False, labelLimit=200)
    base = alt.Chart().encode(
        y=alt.Y("y:N", sort=None, title=None, axis=axis), yOffset=alt.YOffset("bar:N", sort=bars)
    )
    x = alt.X(
        "value:Q",
        stack="zero",
        title=figure.axis,
        scale=alt.Scale(nice=False),
        axis=alt.Axis(tickCount=4),
    )
    layers = [
        base.transform_filter(f"datum.part != '{WHOLE}'")
        .mark_bar()
        .encode(x=x, color=shade, order=alt.Order("place:Q"))
    ]
    if any(value["part"] == WHOLE and value["published"] is not None for value in values):
        layers.append(marks(base.transform_filter(f"datum.part == '{WHOLE}'"), x="published:Q"))
    chart = alt.layer(*layers, data=alt.InlineData(values=values))
    rows = len(distinct(value["y"] for value in values))
    return in_panels(chart, figure, values, height=rows * (BAR * max(len(bars), 2) + 8))
