"""The report's pictures of curves: estimates along a column of numbers."""

import json
from typing import Any

import altair as alt

from decaf.library.palette import COLOURS
from warehouse.report.audit.figures import PAGE_WIDTH
from warehouse.report.paper.declared import Figure, figures_of
from warehouse.report.paper.marks import (
    assign_styles,
    caption_of,
    display_name,
    drawn_values,
    marks,
    paper_svg,
    shades_in_order,
    with_marks,
)
from warehouse.report.paper.reading import STATISTIC, Paper, PaperTable
from warehouse.report.paper.tables import heading, title
from warehouse.report.svg import INK, MUTED, Picture, panels

RESAMPLED = "Bands are 95 % intervals of a bootstrap over models."
HEIGHT = 200
DASHES = ([1, 0], [6, 3], [2, 2], [10, 3, 2, 3], [14, 4], [10, 3, 2, 3, 2, 3])


def curve_pictures(paper: Paper) -> list[Picture]:
    """Pictures of the kind ``lines`` that have anything to draw."""
    drawn = (_lines(paper, figure, table) for figure, table in figures_of(paper, "lines"))
    return [picture for picture in drawn if picture is not None]


def _lines(paper: Paper, figure: Figure, table: PaperTable) -> Picture | None:
    """One line for all rows that differ only in ``x``; lines of one ``method`` look the same.

    A thin dashed line goes from the origin with the slope ``reference``.
    """
    along, x_title = figure.along
    rows = [row for row in table.rows if figure.is_drawn(row)]
    values = drawn_values(
        rows,
        panel=figure.panel_of,
        method=lambda row: str(row.keys[figure.method]),
        x=lambda row: row.keys[along],
        line=lambda row: " ".join(str(value) for name, value in row.keys.items() if name != along),
    )
    if not values:
        return None
    x = alt.X("x:Q", title=x_title, axis=alt.Axis(tickCount=5))
    shade, dash = _style(paper, figure, values)
    base = alt.Chart().encode(x=x, color=shade, detail="line:N")
    band = (
        base.transform_filter("isValid(datum.low)")
        .mark_area(opacity=0.18)
        .encode(y="low:Q", y2="high:Q")
    )
    y = alt.Y("value:Q", title=figure.axis, axis=alt.Axis(tickCount=5))
    layers = [
        band,
        base.mark_line(strokeWidth=1.8).encode(y=y, strokeDash=dash),
        marks(base, y="published:Q"),
    ]
    if figure.reference is not None:
        layers.append(_slope(figure.reference, max(value["x"] for value in values)))
    chart = alt.layer(*layers, data=alt.InlineData(values=values))
    names = [name for name in figure.panels.values() if any(v["panel"] == name for v in values)]
    width = (PAGE_WIDTH - 80) / max(len(names), 2) - 40
    if names:
        chart = panels(chart, "panel", names, width=width, height=HEIGHT)
    else:
        chart = chart.properties(width=width, height=HEIGHT)
    caption = caption_of(figure.title, paper, table, figure.figure)
    note = with_marks(RESAMPLED if table.has_intervals else "", rows)
    return Picture(caption, paper_svg(chart, caption, paper, table), note)


def _style(
    paper: Paper, figure: Figure, values: list[dict[str, Any]]
) -> tuple[alt.Color, alt.StrokeDash]:
    """Shades and dashes of the methods, with one legend that names them as the tables do."""
    methods = list(dict.fromkeys(value["method"] for value in values))
    if set(methods) <= COLOURS.keys():
        methods.sort(key=list(COLOURS).index)
    is_statistic = figure.method == STATISTIC
    named = {
        name: title(paper, name)
        if is_statistic
        else f"{heading(figure.method)} {display_name(name)}"
        for name in methods
    }
    legend = alt.Legend(
        title=None,
        orient="top",
        symbolType="stroke",
        symbolOpacity=1,
        labelColor=INK,
        labelFontSize=11,
        labelExpr=f"{json.dumps(named)}[datum.label]",
    )
    styles = assign_styles(methods, DASHES)
    if all(name.isdecimal() for name in methods):
        styles = shades_in_order(len(methods)), [DASHES[0]] * len(methods)
    shades, dashes = (alt.Scale(domain=methods, range=r) for r in styles)
    return (
        alt.Color("method:N", scale=shades, legend=legend),
        alt.StrokeDash("method:N", scale=dashes, legend=legend),
    )


def _slope(slope: float, end: float) -> alt.Chart:
    """Make the dashed line from the origin to the last ``x``, once in every panel."""
    return (
        alt.Chart()
        .transform_aggregate(rows="count()")
        .mark_rule(color=MUTED, strokeDash=[4, 3], strokeWidth=1)
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(end), y2=alt.datum(slope * end))
    )
