"""Gates as small pictures: limit, value and interval."""

from typing import NamedTuple

from decaf.foundation.names import shown_name
from decaf.foundation.number_text import (
    limit_text,
    percent_text,
    score_text,
    signed_text,
    tick_text,
)
from decaf.registry.messages import place_of
from warehouse.report.audit.facts import Row, Rows
from warehouse.report.audit.reaudit import badge_of
from warehouse.report.pair_card import is_of_probability

MOST_GAUGES = 12
"""Largest number of gauges, failed gauges first; the table below has all gauges."""
CHANGES = ("increase", "decrease")
"""Rules on a change from the version before; the others are on the value."""
UP_TO = ("increase", "at_most")
"""Rules that allow values below their limit; the others allow values above it."""
MARGIN = 0.15
"""Margin on either side of a gauge, as a share of its range, if scores are not probabilities."""


class GaugeMarks(NamedTuple):
    """Positions of the marks of a gauge, in percent from the left."""

    allowed: tuple[float, float]
    """Start and width of the allowed range."""
    limit_at: float
    found_at: float
    lower_at: float
    upper_at: float
    ticks: tuple[tuple[float, str], ...]


class Gauge(NamedTuple):
    """One verdict row of a gate; ``drawn`` is None if nothing was measured."""

    badge: tuple[str, str]
    entry: str
    metric: str
    place: str
    answer: str
    """Distance of the interval beyond the limit, or the reason for a missing answer."""
    allowed: str
    value: str
    interval: str
    drawn: GaugeMarks | None


def gauges_of(rows: Rows, score: str) -> list[Gauge]:
    """Gauges of rows of ``core_gates``; ``score`` is the definition of the scores in JSON."""
    return [_gauge(row, score) for row in rows]


def _gauge(row: Row, score: str) -> Gauge:
    is_measured = row.found is not None and row.lower_limit is not None
    text = signed_text if row.rule in CHANGES else score_text
    sign = "" if row.rule not in CHANGES else "−" if row.rule == "decrease" else "+"
    bound = "at most" if row.rule in UP_TO else "at least"
    answers = {
        "fail": f"beyond it by at least {score_text(row.beyond_by)}",
        "undecided": "the limit lies inside the interval",
    }
    level = f"{percent_text(row.level)}: " if row.level is not None else ""
    return Gauge(
        badge_of(row.verdict),
        f"{row.entry} {row.version}",
        shown_name(row.metric, {}) + (f": {row.rule}" if row.rule in CHANGES else ""),
        place_of(row._asdict()),
        answers.get(row.verdict, "") if is_measured else row.reason or "nothing was measured",
        f"{bound} {sign}{limit_text(row.gate_limit)}",
        text(row.found),
        f"{level}{text(row.lower_limit)} to {text(row.upper_limit)}" if is_measured else "",
        _place_marks(row, score) if is_measured else None,
    )


def _place_marks(row: Row, score: str) -> GaugeMarks:
    limit = -row.gate_limit if row.rule == "decrease" else row.gate_limit
    shown = (limit, row.found, row.lower_limit, row.upper_limit)
    start, end = (-1.0, 1.0) if row.rule in CHANGES else (0.0, 1.0)
    if not is_of_probability(score) or min(shown) < start or max(shown) > end:
        margin = MARGIN * (max(shown) - min(shown) or 1.0)
        start, end = min(shown) - margin, max(shown) + margin

    def at(value: float) -> float:
        return round(100 * (value - start) / (end - start), 2)

    allowed = (0.0, at(limit)) if row.rule in UP_TO else (at(limit), round(100 - at(limit), 2))
    middle = (start + end) / 2
    return GaugeMarks(
        allowed,
        at(limit),
        at(row.found),
        at(row.lower_limit),
        at(row.upper_limit),
        tuple((at(value), tick_text(value)) for value in (start, middle, end)),
    )
