"""Tables and pictures of a registry: verdicts, drift, roles and the history of its models."""

from collections.abc import Iterable

import altair as alt

from warehouse.report.audit.columns import METRIC_COLUMNS, PAIR_TYPE, PATH
from warehouse.report.cells import (
    MISSING,
    Cell,
    Column,
    Table,
    count,
    percent,
    runnable,
    score,
    score_decimals,
)
from warehouse.report.registry.facts import (
    Drift,
    GateRow,
    HistoryPoint,
    RegistryEntry,
    RegistryFacts,
    RoleChange,
)
from warehouse.report.svg import Picture, colour_scale, header, svg_element

ENTRY = Column("Model", is_number=False)
OF = Column("Of", meaning="Pairs and path, or kind of clean image", is_number=False)
METRIC = Column("Column", is_number=False)
COMPONENTS = ("evidence", "contradiction", "fragility")
MAX_PANELS = 12
"""Models whose history is drawn; those with the most versions."""


def registry_tables(registry: RegistryFacts, study: str) -> list[Table]:
    """Tables of the newest re-audit that have rows, the verdicts first."""
    decimals = score_decimals(
        value for row in registry.history for value in (row.value, row.upper_limit)
    )
    tables = [
        _entries(registry.entries, study),
        _verdicts(registry.verdicts, study, decimals),
        _drift(registry.drift, study, decimals),
        _roles(registry.roles, study),
        _history(registry.history, study, decimals),
    ]
    return [table for table in tables if table.rows]


def history_pictures(registry: RegistryFacts) -> list[Picture]:
    """E, C and F over dates, one panel per model that had several versions, by pair type."""
    versions: dict[str, set[str]] = {}
    for row in registry.history:
        versions.setdefault(row.entry, set()).add(row.version)
    several = [entry for entry, found in versions.items() if len(found) > 1]
    shown = sorted(several, key=lambda entry: (-len(versions[entry]), entry))[:MAX_PANELS]
    pictures = []
    for pair_type in sorted({row.pair_type for row in registry.history}):
        own = [row for row in registry.history if row.pair_type == pair_type]
        path = next((row.path for row in own), "")
        rows = [row for row in own if row.entry in shown and row.path == path]
        if rows:
            title = f"{pair_type}, path {path}: versions and dates"
            pictures.append(Picture(title, _history_panels(rows, title)))
    return pictures


def _entries(entries: Iterable[RegistryEntry], study: str) -> Table:
    columns = (
        ENTRY,
        Column("Version", is_number=False),
        Column("Before", meaning="Version that it is compared with", is_number=False),
        Column("Change", meaning="What became another since it was audited last", is_number=False),
        Column("Verdict", meaning="Of all its gates: the worst", is_number=False),
        Column("Note", is_number=False),
    )
    rows = tuple(
        (
            Cell(row.entry, row.model_id or ""),
            Cell(row.version),
            Cell(row.version_before or MISSING),
            Cell(row.change),
            Cell(row.verdict or (MISSING if row.state == "audited" else row.state)),
            Cell(row.problem or ""),
        )
        for row in entries
    )
    return Table("The newest re-audit", columns, rows, runnable(RegistryEntry.query, study))


def _verdicts(verdicts: Iterable[GateRow], study: str, decimals: int) -> Table:
    columns = (
        ENTRY,
        Column("Verdict", is_number=False),
        METRIC,
        OF,
        Column("Rule", is_number=False),
        Column("Limit"),
        Column("Found", meaning="With its interval at the level of the gate"),
    )
    rows = tuple(
        (
            Cell(row.entry, row.version),
            Cell(row.verdict, row.reason or ""),
            Cell(row.metric),
            Cell(_of(row)),
            Cell(row.rule.replace("_", " ")),
            Cell(f"{row.gate_limit:g}"),
            _with_interval(row.found, row.lower_limit, row.upper_limit, decimals),
        )
        for row in verdicts
    )
    title = "Gates that failed, or had not enough evidence"
    return Table(title, columns, rows, runnable(GateRow.query, study))


def _drift(drift: Iterable[Drift], study: str, decimals: int) -> Table:
    columns = (
        ENTRY,
        METRIC,
        OF,
        Column("Before"),
        Column("Now"),
        Column("Change", "95% interval"),
        Column("Adjusted p", meaning="Rate of false discoveries at which the row is one"),
    )
    rows = tuple(
        (
            Cell(row.entry, f"{row.version_before} → {row.version}"),
            Cell(row.metric),
            Cell(_of(row)),
            Cell(score(row.value_before, decimals)),
            Cell(score(row.value, decimals)),
            _with_interval(row.change, row.change_lower, row.change_upper, decimals),
            Cell(MISSING if row.p_adjusted is None else f"{row.p_adjusted:.3f}"),
        )
        for row in drift
    )
    note = (
        "Paired over the trajectories that both versions have; the same sources are drawn for both "
        "and for all models. Rows are those whose adjusted p is 0.05 at most (Benjamini and "
        "Hochberg): of all of them, 5% are expected to be no change."
    )
    return Table("What moved", columns, rows, runnable(Drift.query, study), note)


def _roles(roles: Iterable[RoleChange], study: str) -> Table:
    columns = (
        ENTRY,
        PAIR_TYPE,
        PATH,
        Column("From", is_number=False),
        Column("To", is_number=False),
        Column("Trajectories", "count"),
        Column("Share"),
        Column("Pairs", "the first five", is_number=False),
    )
    rows = tuple(
        (
            Cell(row.entry),
            Cell(row.pair_type),
            Cell(row.path),
            Cell(row.role_before),
            Cell(row.role_now),
            Cell(count(row.trajectory_count)),
            Cell(percent(row.frac)),
            Cell(", ".join(row.pair_ids)),
        )
        for row in roles
    )
    title = "Pairs whose role changed"
    return Table(title, columns, rows, runnable(RoleChange.query, study))


def _history(history: Iterable[HistoryPoint], study: str, decimals: int) -> Table:
    points: dict[tuple, dict[str, Cell]] = {}
    for row in history:
        of = (row.entry, row.pair_type, row.path, row.resolved_at, row.version, row.change)
        cell = _with_interval(row.value, row.lower_limit, row.upper_limit, decimals)
        points.setdefault(of, {})[row.metric] = cell
    columns = (
        ENTRY,
        PAIR_TYPE,
        PATH,
        Column("Date", is_number=False),
        Column("Version", is_number=False),
        Column("Change", is_number=False),
        *(METRIC_COLUMNS[metric]._replace(unit="95% interval") for metric in COMPONENTS),
    )
    rows = tuple(
        (
            *(Cell(text) for text in (entry, pair_type, path)),
            *(Cell(text) for text in (f"{at:%Y-%m-%d %H:%M}", version, change)),
            *(cells.get(metric, Cell(MISSING)) for metric in COMPONENTS),
        )
        for (entry, pair_type, path, at, version, change), cells in points.items()
    )
    return Table("Versions and dates", columns, rows, runnable(HistoryPoint.query, study))


def _of(row: GateRow | Drift) -> str:
    return row.variant or f"{row.pair_type}, {row.path}"


def _with_interval(
    value: float | None, lower: float | None, upper: float | None, decimals: int
) -> Cell:
    if lower is None or upper is None:
        return Cell(score(value, decimals))
    return Cell(score(value, decimals), f"[{score(lower, decimals)}, {score(upper, decimals)}]")


def _history_panels(rows: list[HistoryPoint], label: str) -> str:
    values = [
        {
            "entry": row.entry,
            "at": f"{row.resolved_at:%Y-%m-%dT%H:%M:%S}",
            "metric": row.metric,
            "value": row.value,
            "lower": row.lower_limit,
            "upper": row.upper_limit,
        }
        for row in rows
    ]
    colours = colour_scale("metric:N", {metric: metric for metric in COMPONENTS})
    x = alt.X("at:T", title=None, axis=alt.Axis(tickCount=4))
    base = alt.Chart().encode(x=x, color=colours)
    value = alt.Y("value:Q", title="mean response, score units")
    panel = alt.layer(
        base.mark_rule(strokeWidth=1.5).encode(y="lower:Q", y2="upper:Q"),
        base.mark_line(strokeWidth=1.5).encode(y=value),
        base.mark_point(filled=True, size=40, opacity=1).encode(y=value),
    ).properties(width=270, height=150)
    facet = alt.Facet("entry:N", title=None, header=header())
    chart = panel.facet(facet, columns=3, data=alt.Data(values=values))
    return svg_element(chart, label)
