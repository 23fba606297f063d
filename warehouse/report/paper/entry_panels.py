"""Labels and panels that all pictures of entries use."""

from collections.abc import Iterable
from typing import Any

import altair as alt

from warehouse.report.audit.figures import PAGE_WIDTH
from warehouse.report.paper.declared import Figure
from warehouse.report.paper.marks import display_name
from warehouse.report.paper.reading import PaperRow
from warehouse.report.svg import panels


def in_panels(
    chart: alt.LayerChart, figure: Figure, values: list[dict[str, Any]], height: float | alt.Step
) -> alt.FacetChart:
    """Panels of a chart side by side, without empty panels."""
    drawn = {value["panel"] for value in values}
    names = [name for name in figure.panels.values() if name in drawn] or [""]
    width = (PAGE_WIDTH - 260) / len(names) - 24
    return panels(chart, "panel", names, width=width, height=height)


def label(columns: Iterable[str], row: PaperRow) -> str:
    """Name of an entry: the values of columns, as the paper writes them."""
    return " ".join(display_name(row.keys[column]) for column in columns)


def distinct(values: Iterable[str]) -> list[str]:
    """Values without repetitions, in their order."""
    return list(dict.fromkeys(values))
