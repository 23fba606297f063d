"""The bars of the verdict as one picture: every model, with intervals and limits."""

import altair as alt

from decaf.foundation.number_text import score_text
from warehouse.report.audit.facts import COMPONENTS, Facts
from warehouse.report.audit.figures import PAGE_WIDTH, PARTS_SHADE, RESPONSE
from warehouse.report.audit.verdict_rows import finding_of, headings_of, scale_of
from warehouse.report.svg import INK, MUTED, PAPER, Picture, panels, svg_element

STEP = 30
"""Height of a model, CSS pixels."""
LABELS = 240
"""Room for names of models, CSS pixels."""


def verdict_pictures(facts: Facts) -> list[Picture]:
    """Draw E, C and F of each model, a panel for each pair type of the verdict; [] without bars.

    A bar is the path with the largest Abs, as in the report; whiskers are 95 % intervals, dashes
    the limits of the study, diamonds M.
    """
    headings = headings_of(facts.names, facts.responses, facts.findings)
    findings = [finding_of(facts, row, headings) for row in facts.findings]
    bars = [(finding.model, bar) for finding in findings for bar in finding.responses if bar]
    if not bars:
        return []
    values = [
        {
            "model": model,
            "pair_type": bar.name,
            "part": part,
            "place": place,
            "value": getattr(bar.row, part) or 0.0,
            # Once for each bar, not for each of its parts.
            "abs": bar.row.abs_response if place == 0 else None,
            "written": score_text(bar.row.abs_response),
            "lower": bar.row.lower_95 if place == 0 else None,
            "upper": bar.row.upper_95 if place == 0 else None,
            "limit": bar.limit if place == 0 else None,
            "magnitude": bar.magnitude if place == 0 else None,
        }
        for model, bar in bars
        for place, part in enumerate(COMPONENTS)
    ]
    width = (PAGE_WIDTH - LABELS) / len(headings) - 24
    end = scale_of(facts.run.score, [bar.row for _, bar in bars]) * (1 + 45 / width)
    models = [finding.model for finding in findings]
    axis = alt.Axis(labelLimit=LABELS - 10, labelFontSize=12, labelColor=INK, ticks=False)
    y = alt.Y("model:N", sort=models, title=None, axis=axis)
    scale = alt.Scale(domain=[0, end], nice=False)
    x = alt.X("value:Q", title=RESPONSE, stack="zero", scale=scale, axis=alt.Axis(tickCount=5))
    base = alt.Chart().encode(y=y)
    measured = base.transform_filter("isValid(datum.abs)")
    layers = (
        base.mark_bar(height=STEP * 0.6, stroke=PAPER, strokeWidth=0.5).encode(
            x=x, color=PARTS_SHADE, order="place:Q"
        ),
        measured.mark_rule(color=INK, strokeWidth=1.5).encode(x="lower:Q", x2="upper:Q"),
        base.transform_filter("isValid(datum.limit)")
        .mark_tick(color=INK, thickness=2, height=STEP * 0.9, strokeDash=[4, 3])
        .encode(x="limit:Q"),
        base.transform_filter("isValid(datum.magnitude)")
        .mark_point(shape="diamond", filled=True, size=50, color=INK, opacity=1, stroke=PAPER)
        .encode(x="magnitude:Q"),
        measured.transform_calculate(end="max(datum.abs, datum.upper)")
        .mark_text(align="left", dx=5, fontSize=10, color=MUTED)
        .encode(x="end:Q", text="written:N"),
    )
    chart = alt.layer(*layers, data=alt.InlineData(values=values))
    names = [heading.name for heading in headings]
    title = "Evidence, contradiction and fragility of each model"
    drawn = panels(chart, "pair_type", names, width=width, height=alt.Step(STEP))
    return [Picture(title, svg_element(drawn, title))]
