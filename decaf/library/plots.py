"""Pictures for a notebook: the trajectory of one pair, and the mean over pairs, as Vega-Lite.

Pages that are saved of them open without a network.
"""

from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ResponseError
from decaf.foundation.extras import optional
from decaf.library.curve import split_by_sign
from decaf.library.palette import COLOURS, INK, MUTED, ROLES
from decaf.routing.profiles import profile
from decaf.routing.route import route

with optional():
    import altair as alt

WIDTH, HEIGHT = 420, 240
"""Size of a plot, CSS pixels."""
PAGE = "html"
FORMATS = (PAGE, "json", "pdf", "png", "svg", "vega")


class OfflinePages(alt.TopLevelMixin):
    """Chart whose HTML pages hold the scripts that draw it, where vl-convert, which has them, is.

    ``inline=False`` leaves the scripts out; a browser then loads them from the web.
    """

    def save(self, fp: Any, format: Any = None, *arguments: Any, **options: Any) -> None:
        """Save the chart in a format, or in that of the file's name.

        Raises ResponseError for a format that charts do not have.
        """
        kind = format or (Path(fp).suffix[1:] if isinstance(fp, str | PathLike) else "")
        if kind not in FORMATS:
            raise ResponseError(
                f"the format of the chart is {kind!r}; expected one of {', '.join(FORMATS)}: name "
                "the file so, or set format="
            )
        super().save(fp, format, *arguments, **(_defaults() | options if kind == PAGE else options))

    def to_html(self, *arguments: Any, **options: Any) -> str:
        """Text of a page."""
        return super().to_html(*arguments, **(_defaults() | options))


class OfflineChart(OfflinePages, alt.Chart):
    """Chart of one layer."""


class OfflineLayerChart(OfflinePages, alt.LayerChart):
    """Chart of several layers."""


def _defaults() -> dict[str, Any]:
    """Options of a page."""
    return {"inline": find_spec("vl_convert") is not None}


def trajectory_chart(
    name: str, grid: NDArray[np.float64], response: NDArray[np.float64], epsilon: float
) -> alt.LayerChart:
    """Response of one pair over the stages, with the area of each role.

    Above and below zero the area joins the stages' positive and negative responses by straight
    lines, as the trapezoid rule does: its size is E, C or F. With repetitions both are means, and
    so is the line. The band ends at ±``epsilon``; the point at the last stage is ``d``.

    The grid is (n_stages,) from 0 to 1, the response (n_repetitions, n_stages), finite, in score
    units; the last stage is the same in all. The title calls the pair by the name.
    """
    profiles = profile(response, grid, epsilon)
    d, is_active = profiles.endpoint_delta[0], profiles.is_endpoint_active[0]
    stage = alt.X("t:Q", title="stage t", scale=alt.Scale(domain=[0, 1]))
    height = alt.Y("response:Q", title="response r(t), score units", stack=None)
    areas = (
        _chart(_signed_areas(grid, response, is_active))
        .mark_area(fillOpacity=0.45)
        .encode(x=stage, y=height, color=_role_colours(), detail="side:N", tooltip=_TOOLTIPS)
    )
    line_values = [
        {"t": float(t), "response": float(r)}
        for t, r in zip(grid, response.mean(axis=0), strict=True)
    ]
    line = (
        _chart(line_values)
        .mark_line(color=INK, strokeWidth=1.5, point={"color": INK, "size": 18})
        .encode(x=stage, y=height)
    )
    endpoint = (
        _chart([{"t": 1, "response": float(d)}])
        .mark_point(color=INK, size=90, shape="diamond", filled=True)
        .encode(x=stage, y=height, tooltip=[alt.Tooltip("response:Q", title="d", format=".4g")])
    )
    masses = _masses([getattr(profiles, role).mean() for role in ROLES])
    title = f"pair {name}: M {abs(d):.4g}, {masses}"
    described = (
        f"Response of {title}; the gate of {epsilon:g} is {'open' if is_active else 'closed'}"
    )
    layers: Any = OfflineLayerChart(layer=[*_gate(epsilon), areas, line, endpoint])
    return layers.properties(width=WIDTH, height=HEIGHT, title=title, description=described)


def mean_chart(
    grid: NDArray[np.float64],
    response: NDArray[np.float64],
    weights: NDArray[np.float64],
    epsilon: float,
) -> alt.Chart:
    """Routed response at every stage, mean over pairs and repetitions: E, C and F stacked.

    The areas of the three are the means of E, C and F. The grid is (n_stages,) from 0 to 1, the
    response (n_pairs, n_repetitions, n_stages), finite, in score units, the weights (n_pairs,).
    """
    shares = (weights / weights.mean())[:, None, None]
    means = {
        role: (part * shares).mean(axis=(0, 1))
        for role, part in zip(ROLES, route(response, epsilon=epsilon), strict=True)
    }
    values = [
        {"t": float(t), "role": role, "place": place, "response": float(mean)}
        for place, (role, by_stage) in enumerate(means.items())
        for t, mean in zip(grid, by_stage, strict=True)
    ]
    masses = _masses([np.trapezoid(by_stage, grid) for by_stage in means.values()])
    title = f"{len(response)} pairs: {masses}"
    return (
        OfflineChart(alt.InlineData(values=values))
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


def _chart(values: list[dict[str, Any]]) -> alt.Chart:
    """Chart of rows that are part of it."""
    return alt.Chart(alt.InlineData(values=values))


def _masses(values: list[float]) -> str:
    return ", ".join(f"{role[0].upper()} {x:.4g}" for role, x in zip(ROLES, values, strict=True))


_TOOLTIPS = ["role:N", "t:Q", "response:Q"]


def _signed_areas(
    grid: NDArray[np.float64], response: NDArray[np.float64], is_active: bool
) -> list[dict[str, Any]]:
    """The response above and below zero, each with the role that it has for this pair."""
    sides = zip(("above", "below"), split_by_sign(response, is_active), strict=True)
    return [
        {"t": float(t), "side": side, "role": role, "response": float(r)}
        for side, (role, part) in sides
        for t, r in zip(grid, part, strict=True)
    ]


def _role_colours() -> alt.Color:
    """The same colours for every set of roles."""
    scale = alt.Scale(domain=list(ROLES), range=[COLOURS[role] for role in ROLES])
    return alt.Color("role:N", title=None, scale=scale)


def _gate(epsilon: float) -> list[alt.Chart]:
    """Band of endpoint differences below the threshold, and a line at zero."""
    band = _chart([{"lower": -epsilon, "upper": epsilon}])
    rule = _chart([{}]).mark_rule(color=MUTED, strokeWidth=0.8)
    return [
        band.mark_rect(color=MUTED, opacity=0.15).encode(y="lower:Q", y2="upper:Q"),
        rule.encode(y=alt.datum(0)),
    ]
