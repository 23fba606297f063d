"""Turn a chart into an SVG element of the page: colours, text, and only visible elements.

Colours are CSS variables of the page with a fallback, so that a picture follows light and dark
mode and can still be copied out of the report.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple
from xml.etree import ElementTree

import altair as alt
import vl_convert

from decaf.library.palette import COLOURS

RULE = "var(--rule, #d9dde3)"
PAPER = "var(--paper, #fff)"
WASH = "var(--wash, #f1f3f5)"
INK = "var(--ink, #1c2430)"
MUTED = "var(--muted, #5b6472)"

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Fonts with equal widths of letters, so that text has the width that the layout expects."""

ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
UNSEEN = frozenset({"class", "role", "pointer-events", "font-family", "stroke-miterlimit"})
DEFAULTS = frozenset(
    {("opacity", "1"), ("stroke-width", "1"), ("stroke-dasharray", "1,0")}
    | {("transform", "translate(0,0)")}
)
VARIABLE = re.compile(r"var\(--\w+, ([^()]+)\)")
"""A colour variable of the report's page, with the colour of a picture elsewhere."""
OPENED = re.compile(r"<svg ([^>]*)>")
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(e-?\d+)?")


class Picture(NamedTuple):
    """An inline SVG with its title; empty if ``note`` says why nothing is drawn."""

    title: str
    svg: str
    note: str = ""


def colour(metric: str) -> str:
    """CSS colour of a metric."""
    return f"var(--{metric}, {COLOURS[metric]})"


def colour_scale(field: str, metrics: dict[str, str]) -> alt.Color:
    """Colour scale from the values of a field to the metrics that they stand for."""
    return alt.Color(
        field,
        legend=None,
        scale=alt.Scale(domain=list(metrics), range=[colour(name) for name in metrics.values()]),
    )


def header() -> alt.Header:
    """Titles of panels."""
    return alt.Header(
        labelFontSize=12, labelFontWeight=600, labelColor=INK, labelLimit=240, labelPadding=6
    )


def panels(
    chart: alt.LayerChart,
    field: str,
    names: Iterable[str],
    *,
    width: float,
    height: float | alt.Step,
    spacing: float = 24,
) -> alt.FacetChart:
    """Panels of a chart side by side, one for each name that a field of its data has."""
    column = alt.Column(f"{field}:N", sort=list(names), title=None, header=header())
    panel = chart.properties(width=width, height=height)
    return panel.facet(column=column).properties(spacing=spacing)


STYLE = {
    "aria": False,
    "font": FONT,
    "background": "transparent",
    "padding": 2,
    "title": {"fontSize": 12, "fontWeight": 600, "color": INK, "offset": 6},
    "axis": {
        "gridColor": RULE,
        "domainColor": RULE,
        "tickColor": RULE,
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "labelFontSize": 10.5,
        "titleFontSize": 11,
    },
}


def svg_element(chart: alt.TopLevelMixin, label: str) -> str:
    """Render a chart as an SVG element for an HTML page, with a text alternative."""
    # Altair's own `configure` copies the chart each time and checks it against the whole schema.
    specification = chart.to_dict(validate=False)
    config = specification.get("config", {})
    specification["config"] = config | STYLE | {"view": {**config.get("view", {}), "stroke": None}}
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(specification))
    _trim(root)
    # On a narrow screen, a picture shrinks to 720 px or 90 % of its width, then it scrolls.
    root.set("style", f"min-width:min(720px,{0.9 * float(root.get('width', '0')):.0f}px)")
    root.set("role", "img")
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode")


def standalone(svg: str) -> str:
    """Text of an SVG file, with the font and colours of the report on a white ground."""
    ground = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    opened = rf'<svg font-family="{FONT}" \1>{ground}'
    return VARIABLE.sub(r"\1", OPENED.sub(opened, svg, count=1))


def _trim(element: ElementTree.Element) -> None:
    """Drop invisible elements and attributes, a third of the bytes."""
    for child in list(element):
        if child.get("class") in ("background", "foreground") or child.get("opacity") == "0":
            element.remove(child)
        else:
            _trim(child)
    if element.tag.endswith("text") and "stroke" in element.attrib:
        element.set("paint-order", "stroke")  # a rim around the letters, not over them
    for name in list(element.attrib):
        if name in UNSEEN or name.startswith("aria-") or (name, element.get(name)) in DEFAULTS:
            del element.attrib[name]
        elif name in ("transform", "d", "width", "height", "x2", "y2", "viewBox"):
            element.set(name, LONG_NUMBER.sub(_round_number, element.get(name, "")))


def _round_number(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
