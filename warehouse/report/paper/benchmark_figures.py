"""The report's pictures of what each method tells of the labels of units."""

from collections.abc import Callable, Sequence

import altair as alt

from warehouse.report.audit.figures import PAGE_WIDTH
from warehouse.report.paper.declared import Figure, figures_of
from warehouse.report.paper.marks import (
    END,
    captioned,
    interval_lines,
    marks,
    reference_line,
    rows_to_draw,
    with_marks,
)
from warehouse.report.paper.reading import Paper, PaperRow, PaperTable
from warehouse.report.svg import INK, MUTED, Picture, header, svg_element

DECAF = "DECAF"
RESAMPLED = "Lines are 95% intervals that resample models."


def benchmark_pictures(paper: Paper) -> list[Picture]:
    """Pictures of the kinds ``methods`` and ``bins`` that can be drawn."""
    makers = {"methods": methods_picture, "bins": bins_picture}
    found = figures_of(paper, *makers)
    pictures = [makers[figure.kind](paper, figure, table) for figure, table in found]
    return [picture for picture in pictures if picture is not None]


def methods_picture(paper: Paper, figure: Figure, table: PaperTable) -> Picture | None:
    """A point with its interval for every method, a panel for every value of a column."""
    rows = [row for row in rows_to_draw(paper, table) if _is_shown(row, figure)]
    return method_points(
        rows,
        captioned(figure.title, paper, table),
        figure.axis,
        panel_of=lambda row: figure.panels.get(row.of[figure.panel]),
        panels=tuple(figure.panels.values()),
        method_of=lambda row: row.of[figure.method],
        reference=figure.reference,
        digits=figure.digits,
        note=RESAMPLED if table.has_intervals else "",
    )


def bins_picture(paper: Paper, figure: Figure, table: PaperTable) -> Picture:
    """DECAF and another method in every quantile bin, which the part of a row names ``bin NN``.

    The paper gives no value of a single bin. Where no bin is defined a line says so.
    """
    title = captioned(figure.title, paper, table)
    values = [
        {
            "method": row.of["method"],
            "bin": int(row.of["part"].removeprefix("bin ")),
            "value": row.estimate,
            "low": row.lower_95,
            "high": row.upper_95,
        }
        for row in table.rows
        if _is_shown(row, figure) and row.of["part"].startswith("bin ") and row.estimate is not None
    ]
    if not values:
        why = "no bin has all three behaviours, present and absent"
        return Picture(title, "", f"Not drawn: {why}.")
    base = alt.Chart().encode(
        x=alt.X(
            "bin:O",
            title="quantile bin of Abs, from the smallest",
            axis=alt.Axis(labelAngle=0, ticks=False),
        ),
        xOffset=alt.XOffset("method:N", sort=[DECAF]),
        color=_shade("method:N", [value["method"] for value in values]),
    )
    points = base.mark_point(filled=True, size=46, opacity=1).encode(
        y=alt.Y(
            "value:Q",
            title=figure.axis,
            scale=alt.Scale(zero=False),
            axis=alt.Axis(tickCount=5),
        )
    )
    limits = interval_lines(base)
    line = reference_line(figure.reference)
    chart = alt.layer(line, limits, points, data=alt.InlineData(values=values)).properties(
        width=PAGE_WIDTH - 80, height=200
    )
    note = f"{RESAMPLED} Bins without one of the three behaviours are left out."
    return Picture(title, svg_element(chart, title), note)


def _is_shown(row: PaperRow, figure: Figure) -> bool:
    return all(row.of[column] == value for column, value in figure.rows.items())


def method_points(
    rows: Sequence[PaperRow],
    title: str,
    axis: str,
    *,
    panel_of: Callable[[PaperRow], str | None],
    panels: Sequence[str],
    method_of: Callable[[PaperRow], str],
    reference: float | None,
    digits: str,
    note: str,
) -> Picture | None:
    """One point with its interval per method, a panel per quantity; none if nothing is defined.

    Parameters
    ----------
    rows
        Those of other panels are left out.
    title, axis
        Of the picture, and of its axis.
    panels
        Names of the panels in their order; one without a defined row is left out.
    reference
        Value with a dashed line.
    """
    drawn = [row for row in rows if panel_of(row) in panels and row.estimate is not None]
    values = [
        {
            "panel": panel_of(row),
            "method": method_of(row),
            "value": row.estimate,
            "low": row.lower_95,
            "high": row.upper_95,
            "published": row.published,
        }
        for row in drawn
    ]
    if not values:
        return None
    shown = [name for name in panels if any(value["panel"] == name for value in values)]
    methods = sorted({value["method"] for value in values}, key=lambda name: (name != DECAF, name))
    base = alt.Chart().encode(
        y=alt.Y("method:N", sort=methods, title=None, axis=alt.Axis(ticks=False, domain=False)),
        color=_shade("method:N", methods),
    )
    points = base.mark_point(filled=True, size=52, opacity=1).encode(
        x=alt.X("value:Q", title=axis, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=3))
    )
    limits = interval_lines(base, "x")
    written = (
        base.transform_calculate(end=END)
        .mark_text(align="left", dx=8, fontSize=10)
        .encode(x="end:Q", text=alt.Text("value:Q", format=digits))
    )
    layers = [limits, marks(base, x="published:Q"), points, written]
    if reference is not None:
        layers.append(reference_line(reference, "x"))
    chart = (
        alt.layer(*layers, data=alt.InlineData(values=values))
        .properties(width=(PAGE_WIDTH - 170) / len(shown) - 16, height=alt.Step(20))
        .facet(column=alt.Column("panel:N", sort=shown, title=None, header=header()))
        .properties(spacing=16)
    )
    return Picture(title, svg_element(chart, title), with_marks(note, drawn))


def _shade(field: str, methods: Sequence[str]) -> alt.Color:
    """DECAF is dark, what it is compared with light."""
    names = list(dict.fromkeys(methods))
    shades = [INK if name.upper() == DECAF else MUTED for name in names]
    return alt.Color(field, legend=None, scale=alt.Scale(domain=names, range=shades))
