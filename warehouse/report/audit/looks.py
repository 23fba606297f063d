"""Show how far an early-stopped study was scored, and how its bounds narrowed."""

from typing import NamedTuple

import altair as alt

from decaf.errors import number_of
from decaf.foundation.number_text import count_text, limit_text, percent_text
from decaf.registry.messages import place_of
from warehouse.report.audit.facts import Facts, Row, Rows
from warehouse.report.audit.reaudit import badge_of
from warehouse.report.cells import Cell, Table, with_interval
from warehouse.report.svg import INK, MUTED, Picture, header, svg_element

MOST_PANELS = 12
"""Most rules to plot: those that needed the most sources."""
PANELS_PER_ROW = 3
WIDTH = "half_width"
"""Name of the rule on the width of an interval; its limit is a width, not a value."""
UNDECIDED = "undecided"


class RuleProgress(NamedTuple):
    """Progress of one rule: the sources scored until it was decided, or so far."""

    badge: tuple[str, str]
    subject: str
    """Metric, pair type and path."""
    limit: str
    """Entry, rule and its limit."""
    percent: float
    """Percentage of the planned sources."""
    status: str
    """Number of sources, and whether the rule is decided."""


def list_rule_progress(facts: Facts) -> list[RuleProgress]:
    """Progress of the rules that needed the most sources, undecided rules first."""
    last = [row for row in facts.looks if row.is_last]
    slowest = sorted(last, key=lambda row: (row.verdict != UNDECIDED, -row.source_count))
    return [_rule_progress(row) for row in slowest[:MOST_PANELS]]


def _rule_progress(row: Row) -> RuleProgress:
    is_decided = row.verdict != UNDECIDED
    sources = count_text(row.source_count)
    is_narrow = is_decided and row.rule == WIDTH
    return RuleProgress(
        ("none", "✓ Narrow enough") if is_narrow else badge_of(row.verdict),
        f"{row.metric.replace('_', ' ')} on {place_of(row._asdict())}",
        f"{row.entry} · {row.rule.replace('_', ' ')} {limit_text(row.gate_limit)}",
        round(100 * row.source_count / row.planned_source_count, 2),
        f"decided after {sources} sources" if is_decided else f"undecided after {sources}",
    )


def stops_title(facts: Facts) -> str:
    """Title: unscored sources if one model stopped early, else the number of such models."""
    if len(facts.stops) == 1:
        (stop,) = facts.stops
        unscored_count = count_text(stop.planned_source_count - stop.source_count)
        return (
            f"{unscored_count} of {count_text(stop.planned_source_count)} sources were not scored"
        )
    if facts.stops:
        return f"{len(facts.stops)} of {len(facts.models)} models were not scored to the end"
    return "Every model was scored to the end"


def stops_lead(facts: Facts) -> str:
    """State how many rules are decided, and how many of them by half of the sources.

    Empty if no look was recorded.
    """
    last = [row for row in facts.looks if row.is_last]
    decided_rows = [row for row in last if row.verdict != UNDECIDED]
    early = sum(2 * row.source_count <= row.planned_source_count for row in decided_rows)
    if not last:
        return ""
    return (
        f"{len(decided_rows)} of {number_of(len(last), 'rule')} decided, {early} after at most "
        "half of the sources."
    )


def look_tables(facts: Facts) -> list[Table]:
    """Tables of the models that were not scored to the end, and of the last look at each rule."""
    last = facts._replace(looks=tuple(row for row in facts.looks if row.is_last))

    def of(row: Row) -> Cell:
        return Cell(place_of(row._asdict()))

    def found_cell(row: Row) -> Cell:
        shown = with_interval(row.found, row.lower_limit, row.upper_limit)
        return Cell(shown.text, f"{shown.note} at {percent_text(row.level)}")

    tables = [
        facts.table("stops", "Models that were not scored to the end"),
        last.table("looks", "Last look at each rule", of=of, found=found_cell),
    ]
    return [table for table in tables if table.rows]


def look_pictures(facts: Facts) -> list[Picture]:
    """Bounds over the sources that were scored, one panel for each of the slowest rules."""
    rules: dict[tuple[str, ...], list[Row]] = {}
    for row in facts.looks:
        name = row.rule.replace("_", " ")
        of = (row.entry, f"{row.metric.replace('_', ' ')}, {place_of(row._asdict())}")
        rules.setdefault((*of, f"{name} {limit_text(row.gate_limit)}"), []).append(row)
    several = {name: rule_rows for name, rule_rows in rules.items() if len(rule_rows) > 1}
    slowest = sorted(several, key=lambda name: (-several[name][-1].source_count, name))
    shown = {name: tuple(several[name]) for name in slowest[:MOST_PANELS]}
    if not shown:
        return []
    title = "Bounds on the result for all sources, by number of sources scored"
    hidden_count = len(several) - len(shown)
    note = (
        f"The {len(shown)} rules that needed the most sources; {hidden_count} more are not shown."
        if hidden_count
        else ""
    )
    return [Picture(title, _panels(shown, title), note)]


def _panels(rules: dict[tuple[str, ...], Rows], label: str) -> str:
    values = [
        {
            "rule": "\n".join(name),
            "seen": row.source_count,
            "found": row.found,
            "lower": row.lower_limit,
            "upper": row.upper_limit,
            "limit": None if row.rule == WIDTH else limit_of(row),
        }
        for name, rule_rows in rules.items()
        for row in rule_rows
    ]
    base = alt.Chart().encode(x=alt.X("seen:Q", title="sources", axis=alt.Axis(tickCount=4)))
    value = alt.Y("found:Q", title="score units, or a share")
    panel = alt.layer(
        base.mark_area(opacity=0.18, color=INK).encode(y="lower:Q", y2="upper:Q"),
        base.mark_line(strokeWidth=1.5, color=INK).encode(y=value),
        alt.Chart().mark_rule(strokeDash=[4, 3], color=MUTED).encode(y="limit:Q"),
    ).properties(width=270, height=130)
    titles = header().copy()
    titles.labelExpr, titles.labelLimit = "split(datum.label, '\\n')", 270
    facet = alt.Facet("rule:N", title=None, header=titles, sort=["\n".join(n) for n in rules])
    chart = panel.facet(facet, columns=PANELS_PER_ROW, data=alt.InlineData(values=values))
    return svg_element(chart.resolve_scale(x="independent", y="independent"), label)


def limit_of(row: Row) -> float:
    """Limit of a gate as plotted: negative for ``decrease``, because the gate limits a fall."""
    return -row.gate_limit if row.rule == "decrease" else row.gate_limit
