"""The report's pictures: Vega-Lite charts that become inline SVG, without any script."""

from collections.abc import Iterator, Sequence

import altair as alt

from decaf.foundation.number_text import score_text
from warehouse.report.audit.facts import COMPONENTS, Facts, Row, at
from warehouse.report.svg import (
    INK,
    MUTED,
    PAPER,
    Picture,
    colour,
    colour_scale,
    panels,
    svg_element,
)

NAMES = {
    "evidence": "Evidence",
    "contradiction": "Contradiction",
    "fragility": "Fragility",
    "abs_response": "Abs",
}
PARTS_SHADE = colour_scale("part:N", {part: part for part in COMPONENTS})
NAMES_SHADE = colour_scale("metric:N", {name: metric for metric, name in NAMES.items()})
PAGE_WIDTH = 1000
"""Width of a full picture, CSS pixels."""

LABEL_WIDTH = 290
"""Most width of model names left of the bars, px; longer names are cut with an ellipsis."""

BARS_PER_ROW = 3
"""Paths side by side in one picture of bars."""

PANELS_PER_ROW = 3
"""Models side by side in one picture of trajectories."""

MAX_PANELS = 12
"""Models with a picture of their trajectory, per pair type."""

RESPONSE = "mean response, score units"


def bar_pictures(facts: Facts) -> Iterator[Picture]:
    """E, C and F of every model, one picture per pair type and three paths, on one scale."""
    largest = _largest_response(facts)
    for pair_type in facts.profiled_types:
        rows = [row for row in facts.profiles if row.pair_type == pair_type]
        for start in range(0, len(facts.paths), BARS_PER_ROW):
            paths = facts.paths[start : start + BARS_PER_ROW]
            if any(row.path in paths for row in rows):
                title = f"{pair_type}: what the response of each model consists of"
                yield Picture(title, profile_bars(rows, paths, largest))


def slope_pictures(facts: Facts) -> Iterator[Picture]:
    """Compare the paths, one picture per pair type; no picture for a study with one path."""
    for pair_type in facts.profiled_types if len(facts.paths) > 1 else ():
        title = f"{pair_type}: the same models on {len(facts.paths)} reveal paths"
        yield Picture(title, _path_slopes(facts, pair_type))


def stage_pictures(facts: Facts, path: str | None = None) -> Iterator[Picture]:
    """Mean trajectories on a path, by default the first; of many models, those with the largest C.

    ``path`` is a name as in ``facts.paths``.
    """
    path = path or next(iter(facts.paths), None)
    on_path = [row for row in facts.stage_means if row.path == path]
    if not on_path:
        return
    limits = (
        -max(row.contradiction for row in on_path),
        max(max(row.evidence, row.fragility) for row in on_path) or 1.0,
    )
    for pair_type in facts.profiled_types:
        rows = at(facts.stage_means, pair_type, path)
        profiles = at(facts.profiles, pair_type, path)
        ranked = sorted(profiles, key=lambda row: row.contradiction or 0.0, reverse=True)
        chosen = {row.model_id for row in ranked[:MAX_PANELS]}
        models = [row.model_id for row in profiles if row.model_id in chosen]
        if rows and models:
            note = f"The {MAX_PANELS} of {len(ranked)} models with the largest contradiction."
            title = f"{pair_type}, path {path}: response while the inputs are revealed"
            svg = _stage_panels(rows, models, limits)
            yield Picture(title, svg, note if len(ranked) > MAX_PANELS else "")


def profile_bars(rows: Sequence[Row], paths: Sequence[str], largest: float) -> str:
    """Stacked bars E, C, F per model, one panel per path; the bar's length is Abs.

    ``rows`` are profiles of one pair type, in the order of the models; ``paths``, at most
    ``BARS_PER_ROW``, are the panels from left to right. The axis ends at ``largest``, score units,
    which is the same for pictures to be compared.
    """
    models = list(dict.fromkeys(row.model_id for row in rows))
    step = 24 if len(models) <= 24 else 15
    room = min(LABEL_WIDTH, 20 + 6.5 * max(map(len, models)))
    width = (PAGE_WIDTH - room) / len(paths) - 24
    axis = alt.Axis(
        labelLimit=room - 10,
        labelFontSize=12 if step > 20 else 10.5,
        labelColor=INK,
        ticks=False,
        domain=False,
        labelPadding=6,
    )
    y = alt.Y("model_id:N", sort=models, title=None, axis=axis)
    domain = alt.Scale(domain=[0, largest * (1 + 45 / width) or 1.0], nice=False)
    bars = (
        alt.Chart()
        .mark_bar(height=step * 0.68, stroke=PAPER, strokeWidth=0.5)
        .encode(
            y=y,
            x=alt.X(
                "value:Q", scale=domain, title=RESPONSE, stack="zero", axis=alt.Axis(tickCount=5)
            ),
            color=PARTS_SHADE,
            order=alt.Order("place:Q"),
        )
        .transform_calculate(place=f"indexof({list(COMPONENTS)}, datum.part)")
    )
    totals = (
        alt.Chart()
        .mark_text(align="left", dx=4, fontSize=10, color=MUTED)
        .transform_aggregate(total="sum(value)", groupby=["model_id", "written"])
        .encode(y=y, x="total:Q", text="written:N")
    )
    values = [
        row._asdict()
        | {part: getattr(row, part) or 0.0 for part in COMPONENTS}
        | {"written": score_text(sum(getattr(row, part) or 0.0 for part in COMPONENTS))}
        for row in rows
        if row.path in paths
    ]
    chart = alt.layer(bars, totals, data=alt.InlineData(values=values)).transform_fold(
        list(COMPONENTS), as_=["part", "value"]
    )
    return svg_element(
        panels(chart, "path", paths, width=width, height=alt.Step(step)),
        "Stacked bars of evidence, contradiction and fragility per model and path",
    )


def _path_slopes(facts: Facts, pair_type: str) -> str:
    """Every metric on every path: a thin line per model, a thick one for their mean."""
    paths = list(facts.paths)
    rows = [row for row in facts.profiles if row.pair_type == pair_type]
    means = [row for row in facts.path_ratios if row.pair_type == pair_type]
    width = (PAGE_WIDTH - 60) / len(NAMES) - 20
    slanted = 7 * max(map(len, paths)) * len(paths) > width
    axis = alt.Axis(labelAngle=-35 if slanted else 0, labelLimit=140, ticks=False)
    x = alt.X("path:N", sort=paths, title=None, axis=axis)
    domain = alt.Scale(domain=[0, _largest_response(facts) * 1.05 or 1.0], nice=False)
    # Many thin lines are a background; a few are read one by one.
    opacity = min(0.5, max(0.12, 4 * len(paths) / (1 + len(rows))))
    thin = (
        alt.Chart()
        .mark_line(strokeWidth=1, opacity=opacity)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=RESPONSE, scale=domain, axis=alt.Axis(tickCount=5)),
            color=NAMES_SHADE,
            detail="model:N",
        )
        .transform_filter("isValid(datum.value)")
    )
    mean = (
        alt.Chart()
        .transform_filter("isValid(datum.mean)")
        .encode(x=x, y="mean:Q", color=NAMES_SHADE)
    )
    written = mean.mark_text(dy=-13, fontSize=11, fontWeight=600, stroke=PAPER, strokeWidth=3)
    chart = alt.layer(
        thin,
        mean.mark_line(strokeWidth=7, opacity=0.85).encode(color=alt.value(PAPER)),
        mean.mark_line(strokeWidth=3, point={"size": 70, "filled": True}),
        written.encode(text="written:N", color=alt.value(INK)),
        data=alt.InlineData(values=_slope_values(rows, means)),
    )
    return svg_element(
        panels(chart, "metric", NAMES.values(), width=width, height=230, spacing=20),
        "Evidence, contradiction, fragility and Abs on every path",
    )


def _stage_panels(rows: Sequence[Row], models: Sequence[str], limits: tuple[float, float]) -> str:
    """Mean routed response along the reveal of one pair type and path, one panel per model.

    Evidence is drawn above zero, contradiction below it, fragility as a dashed line. All panels
    have the same lower and upper limit, score units.
    """
    width = (PAGE_WIDTH - 60) / PANELS_PER_ROW - 30
    charts = []
    for place, model in enumerate(models):
        values = [
            row._asdict() | {"contradiction": -row.contradiction}
            for row in rows
            if row.model_id == model
        ]
        x = alt.X(
            "t:Q",
            title="stage t" if place + PANELS_PER_ROW >= len(models) else None,
            axis=alt.Axis(values=[0, 0.5, 1]),
        )
        is_first = place % PANELS_PER_ROW == 0  # of its row: the panel with the numbers
        axis = {
            "scale": alt.Scale(domain=list(limits), nice=False),
            "title": "score units" if is_first else None,
            "axis": alt.Axis(tickCount=4, labels=is_first, ticks=False, domain=False),
        }
        layers = _stage_layers(x, axis)
        title = alt.TitleParams(model, limit=width)
        charts.append(
            alt.layer(*layers, data=alt.InlineData(values=values)).properties(
                width=width, height=130, title=title
            )
        )
    chart = alt.concat(*charts, columns=PANELS_PER_ROW, spacing={"row": 18, "column": 24})
    return svg_element(
        chart, "Mean evidence, contradiction and fragility along the reveal, per model"
    )


def _stage_layers(x: alt.X, axis: dict) -> list[alt.Chart]:
    base = alt.Chart().encode(x=x)
    areas = [
        base.mark_area(
            color=colour(metric), fillOpacity=0.3, line={"color": colour(metric), "strokeWidth": 2}
        ).encode(y=alt.Y(f"{metric}:Q", **axis))
        for metric in ("evidence", "contradiction")
    ]
    dashed = base.mark_line(color=colour("fragility"), strokeWidth=2.5, strokeDash=[5, 2])
    zero = alt.Chart().mark_rule(color=MUTED, strokeWidth=0.8).encode(y=alt.datum(0))
    return [zero, *areas, dashed.encode(y=alt.Y("fragility:Q", **axis))]


def _slope_values(rows: Sequence[Row], means: Sequence[Row]) -> list[dict]:
    """Data of the slopes: ``value`` for a model, ``mean`` for all models."""
    averages = {}
    for row in means:
        averages[row.metric, row.path_a] = row.mean_a
        averages[row.metric, row.path_b] = row.mean_b
    return [
        {"model": row.model_id, "path": row.path, "metric": name, "value": getattr(row, metric)}
        for row in rows
        for metric, name in NAMES.items()
    ] + [
        {"path": path, "metric": NAMES[metric], "mean": value, "written": score_text(value)}
        for (metric, path), value in averages.items()
        if metric in NAMES
    ]


def _largest_response(facts: Facts) -> float:
    return max((row.abs_response or 0.0 for row in facts.profiles), default=0.0)
