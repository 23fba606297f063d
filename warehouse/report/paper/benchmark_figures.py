"""The report's pictures of how well each method predicts the labels of units."""

import re
from collections.abc import Sequence
from typing import Any

import altair as alt

from warehouse.report.audit.figures import PAGE_WIDTH
from warehouse.report.paper.declared import Figure, figures_of
from warehouse.report.paper.marks import (
    INTERVALS,
    caption_of,
    display_name,
    drawn_values,
    interval_lines,
    marks,
    paper_svg,
    reference_line,
    side_by_side,
    with_marks,
)
from warehouse.report.paper.reading import Paper, PaperTable
from warehouse.report.svg import INK, MUTED, PAPER, Picture, panels

DECAF = "DECAF"
WRITTEN, MARK = 36, 6
"""Width of a written value and the space before it, and half of the width of a mark, px."""


def benchmark_pictures(paper: Paper) -> list[Picture]:
    """Pictures of the kinds ``methods`` and ``bins`` that can be drawn."""
    makers = {"methods": methods_picture, "bins": bins_picture}
    figures = figures_of(paper, *makers)
    pictures = [makers[figure.kind](paper, figure, table) for figure, table in figures]
    return [picture for picture in pictures if picture is not None]


def methods_picture(paper: Paper, figure: Figure, table: PaperTable) -> Picture | None:
    """A point with its interval for every method, a panel for every value of a column.

    A panel without a defined row is left out; there is no picture if no row is defined.
    """
    rows = [row for row in table.rows if row.estimate is not None and figure.is_drawn(row)]
    values = drawn_values(
        rows,
        panel=lambda row: figure.panels[str(row.keys[figure.panel])],
        method=lambda row: display_name(row.keys[figure.method]),
    )
    if not values:
        return None
    drawn = {value["panel"] for value in values}
    names = [name for name in dict.fromkeys(figure.panels.values()) if name in drawn]
    width = (PAGE_WIDTH - 170) / len(names) - 16
    _place_written(values, width)
    methods = sorted({value["method"] for value in values}, key=lambda name: (name != DECAF, name))
    base = alt.Chart().encode(
        y=alt.Y("method:N", sort=methods, title=None, axis=alt.Axis(ticks=False, domain=False)),
        color=_shade("method:N", methods),
    )
    scale, axis = _scale(figure, values), alt.Axis(tickCount=3)
    points = base.mark_point(filled=True, size=52, opacity=1).encode(
        x=alt.X("value:Q", title=figure.axis, scale=scale, axis=axis)
    )
    # A rim keeps the dashed line out of the digits.
    written = base.mark_text(align="left", dx=8, fontSize=10, stroke=PAPER, strokeWidth=3).encode(
        x="end:Q", text=alt.Text("value:Q", format=figure.digits)
    )
    layers = [interval_lines(base, "x"), marks(base, x="published:Q"), points, written]
    if figure.reference is not None:
        layers.insert(0, reference_line(figure.reference, "x"))
    chart = panels(
        alt.layer(*layers, data=alt.InlineData(values=values)),
        "panel",
        names,
        width=width,
        height=alt.Step(20),
        spacing=16,
    )
    title = caption_of(figure.title, paper, table, figure.figure)
    note = with_marks(INTERVALS if table.has_intervals else "", rows)
    return Picture(title, paper_svg(chart, title, paper, table), note)


def bins_picture(paper: Paper, figure: Figure, table: PaperTable) -> Picture:
    """Compare DECAF and another method in each quantile bin (``part`` of a row is ``bin NN``).

    The paper gives no value of a single bin. If no bin is defined, a line states it.
    """
    title = caption_of(figure.title, paper, table, figure.figure)
    values = drawn_values(
        (row for row in table.rows if figure.is_drawn(row) and row.keys["part"].startswith("bin ")),
        bin=lambda row: int(row.keys["part"].removeprefix("bin ")),
    )
    if not values:
        why = "no bin has all three behaviours, present and absent"
        return Picture(title, "", f"Not drawn: {why}.")
    layers = side_by_side(
        alt.X(
            "bin:O",
            title="quantile bin of Abs, from the smallest",
            axis=alt.Axis(labelAngle=0, ticks=False),
        ),
        alt.XOffset("method:N", sort=[DECAF]),
        _shade("method:N", [value["method"] for value in values], has_legend=True),
        alt.Y(
            "value:Q", title=figure.axis, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)
        ),
        figure.reference,
    )
    chart = alt.layer(*layers, data=alt.InlineData(values=values))
    chart = chart.properties(width=PAGE_WIDTH - 80, height=200)
    note = f"{INTERVALS} Bins without one of the three behaviours are left out."
    return Picture(title, paper_svg(chart, title, paper, table), note)


def _place_written(values: Sequence[dict[str, Any]], width: float) -> None:
    """Add ``end`` to the values: the right end of the point, its interval and the paper's mark.

    The number is written to the right of ``end``. The mark counts only if it would cover the
    digits. ``width`` is that of a panel, px.
    """
    numbers = [number for value in values for number in _numbers_of(value)]
    per_pixel = (max(numbers) - min(numbers)) / width
    for value in values:
        published = value["published"]
        end = max(value["value"], value["value"] if value["high"] is None else value["high"])
        if published is not None:
            is_covered = -MARK * per_pixel < published - end < (WRITTEN + MARK) * per_pixel
            end = max(end, published) if is_covered else end
        value["end"] = end


def _numbers_of(value: dict[str, Any]) -> list[float]:
    """Places of a point, the ends of its interval and the paper's mark, without missing ones."""
    places = (value[name] for name in ("value", "low", "high", "published"))
    return [place for place in places if place is not None]


def _scale(figure: Figure, values: Sequence[dict[str, Any]]) -> alt.Scale:
    """An axis that is never narrower than 20 units of the last digit that is written."""
    numbers = [value["value"] for value in values]
    numbers += [value["published"] for value in values if value["published"] is not None]
    numbers += [figure.reference] if figure.reference is not None else []
    written = re.search(r"\.(\d+)", figure.digits)
    least = 20 * 10.0 ** -int(written[1]) if written else 0.0
    middle = (min(numbers) + max(numbers)) / 2
    if max(numbers) - min(numbers) >= least:
        return alt.Scale(zero=False)
    return alt.Scale(domain=[middle - least / 2, middle + least / 2], zero=False, nice=False)


def _shade(field: str, methods: Sequence[str], *, has_legend: bool = False) -> alt.Color:
    """DECAF is dark, other methods are light."""
    names = list(dict.fromkeys(methods))
    shades = [INK if name.upper() == DECAF else MUTED for name in names]
    legend = alt.Legend(title=None, orient="top", labelColor=INK) if has_legend else None
    return alt.Color(field, legend=legend, scale=alt.Scale(domain=names, range=shades))
