"""The report's pictures of entries as points, with their rank correlation."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import Any

import altair as alt
import numpy as np

from decaf.library.palette import COLOURS
from decaf.statistics.ranks import spearman_rows
from warehouse.report.paper.declared import Figure
from warehouse.report.paper.entry_panels import distinct
from warehouse.report.paper.marks import display_name, told_apart
from warehouse.report.paper.reading import Paper, PaperRow, PaperTable
from warehouse.report.svg import INK, PAPER

SCATTER_SIDE = 300
SHAPES = ("circle", "triangle-up", "square", "cross", "diamond", "triangle-down")
KINDS = ("colour", "shape")
"""What tells the kind of a point."""
WIDE = 50
"""From here on, the largest place along over the smallest asks for a scale of powers."""
LETTER, LINE = 5.6, 12.0
"""Width of a letter of a name and height of its line, px."""
PLACES = {"right": (7, 0), "left": (-7, 0), "above": (0, -10), "below": (0, 11)}
"""Offsets of a name from its point, px, in the order in which they are tried."""
ALIGNED = {"right": "left", "left": "right", "above": "center", "below": "center"}


def scatter(figure: Figure, table: PaperTable, paper: Paper) -> alt.TopLevelMixin | None:
    """A point for every line of a table with statistics side by side.

    The statistic of a panel goes up, that of ``x`` along. The first column of ``method`` gives the
    colour, the second one the shape; where there are too many of either, all of them give both.
    Where every point has a name of its own, and there are more than colours, the name is written
    next to the point.
    """
    along, title = figure.along
    charts = []
    for statistic, name in figure.panels.items():
        lines = [
            (line[along].estimate, line[statistic])
            for line in table.lines.values()
            if along in line and statistic in line and figure.is_drawn(line[statistic])
        ]
        values = [
            {
                "x": x,
                "y": row.estimate,
                "is_hollow": bool(figure.hollow) and not row.of[figure.hollow],
                **_kinds(figure, row),
            }
            for x, row in lines
            if x is not None and row.estimate is not None
        ]
        if values:
            correlations = _correlations(figure, statistic, paper) or _correlation(values)
            charts.append(_points(values, title, [name, figure.axis], correlations))
    return alt.hconcat(*charts, spacing=30) if charts else None


def _correlations(figure: Figure, statistic: str, paper: Paper) -> list[str]:
    """Rank correlations that a view has of a panel, with their intervals."""
    view, *conditions = figure.rho.split("|")
    values_by_column = dict(condition.split("=") for condition in conditions)
    rows = [
        row
        for row in paper.table(view)
        if row.estimate is not None
        and all(
            row.of[column] == value.replace("*", statistic)
            for column, value in values_by_column.items()
        )
    ]
    return [
        f"ρ = {row.estimate:.3f}{_limits(row)}{_models(row) if len(rows) > 1 else ''}"
        for row in rows
    ]


def _limits(row: PaperRow) -> str:
    if row.lower_95 is None or row.upper_95 is None:
        return ""
    return f" [{row.lower_95:.3f}, {row.upper_95:.3f}]"


def _models(row: PaperRow) -> str:
    return f", {row.of['models']}"


def _correlation(values: Sequence[dict[str, Any]]) -> list[str]:
    """Rank correlation of the points, where neither side is constant."""
    (rho,) = spearman_rows([[value["x"] for value in values]], [[value["y"] for value in values]])
    return [] if np.isnan(rho) else [f"ρ = {rho:.3f}, {len(values):,} points"]


def _points(
    values: list[dict[str, Any]], x_title: str, y_title: list[str], correlations: list[str]
) -> alt.LayerChart:
    """Points with a title; their names stand where they cover nothing."""
    x_scale, x_axis = _scale([value["x"] for value in values])
    y_scale, y_axis = _scale([value["y"] for value in values], can_be_powers=False)
    names = distinct(value["colour"] for value in values)
    is_written = len(names) == len(values) > len(COLOURS)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("x:Q", title=x_title, scale=x_scale, axis=x_axis),
        y=alt.Y("y:Q", title=y_title, scale=y_scale, axis=y_axis),
    )
    looks = {} if is_written else _looks(values)
    full, hollow = (
        base.transform_filter(condition) for condition in ("!datum.is_hollow", "datum.is_hollow")
    )
    layers = [
        full.mark_point(filled=True, size=42, opacity=0.8, color=INK).encode(**looks),
        hollow.mark_point(size=42, strokeWidth=1.6, fill=PAPER, opacity=1).encode(**looks),
    ]
    if is_written:
        place_names(values, _place_on(x_scale), _place_on(y_scale))
        layers += [
            base.transform_filter(f"datum.place == '{place}'")
            .mark_text(align=ALIGNED[place], dx=dx, dy=dy, fontSize=10, fill=INK)
            .encode(text="colour:N")
            for place, (dx, dy) in PLACES.items()
            if any(value["place"] == place for value in values)
        ]
    return alt.layer(*layers).properties(
        width=SCATTER_SIDE, height=SCATTER_SIDE, title="" if is_written else correlations
    )


def _scale(numbers: Sequence[float], *, can_be_powers: bool = True) -> tuple[alt.Scale, alt.Axis]:
    lowest, highest = min(numbers), max(numbers)
    if can_be_powers and 0 < lowest * WIDE <= highest:
        powers = range(floor(log10(lowest)), ceil(log10(highest)) + 1)
        ends = [10.0 ** powers[0], 10.0 ** powers[-1]]
        values = [10.0**power for power in powers]
        return alt.Scale(type="log", domain=ends, nice=False), alt.Axis(values=values)
    margin = (highest - lowest) * 0.06 or abs(highest) * 0.06 or 1.0
    domain = [lowest - margin, highest + margin]
    return alt.Scale(domain=domain, nice=False, zero=False), alt.Axis(tickCount=5)


def _place_on(scale: alt.Scale) -> Any:
    """Function from a number to its place on an axis, px from its start."""
    low, high = scale.domain
    if scale.type == "log":
        return lambda number: SCATTER_SIDE * log10(number / low) / log10(high / low)
    return lambda number: SCATTER_SIDE * (number - low) / (high - low)


def place_names(values: Sequence[dict[str, Any]], x_place: Any, y_place: Any) -> None:
    """Choose for each point where its name stands: the first place that covers nothing.

    Adds ``place`` to the values, a key of :data:`PLACES`. Where every place covers another name or
    point, the name stands on the right.
    """
    points = [(x_place(value["x"]), SCATTER_SIDE - y_place(value["y"])) for value in values]
    covered = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    for index, (value, (x, y)) in enumerate(zip(values, points, strict=True)):
        width = LETTER * len(value["colour"])
        boxes = {
            "right": (x + 7, y - LINE / 2, x + 7 + width, y + LINE / 2),
            "left": (x - 7 - width, y - LINE / 2, x - 7, y + LINE / 2),
            "above": (x - width / 2, y - 10 - LINE / 2, x + width / 2, y - 10 + LINE / 2),
            "below": (x - width / 2, y + 11 - LINE / 2, x + width / 2, y + 11 + LINE / 2),
        }
        other_boxes = covered[:index] + covered[index + 1 :]
        free = [place for place, box in boxes.items() if not _overlaps(box, other_boxes)]
        value["place"] = free[0] if free else "right"
        covered.append(boxes[value["place"]])


def _overlaps(box: tuple[float, ...], boxes: Iterable[tuple[float, ...]]) -> bool:
    x_min, y_min, x_max, y_max = box
    return any(
        x_min < right and x_max > x and y_min < bottom and y_max > y
        for x, y, right, bottom in boxes
    )


def _kinds(figure: Figure, row: PaperRow) -> dict[str, str]:
    """Colour and shape of a point, as far as there are columns for them."""
    columns = zip(KINDS, figure.method.split(","), strict=False)
    return {name: display_name(row.of[column]) for name, column in columns}


def _looks(values: list[dict[str, Any]]) -> dict[str, alt.Color | alt.Shape]:
    """Colour and shape, from which every kind of point is told."""
    names = {key: distinct(value[key] for value in values) for key in KINDS if key in values[0]}
    colours, shapes = names["colour"], names.get("shape", [])
    if len(colours) > len(COLOURS) or len(shapes) > len(SHAPES):
        for value in values:
            value["kind"] = " ".join(value[key] for key in names)
        kinds = distinct(value["kind"] for value in values)
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
