"""Colours, marks and captions of pictures that show results next to the paper's values."""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import altair as alt
import numpy as np

from decaf.library.palette import COLOURS
from warehouse.report.paper.reading import Paper, PaperRow, PaperTable
from warehouse.report.svg import INK, MUTED, PAPER, colour, svg_element

Mark = TypeVar("Mark")
FIGURE = re.compile(r"\b(?:figure|table) \d+[a-z]?\b")
END = "max(datum.value, datum.high || datum.value)"
"""Expression for the right end of a row's point and interval, beyond which its value stands."""
INTERVALS = "Lines are 95 % intervals."
MARKS = "Hollow diamonds are the paper's values."
MARK = f'fill="{PAPER}" stroke="{INK}"'
"""Attributes of a hollow diamond in a rendered picture."""
SHADES = (INK, "#7b8694")
"""Shades of series without a role: distinguishable on light and dark pages, in every print."""
ORDERED = ("#9aa4b0", "#4f5a68")
"""First and last shade of an ordered series."""
DATA = {True: "", False: ", on other data", None: ", on unknown data"}
"""Words for the data of a picture, by whether the paper's values hold for the same data."""


def assign_styles(names: Sequence[str], marks: Sequence[Mark]) -> tuple[list[str], list[Mark]]:
    """Give every name its own combination of shade and mark, such as a dash or a shape.

    Neighbours differ in shade and mark; after ``len(SHADES) * len(marks)`` names, combinations
    repeat. If all names are metrics, each has the colour of its metric and the first mark: colours
    mean roles and nothing else.

    Examples
    --------
    >>> assign_styles(["fragility", "evidence"], ["o", "x"])
    (['var(--fragility, #dba021)', 'var(--evidence, #0f7b80)'], ['o', 'o'])
    >>> shades, marks = assign_styles("abcd", ["o", "x"])
    >>> [SHADES.index(shade) for shade in shades], "".join(marks)
    ([0, 1, 1, 0], 'oxox')
    """
    if set(names) <= COLOURS.keys():
        return [colour(metric) for metric in names], [marks[0]] * len(names)
    turns = [divmod(place, len(marks)) for place in range(len(names))]
    shades = [SHADES[(round_ + mark) % len(SHADES)] for round_, mark in turns]
    return shades, [marks[mark] for _, mark in turns]


def shades_in_order(count: int) -> list[str]:
    """Shades of grey from light to dark for an ordered series, none twice.

    Examples
    --------
    >>> shades_in_order(2), len(set(shades_in_order(30)))
    (['#9aa4b0', '#4f5a68'], 30)
    """
    first, last = ([int(shade[at : at + 2], 16) for at in (1, 3, 5)] for shade in ORDERED)
    mixed = np.rint(np.linspace(first, last, count)).astype(int)
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in mixed]


def display_name(value: Any) -> str:
    """Name of a method, family, factor, path or pair type as the paper writes it.

    The names are lines of ``names.csv``; any other value is written as it is.
    """
    return _display_names().get(str(value), str(value))


@cache
def _display_names() -> dict[str, str]:
    with Path(__file__).with_name("names.csv").open(newline="", encoding="utf-8") as file:
        return {line["name"]: line["shown"] for line in csv.DictReader(file)}


def paper_svg(chart: alt.TopLevelMixin, caption: str, paper: Paper, table: PaperTable) -> str:
    """Render a picture, with a note in it if its data are not those of the paper."""
    if data_note := DATA[paper.is_comparable(table)].removeprefix(", "):
        title = alt.Title(data_note, anchor="end", fontSize=10.5, fontWeight="normal", color=MUTED)
        chart = chart.properties(title=title)
    return svg_element(chart, caption)


def drawn_values(
    rows: Iterable[PaperRow], **columns: Callable[[PaperRow], Any]
) -> list[dict[str, Any]]:
    """Data of a picture: each estimate with its interval and the columns that identify it.

    ``columns`` are computed from a row, and replace identifying columns of the same name.
    """
    return [
        {
            **row.keys,
            "value": row.estimate,
            "low": row.lower_95,
            "high": row.upper_95,
            "published": row.published,
            **{name: column(row) for name, column in columns.items()},
        }
        for row in rows
        if row.estimate is not None
    ]


def caption_of(title: str, paper: Paper, table: PaperTable, place: str = "") -> str:
    """Add to a picture's title the paper's figure, and a note if the data are not the paper's.

    Without ``place``, it is the first figure that the table names.
    """
    figure = FIGURE.search(place or table.paper)
    data_note = DATA[paper.is_comparable(table)]
    return f"{title} (the paper's {figure[0]}{data_note})" if figure else title


def with_marks(note: str, rows: Iterable[PaperRow]) -> str:
    """Explain the paper's marks in a picture's note, if a row has a published value."""
    is_marked = any(row.published is not None for row in rows)
    return " ".join(filter(None, (note, MARKS if is_marked else "")))


def marks(base: alt.Chart, *, offset: int = 0, **position: str) -> alt.Chart:
    """Make the layer of the paper's values, from the field ``published`` of the base's data.

    ``offset`` moves them to the right, px.

    Hollow marks are filled with the page's colour, so that they can be seen on a bar.
    """
    return (
        base.transform_filter("isValid(datum.published)")
        .mark_point(
            shape="diamond",
            fill=PAPER,
            stroke=INK,
            size=100,
            strokeWidth=1.2,
            opacity=1,
            xOffset=offset,
        )
        .encode(color=alt.value(INK), **position)
    )


def interval_lines(base: alt.Chart, axis: str = "y", **mark: str) -> alt.Chart:
    """Make the layer of intervals, from the fields ``low`` and ``high`` of the base's data."""
    return (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.5, **mark)
        .encode(**{axis: "low:Q", f"{axis}2": "high:Q"})
    )


def side_by_side(
    x: alt.X, offset: alt.XOffset, shade: alt.Color, y: alt.Y, reference: float | None
) -> tuple[alt.Chart, ...]:
    """Make the layers of points with their intervals; points of one ``x`` stand side by side."""
    base = alt.Chart().encode(x=x, xOffset=offset, color=shade)
    points = base.mark_point(filled=True, size=46, opacity=1).encode(y=y)
    return reference_line(reference), interval_lines(base), points


def reference_line(value: float | None, axis: str = "y") -> alt.Chart:
    """Make the dashed line at the value of no change."""
    rule = alt.Chart().mark_rule(color=MUTED, strokeDash=[4, 3], strokeWidth=1)
    return rule.encode(**{axis: alt.datum(value)})
