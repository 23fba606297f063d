"""Judge the changed entries of a registry by the gates, and summarise a re-audit."""

from typing import Any

import pyarrow as pa

from decaf.plan.expectations import kinds_of
from decaf.plan.study import Study
from decaf.registry.gates import DriftRow, Judged, judge, on_pair_types
from tasks.reaudit.comparisons import (
    against,
    doubt_responses,
    keep_failures,
    leave_undecided,
    settle_changes,
)
from tasks.reaudit.recorded import RecordedReaudit, newest_reaudit
from tasks.reaudit.standing import list_standing, list_undecided, rows_of
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.storage import Storage
from warehouse.tables.declarations import TABLES

VERDICTS = "verdicts"
COLUMNS = (
    *("entry", "metric", "rule", "pair_type", "path", "variant", "gate_limit", "level", "found"),
    *("lower_limit", "upper_limit", "verdict", "reason"),
)
"""Columns of the fields of :class:`Judged`, in their order."""
REPLICATES, SEED = 2000, 91702
FALSE_DISCOVERY_RATE = 0.05
"""Expected share of false rows among those that are reported as drift."""
SHOWN_PAIRS = 20
"""Most pairs of one change of role that an alert lists; the view has all pairs."""

DRIFT = """
WITH changed_entries AS (
    FROM core_entry_versions
    WHERE study = $study AND is_newest AND is_changed AND against IN ($against, 'another_entry')
    QUALIFY count(*) OVER (PARTITION BY entry) = 1 OR against = 'another_entry'
)
SELECT drift.g.entry, drift.g.pair_type, drift.g.path, drift.g.variant, drift.g.metric, level,
    value_before, value, lower_limit, upper_limit, drift.change, change_lower, change_upper,
    p_value, p_adjusted, reason, source_count
FROM drift_of('changed_entries', $replicates, $seed, $levels) AS drift
JOIN changed_entries ON changed_entries.entry = drift.g.entry
ORDER BY ALL
"""


def judge_newest(store: Storage, study: Study) -> None:
    """Judge the newest re-audit of a study and commit the verdicts, once.

    `settle_changes` decides limits on a change that lack a comparison. Does nothing without a
    re-audit.
    """
    recorded = newest_reaudit(store, study.study)
    if recorded is None or receipts.exists(store, VERDICTS, study.study, recorded.reaudit_id):
        return
    reaudit_id = recorded.reaudit_id
    gates = on_pair_types(study.gates, kinds_of(study.expect))
    judged = read_looks(store, study.study, recorded) if study.stop else []
    if gates and not judged:
        judged = judge(gates, drift(store, study))
    judged = leave_undecided(study, recorded, settle_changes(store, study, judged))
    judged = doubt_responses(store, study, judged)
    judged = keep_failures(store, study, recorded, judged)
    rows = [
        {"reaudit_id": reaudit_id, "position": position} | dict(zip(COLUMNS, verdict, strict=True))
        for position, verdict in enumerate(judged)
    ]
    table = pa.Table.from_pylist(rows, schema=TABLES["gate_verdicts"].schema)
    commit(store, VERDICTS, study.study, reaudit_id, {"gate_verdicts": table})


def read_looks(store: Storage, study: str, recorded: RecordedReaudit) -> list[Judged]:
    """Verdicts of the looks of the newest re-audit's run; empty unless it could stop early."""
    runs = {row["run_id"] for row in recorded.rows.values() if row["run_id"]}
    with connect_whole(store, study) as connection:
        return [
            Judged(*row)
            for run_id in sorted(runs)
            for row in connection.execute(
                query("looks/judged"), {"study": study, "run_id": run_id}
            ).fetchall()
        ]


def drift(store: Storage, study: Study) -> list[DriftRow]:
    """Drift of each changed entry of the newest re-audit, at the levels of the gates."""
    levels = sorted({gate.confidence for gates in study.gates.values() for gate in gates})
    values = {"study": study.study, "replicates": REPLICATES, "seed": SEED, "levels": levels}
    values["against"] = against(study)
    # With several threads, the last bits of sums differ, which could change a verdict.
    with connect_whole(store, study.study, threads=1) as connection:
        return [DriftRow(*row) for row in connection.sql(DRIFT, params=values).fetchall()]


def summary(store: Storage, study: Study) -> dict[str, Any]:
    """Summary of the newest re-audit of a study for JSON: entries, verdicts, drift, roles."""
    with connect_whole(store, study.study) as connection:
        entries = rows_of(connection, "FROM out_entries WHERE study = $study", study=study.study)
        drift = rows_of(
            connection,
            "FROM out_drift WHERE study = $study AND p_adjusted <= $rate",
            study=study.study,
            rate=FALSE_DISCOVERY_RATE,
        )
        roles = rows_of(
            connection,
            "SELECT * REPLACE (pair_ids[:$shown] AS pair_ids) "
            "FROM out_role_changes WHERE study = $study",
            study=study.study,
            shown=SHOWN_PAIRS,
        )
    return {
        "study": study.study,
        "reaudit_id": entries[0]["reaudit_id"],
        "resolved_at": entries[0]["resolved_at"],
        "entries": entries,
        "standing": list_standing(store, study.study),
        "undecided": list_undecided(store, study),
        "drift": drift,
        "role_changes": roles,
    }
