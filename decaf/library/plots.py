"""Pictures for a notebook: the trajectory of one pair, and the mean over pairs, as Vega-Lite."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import altair as alt

    from decaf.library.findings import Audit

COLOURS = {
    "evidence": "#0f7b80",
    "contradiction": "#b93a2b",
    "fragility": "#dba021",
    "abs_response": "#5b6472",
}
"""Teal, red and gold differ under the three common colour-vision deficiencies and in grey."""

ROLES = ("evidence", "contradiction", "fragility")
INK, MUTED = "#1c2430", "#5b6472"
WIDTH, HEIGHT = 420, 240
"""Of a plot, CSS pixels."""


def trajectory_chart(audit: "Audit", row: int) -> "alt.LayerChart":
    """Response of one pair over the stages, with the area of each role.

    Above and below zero the area joins the stages' positive and negative responses by straight
    lines, as the trapezoid rule does: its size is E, C or F. With repetitions both are means, and
    so is the line. The band is the gate, the point at the last stage the final contrast ``d``.
    """
    import altair as alt

    profiles, response = audit.profiles, audit.response[row]
    d, epsilon = profiles.endpoint_delta[row], audit.epsilon
    stage = alt.X("t:Q", title="stage t", scale=alt.Scale(domain=[0, 1]))
    height = alt.Y("response:Q", title="response r(t), score units", stack=None)
    areas = (
        alt.Chart(alt.InlineData(values=_signed_areas(audit, row)))
        .mark_area(fillOpacity=0.45)
        .encode(x=stage, y=height, color=_role_colours(), detail="side:N", tooltip=_TOOLTIPS)
    )
    line_values = [
        {"t": float(t), "response": float(r)}
        for t, r in zip(audit.grid, response.mean(axis=0), strict=True)
    ]
    line = (
        alt.Chart(alt.InlineData(values=line_values))
        .mark_line(color=INK, strokeWidth=1.5, point={"color": INK, "size": 18})
        .encode(x=stage, y=height)
    )
    endpoint = (
        alt.Chart(alt.InlineData(values=[{"t": 1, "response": float(d)}]))
        .mark_point(color=INK, size=90, shape="diamond", filled=True)
        .encode(x=stage, y=height, tooltip=[alt.Tooltip("response:Q", title="d", format=".4g")])
    )
    masses = ", ".join(f"{role[0].upper()} {getattr(profiles, role)[row]:.4g}" for role in ROLES)
    title = f"pair {audit.ids[row]}: M {profiles.endpoint_magnitude[row]:.4g}, {masses}"
    gate = "open" if profiles.is_endpoint_active[row] else "closed"
    described = f"Response of {title}; the gate of {epsilon:g} is {gate}"
    return alt.layer(*_gate(epsilon), areas, line, endpoint).properties(
        width=WIDTH, height=HEIGHT, title=title, description=described
    )


def mean_chart(audit: "Audit") -> "alt.Chart":
    """Routed response at every stage, mean over pairs and repetitions: E, C and F stacked.

    The areas of the three are the means of E, C and F.
    """
    import altair as alt

    from decaf.routing.route import route

    response = audit.response[audit.is_finite]
    endpoint = np.broadcast_to(
        audit.profiles.endpoint_delta[audit.is_finite][:, None], response.shape[:2]
    )
    routed = route(response, endpoint, audit.epsilon)
    values = [
        {"t": float(t), "role": role, "place": place, "response": float(mean)}
        for place, (role, part) in enumerate(zip(ROLES, routed, strict=True))
        for t, mean in zip(audit.grid, part.mean(axis=(0, 1)), strict=True)
    ]
    means = [float(np.nanmean(getattr(audit.profiles, role))) for role in ROLES]
    title = ", ".join(
        f"{role[0].upper()} {mean:.4g}" for role, mean in zip(ROLES, means, strict=True)
    )
    title = f"{len(response)} pairs: {title}"
    return (
        alt.Chart(alt.InlineData(values=values))
        .mark_area(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X("t:Q", title="stage t", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("response:Q", title="mean |r(t)|, score units", stack="zero"),
            color=_role_colours(),
            order="place:Q",
            tooltip=_TOOLTIPS,
        )
        .properties(
            width=WIDTH,
            height=HEIGHT,
            title=title,
            description=f"Mean response by stage of {title}",
        )
    )


_TOOLTIPS = ["role:N", "t:Q", "response:Q"]


def _signed_areas(audit: "Audit", row: int) -> list[dict]:
    """The response above and below zero, each with the role that it has for this pair."""
    response, d = audit.response[row], audit.profiles.endpoint_delta[row]
    values = []
    for side, part in (("above", np.maximum(response, 0)), ("below", np.minimum(response, 0))):
        role = "evidence" if (d > 0) == (side == "above") else "contradiction"
        if not audit.profiles.is_endpoint_active[row]:
            role = "fragility"
        values += [
            {"t": float(t), "side": side, "role": role, "response": float(r)}
            for t, r in zip(audit.grid, part.mean(axis=0), strict=True)
        ]
    return values


def _role_colours() -> "alt.Color":
    """The same colours whatever roles occur."""
    import altair as alt

    scale = alt.Scale(domain=list(ROLES), range=[COLOURS[role] for role in ROLES])
    return alt.Color("role:N", title=None, scale=scale)


def _gate(epsilon: float) -> "list[alt.Chart]":
    """Band of final contrasts that are none, and zero."""
    import altair as alt

    band = alt.Chart(alt.InlineData(values=[{"lower": -epsilon, "upper": epsilon}]))
    rule = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=MUTED, strokeWidth=0.8)
    return [
        band.mark_rect(color=MUTED, opacity=0.15).encode(y="lower:Q", y2="upper:Q"),
        rule.encode(y=alt.datum(0)),
    ]
