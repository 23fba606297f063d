"""The paper's own values in the report's pictures: which figure one is, and what may be marked."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import altair as alt

from decaf.library.plots import COLOURS
from warehouse.report.paper.reading import Paper, PaperRow, PaperTable
from warehouse.report.svg import INK, MUTED, PAPER, colour

Mark = TypeVar("Mark")
FIGURE = re.compile(r"\b(?:figure|table) \d+[a-z]?\b")
END = "max(datum.value, datum.high || datum.value, datum.published || datum.value)"
"""Expression for where what is drawn of a row ends: its value is written beyond."""
INTERVALS = "Lines are 95 % intervals."
MARKS = "Hollow diamonds are the paper's values."
DATA = {True: "", False: ", on other data", None: ", on data of which nothing is known"}
"""What a caption says of the data, by whether values of the paper are of the same."""


def told_apart(names: Sequence[str], marks: Sequence[Mark]) -> tuple[list[str], list[Mark]]:
    """Give every name a colour and a mark, such as a dash or a shape, that no other name has.

    The four colours are told apart in light and dark mode and with any colour vision; from the
    fifth name on they come again with the next mark, and marks only after the last of them.
    Metrics among themselves have their own colours.

    Examples
    --------
    >>> told_apart(["fragility", "evidence"], ["o"])
    (['var(--fragility, #dba021)', 'var(--evidence, #0f7b80)'], ['o', 'o'])
    >>> shades, marks = told_apart("abcdefgh", ["o", "x"])
    >>> shades[:4] == shades[4:], "".join(marks)
    (True, 'ooooxxxx')
    """
    metrics, count = list(COLOURS), len(COLOURS)
    shown = names if set(names) <= COLOURS.keys() else (metrics * len(names))[: len(names)]
    turns = (place // count % len(marks) for place in range(len(names)))
    return [colour(metric) for metric in shown], [marks[turn] for turn in turns]


def rows_to_draw(paper: Paper, table: PaperTable) -> tuple[PaperRow, ...]:
    """Rows of a table, with the paper's values only where they compare with the study's.

    A mark has no room for a word: beside other data it would be read as the target.
    """
    if paper.is_comparable(table):
        return table.rows
    return tuple(row._replace(published=None) for row in table.rows)


def drawn_values(
    rows: Iterable[PaperRow], **columns: Callable[[PaperRow], Any]
) -> list[dict[str, Any]]:
    """Data of a picture: estimates that there are, with intervals, and what each is of.

    Columns are made of a row, or go over those that say what it is of.
    """
    return [
        {
            **row.of,
            "value": row.estimate,
            "low": row.lower_95,
            "high": row.upper_95,
            "published": row.published,
            **{name: column(row) for name, column in columns.items()},
        }
        for row in rows
        if row.estimate is not None
    ]


def captioned(title: str, paper: Paper, table: PaperTable, place: str = "") -> str:
    """Add to a picture's title which figure of the paper it is, and whether of other data.

    The place is the table's first one unless it is given.
    """
    figure = FIGURE.search(place or table.paper)
    known = DATA[paper.is_comparable(table)]
    return f"{title} (the paper's {figure[0]}{known})" if figure else title


def with_marks(note: str, rows: Iterable[PaperRow]) -> str:
    """Add to a picture's note what its marks are, where the rows that it draws have any."""
    is_marked = any(row.published is not None for row in rows)
    return " ".join(filter(None, (note, MARKS if is_marked else "")))


def marks(base: alt.Chart, **position: str) -> alt.Chart:
    """Make the layer of the paper's values, from the field ``published`` of the base's data.

    Hollow marks have the colour of the paper inside, so that they can be seen on a bar.
    """
    return (
        base.transform_filter("isValid(datum.published)")
        .mark_point(shape="diamond", fill=PAPER, stroke=INK, size=100, strokeWidth=1.2, opacity=1)
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
    """Make the layers of points with their intervals, those of one ``x`` beside each other."""
    base = alt.Chart().encode(x=x, xOffset=offset, color=shade)
    points = base.mark_point(filled=True, size=46, opacity=1).encode(y=y)
    return reference_line(reference), interval_lines(base), points


def reference_line(value: float | None, axis: str = "y") -> alt.Chart:
    """Make the dashed line of what no change looks like."""
    rule = alt.Chart().mark_rule(color=MUTED, strokeDash=[4, 3], strokeWidth=1)
    return rule.encode(**{axis: alt.datum(value)})
