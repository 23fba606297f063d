"""Tables and pictures of a registry: verdicts, drift, roles and the history of its models."""

import altair as alt

from decaf.foundation.number_text import MISSING, signed_text
from decaf.registry.messages import AGAINST, place_of, verdict_text
from warehouse.report.audit.facts import COMPONENTS, Facts, Row, Rows
from warehouse.report.audit.figures import RESPONSE
from warehouse.report.cells import Cell, Table, with_interval
from warehouse.report.svg import Picture, colour_scale, header, svg_element

MAX_PANELS = 12
"""Most models whose history is drawn: those with the most versions."""

LIMITS = ("lowest_allowed", "highest_allowed")
HISTORY = ("entry", "pair_type", "path", "resolved_at", "version", "change")
DRIFT = (
    "Each version is compared with the last that passed or was accepted, or with that of "
    "'compare_with:', and with the previous version if that is another one. Changes are paired "
    "over the trajectories that both versions have; the same sources are drawn for both and for "
    "all models. Rows are those whose adjusted p is at most 0.05 (Benjamini and Hochberg), so at "
    "most about 5 % of them are expected to be false discoveries."
)


def registry_tables(facts: Facts) -> list[Table]:
    """Tables of the newest re-audit that have rows; standing failures come first."""

    def verdict(row: Row) -> Cell:
        return Cell(verdict_text(row.verdict, row.state) or MISSING)

    def of(row: Row) -> Cell:
        return Cell(place_of(row._asdict()))

    def found_cell(row: Row) -> Cell:
        return with_interval(row.found, row.lower_limit, row.upper_limit)

    def versions(row: Row) -> Cell:
        return Cell(row.entry, f"{row.version_before} → {row.version}")

    def against(row: Row) -> Cell:
        return Cell(AGAINST[row.against])

    def change(row: Row) -> Cell:
        return with_interval(row.change, row.change_lower, row.change_upper, signed_text)

    def value(row: Row) -> Cell:
        return with_interval(row.value, row.lower_limit, row.upper_limit)

    def acceptance_cell(row: Row) -> Cell:
        if row.accepted_at is None:
            return Cell("no: it stands")
        return Cell(f"{row.accepted_at:%Y-%m-%d %H:%M}, {row.accepted_by}", row.why)

    failed = "All verdicts"
    moved = {"entry": versions, "of": of, "against": against, "change": change}
    tables = [
        facts.table("standing", "Failed verdicts, since when", accepted=acceptance_cell),
        facts.table("entries", "The newest re-audit", verdict=verdict),
        facts.table("verdicts", failed, of=of, found=found_cell),
        facts.table("drift", "What moved", DRIFT, **moved),
        facts.table("roles", "Pairs whose role changed", entry=versions, against=against),
        facts.metric_table("history", "Versions and dates", HISTORY, value),
    ]
    return [table for table in tables if table.rows]


def history_pictures(facts: Facts) -> list[Picture]:
    """E, C and F over dates, one panel per model that had several versions, by pair type.

    Ticks mark the limits of the gates for each version.
    """
    history = [row for row in facts.history if row.metric in COMPONENTS]
    versions: dict[str, set[str]] = {}
    for row in history:
        versions.setdefault(row.entry, set()).add(row.version)
    several = [entry for entry, entry_versions in versions.items() if len(entry_versions) > 1]
    shown = sorted(several, key=lambda entry: (-len(versions[entry]), entry))[:MAX_PANELS]
    pictures = []
    for pair_type in sorted({row.pair_type for row in history}):
        rows_of_type = [row for row in history if row.pair_type == pair_type]
        path = rows_of_type[0].path
        rows = [row for row in rows_of_type if row.entry in shown and row.path == path]
        if rows:
            title = f"{pair_type}, {path}: versions and dates"
            pictures.append(Picture(title, _history_panels(rows, title)))
    return pictures


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
        *(base.mark_tick(size=22, thickness=1.5).encode(y=f"{limit}:Q") for limit in LIMITS),
    ).properties(width=270, height=150)
    facet = alt.Facet("entry:N", title=None, header=header())
    chart = panel.facet(facet, columns=3, data=alt.Data(values=values))
    return svg_element(chart, label)
