"""The report's pictures of paths, patch orders and thresholds, with the paper's values."""

from collections.abc import Iterable, Sequence

import altair as alt

from warehouse.report.audit.facts import COMPONENTS, Row
from warehouse.report.audit.figures import NAMES, NAMES_SHADE, PAGE_WIDTH, PARTS_SHADE, RESPONSE
from warehouse.report.paper.declared import figures_of
from warehouse.report.paper.marks import (
    END,
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
from warehouse.report.paper.reading import Paper, PaperRow
from warehouse.report.svg import INK, MUTED, PAPER, Picture, panels

SHARE, RATIO = "share of Abs", "ratio to blend"
"""Statistics of the thresholds."""
SCATTER_SIDE = 176
MARK_OFFSET = 22
"""Distance of the paper's value from the middle of a bar, px."""
LEAST_WIDTH = 250
"""Smallest width of a panel, px, that has room for the numbers of its bars."""


def protocol_pictures(paper: Paper) -> list[Picture]:
    """Pictures of the kind ``bars``: one per pair type, a panel per path."""
    pictures = []
    for figure, table in figures_of(paper, "bars"):
        rows = [row for row in table.rows if row.keys["metric"] in NAMES]
        for pair_type in _distinct(row.keys["pair_type"] for row in rows):
            rows_of_type = [row for row in rows if row.keys["pair_type"] == pair_type]
            drawn = [row for row in rows_of_type if row.estimate is not None]
            if drawn:
                chart = metric_bars(rows_of_type, figure.title, figure.reference)
                note = with_marks(INTERVALS, drawn)
                name = f"{display_name(pair_type)}: {figure.title}"
                caption = caption_of(name, paper, table)
                svg = paper_svg(chart, caption, paper, table)
                pictures.append(Picture(caption, svg, note))
    return pictures


def order_pictures(paper: Paper, profiles: Sequence[Row]) -> list[Picture]:
    """Pictures of the kind ``orders``: model means on two paths, a panel per component."""
    compared = [
        (figure, table, *where)
        for figure, table in figures_of(paper, "orders")
        for where in _distinct(
            (row.keys["pair_type"], row.keys["path_a"], row.keys["path_b"]) for row in table.rows
        )
    ]
    pictures = []
    for figure, table, pair_type, path_a, path_b in compared:
        a, b = (
            {row.model_id: row for row in profiles if (row.pair_type, row.path) == where}
            for where in ((pair_type, path_a), (pair_type, path_b))
        )
        values = [
            {"metric": name, "x": getattr(a[model], metric), "y": getattr(b[model], metric)}
            for model in a
            if model in b
            for metric, name in NAMES.items()
        ]
        if values:
            names = display_name(path_a), display_name(path_b)
            title = f"{display_name(pair_type)}: {names[1]} against {names[0]}, {figure.title}"
            caption = caption_of(title, paper, table)
            svg = paper_svg(order_scatter(values, *names), caption, paper, table)
            note = "On the line both orders of the patches give the same mean."
            pictures.append(Picture(caption, svg, note))
    return pictures


def threshold_pictures(paper: Paper) -> list[Picture]:
    """Pictures of the kinds ``shares`` and ``ratios``: at every epsilon; a panel per path."""
    makers = {
        "shares": (threshold_bars, "Means over models; a share is over the mean of Abs."),
        "ratios": (
            threshold_ratios,
            "Evidence, contradiction, fragility and Abs, from left to right; lines are 95 % "
            "intervals of a bootstrap over models.",
        ),
    }
    figures = figures_of(paper, *makers)
    pictures = []
    for pair_type in _distinct(row.keys["pair_type"] for _, table in figures for row in table.rows):
        for figure, table in figures:
            draw, note = makers[figure.kind]
            rows_of_type = [row for row in table.rows if row.keys["pair_type"] == pair_type]
            chart = draw(rows_of_type)
            if chart is not None:
                name = f"{display_name(pair_type)}: {figure.title}"
                caption = caption_of(name, paper, table)
                pictures.append(Picture(caption, paper_svg(chart, caption, paper, table), note))
    return pictures


def metric_bars(rows: Sequence[PaperRow], title: str, reference: float) -> alt.FacetChart:
    """One bar with its interval per component, a panel per patch order.

    The rows are of one pair type; ``title`` is the title of the axis. A dashed line marks
    ``reference``, the value of no change.
    """
    paths = _distinct(display_name(row.keys["path_b"]) for row in rows)
    values = drawn_values(
        rows, path=lambda row: display_name(row.keys["path_b"]), metric=_name_of_metric
    )
    x = alt.X(
        "metric:N", sort=list(NAMES.values()), title=None, axis=alt.Axis(labelAngle=0, ticks=False)
    )
    base = alt.Chart().encode(x=x)
    y = alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=5))
    bars = base.mark_bar(size=26).encode(y=y, color=NAMES_SHADE)
    limits = interval_lines(base, color=INK)
    # Above the interval, with a rim that keeps the dashed line out of the digits.
    written = (
        base.transform_calculate(end=f"max(0, {END})")
        .mark_text(dy=-10, fontSize=10.5, fill=INK, stroke=PAPER, strokeWidth=4)
        .encode(y="end:Q", text=alt.Text("value:Q", format=".2f"))
    )
    line = reference_line(reference)
    layers = (bars, limits, line, marks(base, offset=MARK_OFFSET, y="published:Q"), written)
    chart = alt.layer(*layers, data=alt.InlineData(values=values))
    return panels(chart, "path", paths, width=_panel_width(paths), height=200)


def order_scatter(values: list[dict], path_a: str, path_b: str) -> alt.ConcatChart:
    """Model means on two paths, a panel per component with its own scale, score units."""
    charts = []
    for name in NAMES.values():
        points_of_metric = [
            value for value in values if value["metric"] == name and None not in value.values()
        ]
        top = (
            max((max(value["x"], value["y"]) for value in points_of_metric), default=0.0) * 1.05
            or 1.0
        )
        scale = alt.Scale(domain=[0, top], nice=False)
        axis = alt.Axis(tickCount=3)
        points = (
            alt.Chart(alt.InlineData(values=points_of_metric))
            .mark_point(filled=True, size=34, opacity=0.8)
            .encode(
                x=alt.X("x:Q", title=[path_a, RESPONSE], scale=scale, axis=axis),
                y=alt.Y("y:Q", title=[path_b, RESPONSE], scale=scale, axis=axis),
                color=NAMES_SHADE,  # the whole scale, which panels side by side share
            )
        )
        line = (
            alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": top, "y": top}]))
            .mark_line(color=MUTED, strokeDash=[4, 3], strokeWidth=1)
            .encode(x="x:Q", y="y:Q")
        )
        charts.append(
            alt.layer(line, points).properties(width=SCATTER_SIDE, height=SCATTER_SIDE, title=name)
        )
    return alt.concat(*charts, columns=len(NAMES), spacing=16)


def threshold_bars(rows: Sequence[PaperRow]) -> alt.FacetChart | None:
    """Stacked shares of E, C and F in Abs, a bar per epsilon and a panel per path."""
    active = {
        (row.keys["path"], row.keys["epsilon"]): f"{100 * row.estimate:.0f} % active"
        for row in rows
        if (row.keys["statistic"], row.keys["metric"]) == ("mean", "active_frac")
        and row.estimate is not None
    }
    values = [
        {
            **row.keys,
            "path": display_name(row.keys["path"]),
            "part": row.keys["metric"],
            "place": COMPONENTS.index(row.keys["metric"]),
            "share": row.estimate or 0.0,
            "active": active.get((row.keys["path"], row.keys["epsilon"]), ""),
        }
        for row in rows
        if row.keys["statistic"] == SHARE
    ]
    if not values:
        return None
    paths = _distinct(value["path"] for value in values)
    width = (PAGE_WIDTH - 60) / len(paths) - 24
    y = alt.Y("epsilon:N", title="ε", axis=alt.Axis(ticks=False, domain=False))
    base = alt.Chart().encode(y=y)
    bars = base.mark_bar(height=18).encode(
        x=alt.X(
            "share:Q",
            title="share of Abs",
            stack="zero",
            scale=alt.Scale(domain=[0, 1.45]),
            axis=alt.Axis(values=[0, 0.5, 1], labelExpr="100 * datum.value + ' %'"),
        ),
        color=_with_legend(PARTS_SHADE),
        order=alt.Order("place:Q"),
    )
    written = (
        base.transform_filter("datum.place == 0")
        .mark_text(align="left", dx=4, fontSize=10, color=MUTED)
        .encode(x=alt.datum(1), text="active:N")
    )
    chart = alt.layer(bars, written, data=alt.InlineData(values=values))
    return panels(chart, "path", paths, width=width, height=alt.Step(26))


def threshold_ratios(rows: Sequence[PaperRow]) -> alt.FacetChart | None:
    """Ratios to the blend with their intervals, by epsilon and component; a panel per path."""
    values = drawn_values(
        (row for row in rows if row.keys["statistic"] == RATIO and row.keys["metric"] in NAMES),
        path=lambda row: display_name(row.keys["path"]),
        metric=_name_of_metric,
    )
    if not values:
        return None
    paths = _distinct(value["path"] for value in values)
    layers = side_by_side(
        alt.X("epsilon:O", title="ε", axis=alt.Axis(labelAngle=0, ticks=False)),
        alt.XOffset("metric:N", sort=list(NAMES.values())),
        _with_legend(NAMES_SHADE),
        alt.Y("value:Q", title="ratio to the blend", axis=alt.Axis(tickCount=5)),
        1.0,  # the ratio if the path changes nothing
    )
    chart = alt.layer(*layers, data=alt.InlineData(values=values))
    return panels(chart, "path", paths, width=_panel_width(paths), height=160)


def _with_legend(shade: alt.Color) -> alt.Color:
    """The same colours with a legend above the panels."""
    explained = shade.copy()
    explained.legend = alt.Legend(title=None, orient="top", labelColor=INK, labelFontSize=11)
    return explained


def _name_of_metric(row: PaperRow) -> str:
    return NAMES[row.keys["metric"]]


def _panel_width(paths: Sequence[str]) -> float:
    """Width of a panel by path; with more than three the picture scrolls."""
    return max(LEAST_WIDTH, min(300, (PAGE_WIDTH - 60) / len(paths) - 24))


def _distinct(values: Iterable) -> list:
    return list(dict.fromkeys(values))
