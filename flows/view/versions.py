"""Gauges and bars of the versions of an entry, drawn as in the report."""

from typing import NamedTuple

from flows.view.snapshot import Snapshot
from flows.view.tables import Rows
from flows.view.verdicts import names_of_study, with_display_names
from warehouse.query.pages import Question
from warehouse.query.views import query
from warehouse.report.audit.facts import Row
from warehouse.report.audit.versions import Versions, bars_of_versions
from warehouse.report.gauges import Gauge, gauges_of

MOST_GAUGES = 24
"""Gates that are drawn, those of the newest versions; the command below them has all."""


class EntryVersions(NamedTuple):
    """Gates on the versions of an entry, and bars of its versions; the newest version first."""

    gauges: list[Gauge]
    gate_count: int
    """Number of gates with those that are not drawn."""
    sql: str
    """Command that lists all gates."""
    bars: Versions


def versions_of(snapshot: Snapshot, rows: Rows) -> EntryVersions | None:
    """Read the entry that a page of versions is about; None elsewhere, and if none was audited."""
    fixed_values = rows.address.fixed_values
    if (
        rows.page.name != "versions"
        or not {"study", "entry"} <= fixed_values.keys()
        or not rows.total
    ):
        return None
    study, values = fixed_values["study"], {name: fixed_values[name] for name in ("study", "entry")}
    gates = with_display_names(snapshot, study, snapshot.ask_query("gates", **values))
    responses = with_display_names(snapshot, study, snapshot.ask_query("history", **values))
    if not (gates or responses):
        return None  # a study without any run has no score
    bars: dict[str, list[Row]] = {}
    for row in responses:
        bars.setdefault(row.version, []).append(row)
    score = snapshot.score_of(study)
    return EntryVersions(
        gauges_of(gates[:MOST_GAUGES], score),
        len(gates),
        Question(query("view/gates"), values).command(snapshot.store.address),
        bars_of_versions(
            bars,
            names_of_study(snapshot, study),
            [gate for gate in gates if gate.verdict == "fail"],
            score,
        ),
    )
