"""Tables and pictures of a registry: verdicts, drift, roles and the history of its models."""

import altair as alt

from warehouse.report.audit.columns import PAIR_TYPE, PATH, line_field, line_metric, lines_by_metric
from warehouse.report.audit.facts import COMPONENTS, Facts, Row, Rows
from warehouse.report.audit.figures import RESPONSE
from warehouse.report.cells import (
    MISSING,
    Cell,
    Column,
    Field,
    Table,
    count,
    field,
    percent,
    score,
    score_decimals,
    table,
    with_interval,
)
from warehouse.report.svg import Picture, colour_scale, header, svg_element

MAX_PANELS = 12
"""Models whose history is drawn; those with the most versions."""

ENTRY = field("entry", "Model")
METRIC = field("metric", "Column")
OF = Field(
    Column("Of", meaning="Pairs and path, or kind of clean image", is_number=False),
    lambda row: Cell(row.variant or f"{row.pair_type}, {row.path}"),
)
ENTRIES = (
    field("entry", "Model", note="model_id"),
    field("version", "Version"),
    field("version_before", "Before", meaning="Version that it is compared with"),
    field("change", "Change", meaning="What became another since it was audited last"),
    Field(
        Column("Verdict", meaning="Of all its gates: the worst", is_number=False),
        lambda row: Cell(row.verdict or (MISSING if row.state == "audited" else row.state)),
    ),
    field("problem", "Note", write=lambda problem: problem or "", is_number=False),
)
ROLES = (
    ENTRY,
    PAIR_TYPE,
    PATH,
    field("role_before", "From"),
    field("role_now", "To"),
    field("trajectory_count", "Trajectories", "count", write=count),
    field("frac", "Share", write=percent),
    field("pair_ids", "Pairs", "the first five", write=", ".join, is_number=False),
)


def registry_tables(facts: Facts) -> list[Table]:
    """Tables of the newest re-audit that have rows, the verdicts first."""
    decimals = score_decimals(
        value for row in facts.history for value in (row.value, row.upper_limit)
    )
    tables = [
        facts.table("entries", "The newest re-audit", ENTRIES),
        _verdicts(facts, decimals),
        _drift(facts, decimals),
        facts.table("roles", "Pairs whose role changed", ROLES),
        _history(facts, decimals),
    ]
    return [table for table in tables if table.rows]


def history_pictures(facts: Facts) -> list[Picture]:
    """E, C and F over dates, one panel per model that had several versions, by pair type."""
    versions: dict[str, set[str]] = {}
    for row in facts.history:
        versions.setdefault(row.entry, set()).add(row.version)
    several = [entry for entry, own in versions.items() if len(own) > 1]
    shown = sorted(several, key=lambda entry: (-len(versions[entry]), entry))[:MAX_PANELS]
    pictures = []
    for pair_type in sorted({row.pair_type for row in facts.history}):
        own = [row for row in facts.history if row.pair_type == pair_type]
        path = own[0].path
        rows = [row for row in own if row.entry in shown and row.path == path]
        if rows:
            title = f"{pair_type}, path {path}: versions and dates"
            pictures.append(Picture(title, _history_panels(rows, title)))
    return pictures


def _verdicts(facts: Facts, decimals: int) -> Table:
    fields = (
        field("entry", "Model", note="version"),
        field("verdict", "Verdict", note="reason"),
        METRIC,
        OF,
        field("rule", "Rule", write=lambda rule: rule.replace("_", " "), is_number=False),
        field("gate_limit", "Limit", write="{:g}".format),
        Field(
            Column("Found", meaning="With its interval at the level of the gate"),
            lambda row: with_interval(row.found, row.lower_limit, row.upper_limit, decimals),
        ),
    )
    return facts.table("verdicts", "Gates that failed, or had not enough evidence", fields)


def _drift(facts: Facts, decimals: int) -> Table:
    def in_scores(value: float | None) -> str:
        return score(value, decimals)

    fields = (
        Field(ENTRY.column, lambda row: Cell(row.entry, f"{row.version_before} → {row.version}")),
        METRIC,
        OF,
        field("value_before", "Before", write=in_scores),
        field("value", "Now", write=in_scores),
        Field(
            Column("Change", "95% interval"),
            lambda row: with_interval(row.change, row.change_lower, row.change_upper, decimals),
        ),
        field(
            "p_adjusted",
            "Adjusted p",
            meaning="Rate of false discoveries at which the row is one",
            write="{:.3f}".format,
        ),
    )
    note = (
        "Paired over the trajectories that both versions have; the same sources are drawn for both "
        "and for all models. Rows are those whose adjusted p is 0.05 at most (Benjamini and "
        "Hochberg): of all of them, 5% are expected to be no change."
    )
    return facts.table("drift", "What moved", fields, note)


def _history(facts: Facts, decimals: int) -> Table:
    def cell(row: Row) -> Cell:
        return with_interval(row.value, row.lower_limit, row.upper_limit, decimals)

    of_line = (
        ENTRY,
        PAIR_TYPE,
        PATH,
        field("resolved_at", "Date", write="{:%Y-%m-%d %H:%M}".format, is_number=False),
        field("version", "Version"),
        field("change", "Change"),
    )
    fields = (
        *map(line_field, of_line),
        *(line_metric(metric, "95% interval", cell) for metric in COMPONENTS),
    )
    keys = ("entry", "pair_type", "path", "resolved_at", "version", "change")
    lines = lines_by_metric(facts.history, *keys)
    return table("Versions and dates", fields, lines, facts.runnable("history"))


def _history_panels(rows: Rows, label: str) -> str:
    values = [
        row._asdict() | {"resolved_at": f"{row.resolved_at:%Y-%m-%dT%H:%M:%S}"} for row in rows
    ]
    colours = colour_scale("metric:N", {metric: metric for metric in COMPONENTS})
    x = alt.X("resolved_at:T", title=None, axis=alt.Axis(tickCount=4))
    base = alt.Chart().encode(x=x, color=colours)
    value = alt.Y("value:Q", title=RESPONSE)
    panel = alt.layer(
        base.mark_rule(strokeWidth=1.5).encode(y="lower_limit:Q", y2="upper_limit:Q"),
        base.mark_line(strokeWidth=1.5).encode(y=value),
        base.mark_point(filled=True, size=40, opacity=1).encode(y=value),
    ).properties(width=270, height=150)
    facet = alt.Facet("entry:N", title=None, header=header())
    chart = panel.facet(facet, columns=3, data=alt.Data(values=values))
    return svg_element(chart, label)
