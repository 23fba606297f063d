"""The report's pictures of the benchmark of ImageNet-9: what each method tells of behaviours."""

from collections.abc import Callable, Sequence

import altair as alt

from warehouse.report.audit.figures import PAGE_WIDTH
from warehouse.report.paper.marks import (
    END,
    captioned,
    interval_lines,
    marks,
    reference_line,
    rows_to_draw,
    with_marks,
)
from warehouse.report.paper.reading import Paper, PaperRow
from warehouse.report.svg import INK, MUTED, Picture, header, svg_element

SEMANTICS = "paper_imagenet9_semantics"
ROLES = "paper_imagenet9_roles"
BINS = "paper_imagenet9_bins"
FAMILIES = "paper_imagenet9_families"
CALLS = "paper_imagenet9_calls"

DECAF = "DECAF"
RESAMPLED = "Lines are 95% intervals that resample models."
EVEN_ODDS = 0.5
"""AUROC of a score that tells nothing."""


def benchmark_pictures(paper: Paper) -> list[Picture]:
    """Fixed semantics, matched pairs, magnitude bins, held-out families and calls, as there are."""
    makers = (semantics_picture, roles_picture, bins_picture, families_picture, calls_picture)
    pictures = [make(paper) for make in makers]
    return [picture for picture in pictures if picture is not None]


def semantics_picture(paper: Paper) -> Picture | None:
    """AUROC of every method, a panel per behaviour and one for their mean (figure 3a)."""
    rows = [row for row in rows_to_draw(paper, SEMANTICS) if row.of["statistic"] == "auroc"]
    return method_points(
        rows,
        captioned("How well each method's score tells each behaviour", paper, SEMANTICS),
        "AUROC",
        panel_of=lambda row: row.of["label"],
        panels=("evidence", "contradiction", "fragility", "macro"),
        reference=EVEN_ODDS,
        note=RESAMPLED,
    )


def roles_picture(paper: Paper) -> Picture | None:
    """Role agreement and ranking of every method in matched pairs (figure 3b)."""
    names = {"role_accuracy": "role named", "ranking_accuracy": "units ranked"}
    rows = [row for row in rows_to_draw(paper, ROLES) if row.of["statistic"] in names]
    return method_points(
        rows,
        captioned("Pairs of units of about equal Abs that show different behaviours", paper, ROLES),
        "share of what is right",
        panel_of=lambda row: names[row.of["statistic"]],
        panels=tuple(names.values()),
        note=RESAMPLED,
    )


def families_picture(paper: Paper) -> Picture | None:
    """Macro AUROC of every representation on held-out families, a panel per probe (figure 10)."""
    rows = [row for row in rows_to_draw(paper, FAMILIES) if row.of["label"] == "macro"]
    return method_points(
        rows,
        captioned("Probes on families of models that they never saw", paper, FAMILIES),
        "AUROC, mean over behaviours",
        panel_of=lambda row: row.of["probe"].replace("_", " "),
        panels=("logistic regression", "gradient boosting"),
        method_of=lambda row: row.of["representation"],
        reference=EVEN_ODDS,
        note=RESAMPLED,
    )


def calls_picture(paper: Paper) -> Picture | None:
    """Rows that each method takes of a model, by image (table 1)."""
    names = {"forward_per_image": "forward", "backward_per_image": "backward"}
    rows = [row for row in rows_to_draw(paper, CALLS) if row.of["statistic"] in names]
    return method_points(
        rows,
        captioned("What each method takes of a model", paper, CALLS),
        "rows of an image",
        panel_of=lambda row: names[row.of["statistic"]],
        panels=tuple(names.values()),
        digits=".1~f",
    )


def bins_picture(paper: Paper) -> Picture | None:
    """Mean AUROC of DECAF and Abs in every bin of Abs that has all behaviours (figure 3c).

    The paper gives no value of a single bin. Without such a bin a line says so.
    """
    title = captioned("DECAF, dark, and Abs, light, among units of about equal Abs", paper, BINS)
    rows = paper.table(BINS)
    values = [
        {
            "method": row.of["method"],
            "bin": int(row.of["part"].removeprefix("bin ")),
            "value": row.estimate,
            "low": row.lower_95,
            "high": row.upper_95,
        }
        for row in rows
        if row.of["statistic"] == "auroc"
        and row.of["part"].startswith("bin ")
        and row.estimate is not None
    ]
    if not values:
        why = "no bin has all three behaviours, present and absent"
        return Picture(title, "", f"Not drawn: {why}.") if rows else None
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
            title="AUROC, mean over behaviours",
            scale=alt.Scale(zero=False),
            axis=alt.Axis(tickCount=5),
        )
    )
    limits = interval_lines(base)
    line = reference_line(EVEN_ODDS)
    chart = alt.layer(line, limits, points, data=alt.InlineData(values=values)).properties(
        width=PAGE_WIDTH - 80, height=200
    )
    note = f"{RESAMPLED} Bins without one of the three behaviours are left out."
    return Picture(title, svg_element(chart, title), note)


def method_points(
    rows: Sequence[PaperRow],
    title: str,
    axis: str,
    *,
    panel_of: Callable[[PaperRow], str],
    panels: Sequence[str],
    method_of: Callable[[PaperRow], str] = lambda row: row.of["method"],
    reference: float | None = None,
    digits: str = ".2f",
    note: str = "",
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
