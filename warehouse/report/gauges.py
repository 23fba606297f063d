"""Gates that did not pass as small pictures: what is allowed, what was found, and how surely."""

from typing import NamedTuple

from decaf.registry.messages import place_of
from warehouse.report.audit.facts import Facts, Row
from warehouse.report.audit.verdict import written

MOST_GAUGES = 12
"""Those that failed first; the table below has all of them."""
CHANGES = ("increase", "decrease")
"""Rules on a change from the version before; the others are on the value."""
UP_TO = ("increase", "at_most")
"""Rules that allow what lies below their limit; the others what lies above."""
MARGIN = 0.15
"""Of what is drawn, left and right of it."""


class Gauge(NamedTuple):
    """One row that a gate was asked about; places are of a hundred, from the left."""

    has_failed: bool
    entry: str
    metric: str
    place: str
    found: str
    limit: str
    interval: str
    answer: str
    allowed: tuple[float, float]
    """Where it begins, and how wide it is."""
    limit_at: float
    found_at: float
    lower_at: float
    upper_at: float
    zero_at: float | None
    """None unless a change of 0 is in the picture."""


def gauges_of(facts: Facts) -> list[Gauge]:
    """Gauges of the gates that failed, and of those without enough evidence."""
    measured = [
        row for row in facts.verdicts if row.found is not None and row.lower_limit is not None
    ]
    return [_gauge(facts, row) for row in measured[:MOST_GAUGES]]


def _gauge(facts: Facts, row: Row) -> Gauge:
    limit = -row.gate_limit if row.rule == "decrease" else row.gate_limit
    shown = (limit, row.found, row.lower_limit, row.upper_limit)
    shown += (0.0,) if row.rule in CHANGES else ()
    margin = MARGIN * (max(shown) - min(shown) or 1.0)
    start, end = min(shown) - margin, max(shown) + margin

    def at(value: float) -> float:
        return round(100 * (value - start) / (end - start), 2)

    def said(value: float) -> str:
        plus = "+" if value > 0 and row.rule in CHANGES else ""
        return plus + written(facts, value).replace("-", "−")

    has_failed = row.verdict == "fail"
    answer = f"beyond it by at least {written(facts, row.beyond_by)}" if has_failed else ""
    allowed = (0.0, at(limit)) if row.rule in UP_TO else (at(limit), round(100 - at(limit), 2))
    return Gauge(
        has_failed,
        f"{row.entry} {row.version}",
        row.metric.replace("_", " "),
        place_of(row._asdict()),
        said(row.found),
        said(limit),
        f"{row.level:.0%}: {said(row.lower_limit)} to {said(row.upper_limit)}",
        answer or "the limit lies inside the interval",
        allowed,
        at(limit),
        at(row.found),
        at(row.lower_limit),
        at(row.upper_limit),
        at(0.0) if row.rule in CHANGES else None,
    )
