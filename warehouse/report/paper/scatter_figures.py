"""The report's pictures of entries as points, with their rank correlation."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from decaf.foundation.number_text import score_text
from decaf.library.palette import COLOURS
from decaf.statistics.ranks import spearman_rows
from warehouse.report.paper.declared import Figure
from warehouse.report.paper.entry_panels import distinct
from warehouse.report.paper.marks import SHADES, assign_styles, display_name, marks
from warehouse.report.paper.reading import Paper, PaperRow, PaperTable
from warehouse.report.svg import INK, MUTED, PAPER

SCATTER_SIDE = 300
SHAPES = ("circle", "triangle-up", "square", "cross", "diamond", "triangle-down")
KINDS = ("colour", "shape")
"""Channels that show the kind of a point."""
MOST_EXPLAINED = 4
"""Most points that a legend explains if each has its own name."""
WIDE = 50
"""From this ratio of the largest to the smallest x value, the x axis is logarithmic."""
LETTER, LINE = 5.6, 12.0
"""Width of a letter of a name and height of its line, px."""
POINT = 4
"""Half of the side of the square that a point covers, px."""
ALIGNED = {"right": "left", "left": "right", "above": "center", "below": "center"}
"""Alignments of names by their side of a point."""
ROWS = 12
"""Most lines between a point and its name."""


class Place(NamedTuple):
    """Place of a name: side of the point, and offset of the name's near end, px."""

    side: str
    dx: int
    dy: int

    def box(self, x: float, y: float, name: str) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the name of a point at ``x``, ``y``, px."""
        width = LETTER * len(name)
        x_min = x + self.dx - {"right": 0.0, "left": width}.get(self.side, width / 2)
        return x_min, y + self.dy - LINE / 2, x_min + width, y + self.dy + LINE / 2


NEAR = (Place("right", 7, 0), Place("left", -7, 0), Place("above", 0, -10), Place("below", 0, 11))
FAR = tuple(
    Place(side, dx, sign * row * int(LINE))
    for row in range(1, ROWS)
    for side, dx in (("right", 16), ("left", -16))
    for sign in (-1, 1)
)
"""Places with a line from the point to the name."""


def scatter(figure: Figure, table: PaperTable, paper: Paper) -> alt.TopLevelMixin | None:
    """A point for every line of a table with statistics side by side.

    The y axis has the statistic of the panel, the x axis that of ``x``. The first column of
    ``method`` sets the shade and the second one the shape. With one column, or more kinds than
    shades or shapes, shade and shape together show the kind. If every point of more than
    ``MOST_EXPLAINED`` has its own name, names stand next to the points.
    """
    along, title = figure.along
    charts = []
    for statistic, name in figure.panels.items():
        lines = [
            (line[along].estimate, line[along].published, line[statistic])
            for line in table.lines.values()
            if along in line and statistic in line and figure.is_drawn(line[statistic])
        ]
        values = [
            {
                "x": x,
                "y": row.estimate,
                "published": row.published if x == published_x else None,
                "is_hollow": bool(figure.hollow) and not row.keys[figure.hollow],
                **_kinds(figure, row),
            }
            for x, published_x, row in lines
            if x is not None and row.estimate is not None
        ]
        if values:
            correlations = _correlations(figure, statistic, paper) or _correlation(values)
            y_title = [part for part in (name, figure.axis) if part]
            charts.append(_points(values, title, y_title, correlations))
    return alt.hconcat(*charts, spacing=30) if charts else None


def _correlations(figure: Figure, statistic: str, paper: Paper) -> list[str]:
    """Rank correlations of a panel, with intervals, from the view ``rho`` of the figure."""
    view, *conditions = figure.rho.split("|")
    values_by_column = dict(condition.split("=") for condition in conditions)
    rows = [
        row
        for row in paper.table(view)
        if row.estimate is not None
        and all(
            row.keys[column] == value.replace("*", statistic)
            for column, value in values_by_column.items()
        )
    ]
    return [
        f"ρ = {score_text(row.estimate)}{_limits(row)}{_models(row) if len(rows) > 1 else ''}"
        f"{_paper(row)}"
        for row in rows
    ]


def _limits(row: PaperRow) -> str:
    if row.lower_95 is None or row.upper_95 is None:
        return ""
    return f" [{score_text(row.lower_95)}, {score_text(row.upper_95)}]"


def _models(row: PaperRow) -> str:
    return f", {row.keys['models']}"


def _paper(row: PaperRow) -> str:
    return "" if row.published is None else f"; paper {score_text(row.published)}"


def _correlation(values: Sequence[dict[str, Any]]) -> list[str]:
    """Rank correlation of the points, unless one side is constant."""
    (rho,) = spearman_rows([[value["x"] for value in values]], [[value["y"] for value in values]])
    return [] if np.isnan(rho) else [f"ρ = {score_text(float(rho))}, {len(values):,} points"]


def _points(
    values: list[dict[str, Any]], x_title: str, y_title: list[str], correlations: list[str]
) -> alt.LayerChart:
    """Draw points with a title; a point has a name where the name covers nothing."""
    x_scale, x_axis = _scale([value["x"] for value in values])
    heights = [value[name] for name in ("y", "published") for value in values]
    known_heights = [height for height in heights if height is not None]
    y_scale, y_axis = _scale(known_heights, can_be_powers=False)
    names = distinct(value["colour"] for value in values)
    is_written = len(names) == len(values) > MOST_EXPLAINED
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("x:Q", title=x_title, scale=x_scale, axis=x_axis),
        y=alt.Y("y:Q", title=y_title, scale=y_scale, axis=y_axis),
    )
    styles = {} if is_written else _styles(values)
    full, hollow = (
        base.transform_filter(condition) for condition in ("!datum.is_hollow", "datum.is_hollow")
    )
    layers = [
        full.mark_point(filled=True, size=42, opacity=0.8, color=INK).encode(**styles),
        hollow.mark_point(size=42, strokeWidth=1.6, fill=PAPER, opacity=1).encode(**styles),
    ]
    layers += _paper_layers(base, values)
    if is_written:
        layers += _name_layers(base, values, _place_on(x_scale), _place_on(y_scale))
    return alt.layer(*layers).properties(
        width=SCATTER_SIDE, height=SCATTER_SIDE, title="" if is_written else correlations
    )


def _paper_layers(base: alt.Chart, values: Sequence[dict[str, Any]]) -> list[alt.Chart]:
    """Make the marks of the paper's values, each with a line to its point."""
    if all(value["published"] is None for value in values):
        return []
    valid = base.transform_filter("isValid(datum.published)")
    line = valid.mark_rule(color=MUTED, strokeWidth=0.8, strokeDash=[2, 2])
    return [line.encode(y2="published:Q"), marks(base, x="x:Q", y="published:Q")]


def _name_layers(
    base: alt.Chart, values: list[dict[str, Any]], x_place: Any, y_place: Any
) -> list[alt.Chart]:
    """Make the layers of names, one for each place, and of lines to names further away."""
    places = place_names(values, x_place, y_place)
    for value, place in zip(values, places, strict=True):
        value["place"] = "{} {} {}".format(*place)
    layers = []
    for place in dict.fromkeys(places):
        side, dx, dy = place
        chosen = base.transform_filter(f"datum.place == '{side} {dx} {dy}'")
        if place in FAR:
            line = chosen.mark_rule(color=MUTED, strokeWidth=0.8, x2Offset=dx, y2Offset=dy)
            layers.append(line.encode(x2="x:Q", y2="y:Q"))
        text = chosen.mark_text(align=ALIGNED[side], dx=dx, dy=dy, fontSize=10, fill=INK)
        layers.append(text.encode(text="colour:N"))
    return layers


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


def place_names(values: Sequence[dict[str, Any]], x_place: Any, y_place: Any) -> list[Place]:
    """Choose for each point where its name stands: the first place that covers nothing.

    ``x_place`` and ``y_place`` turn numbers into px from the start of their axis. A name covers no
    point, no mark of the paper and no other name, and stays inside the axes on the left, above and
    below. Names of crowded points stand further away. If every place covers something, the name
    stands on the right.
    """
    points = [(x_place(value["x"]), SCATTER_SIDE - y_place(value["y"])) for value in values]
    marked = [
        (x, SCATTER_SIDE - y_place(value["published"]))
        for value, (x, _) in zip(values, points, strict=True)
        if value["published"] is not None
    ]
    boxes = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points + marked]
    places = []
    for index, (value, (x, y)) in enumerate(zip(values, points, strict=True)):
        other_boxes = boxes[:index] + boxes[index + 1 :]
        free = (
            place
            for place in NEAR + FAR
            if _is_inside(box := place.box(x, y, value["colour"]))
            and not _overlaps(box, other_boxes)
        )
        place = next(free, NEAR[0])
        boxes.append(place.box(x, y, value["colour"]))
        places.append(place)
    return places


def _is_inside(box: tuple[float, ...]) -> bool:
    """True if a box is inside the axes; names may stand out on the right."""
    x_min, y_min, _, y_max = box
    return x_min >= 0 and y_min >= -LINE / 2 and y_max <= SCATTER_SIDE


def _overlaps(box: tuple[float, ...], boxes: Iterable[tuple[float, ...]]) -> bool:
    x_min, y_min, x_max, y_max = box
    return any(
        x_min < right and x_max > x and y_min < bottom and y_max > y
        for x, y, right, bottom in boxes
    )


def _kinds(figure: Figure, row: PaperRow) -> dict[str, str]:
    """Colour and shape of a point, if columns define them."""
    columns = zip(KINDS, figure.method.split(","), strict=False)
    return {name: display_name(row.keys[column]) for name, column in columns}


def _styles(values: list[dict[str, Any]]) -> dict[str, alt.Color | alt.Shape]:
    """Shade and shape, which distinguish all kinds of points."""
    names = {key: distinct(value[key] for value in values) for key in KINDS if key in values[0]}
    colours, shapes = names["colour"], names.get("shape", [])
    has_shades = len(colours) <= len(SHADES) or set(colours) <= COLOURS.keys()
    if not shapes or not has_shades or len(shapes) > len(SHAPES):
        for value in values:
            value["kind"] = " ".join(value[key] for key in names)
        kinds = distinct(value["kind"] for value in values)
        shades, marks = assign_styles(kinds, SHAPES)
        return {
            "color": _style(alt.Color, "kind", kinds, shades),
            "shape": _style(alt.Shape, "kind", kinds, marks),
        }
    shape = _style(alt.Shape, "shape", shapes, SHAPES, symbolFillColor=INK)
    shades, _ = assign_styles(colours, SHAPES)
    return {"color": _style(alt.Color, "colour", colours, shades), "shape": shape}


def _style(
    channel: type[alt.Color | alt.Shape],
    field: str,
    names: list[str],
    styles: Sequence[str],
    **symbol: str,
) -> alt.Color | alt.Shape:
    legend = alt.Legend(title=None, orient="top", labelColor=INK, labelFontSize=11, **symbol)
    return channel(f"{field}:N", legend=legend, scale=alt.Scale(domain=names, range=styles))
