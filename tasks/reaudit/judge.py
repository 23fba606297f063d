"""Judge what changed in a registry by the gates, and summarise it."""

from typing import Any

import pyarrow as pa

from decaf.plan.study import Study
from decaf.registry.entries import Finding
from decaf.registry.gates import VERDICTS as VERDICTS_OF_GATES
from decaf.registry.gates import DriftRow, Judged, judge
from tasks.reaudit.plan import AUDITED, FAILED, NONE, newest
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.query.damage import connect_whole
from warehouse.storage import Root
from warehouse.tables.declarations import TABLES

VERDICTS = "verdicts"
COLUMNS = (
    *("entry", "metric", "rule", "pair_type", "path", "variant", "gate_limit", "level", "found"),
    *("lower_limit", "upper_limit", "verdict", "reason"),
)
"""Where the fields of :class:`Judged` are stored."""
REPLICATES, SEED = 2000, 91702
FALSE_DISCOVERY_RATE = 0.05
"""Of the rows that are reported as drift, the share that is expected to be none."""
SHOWN_PAIRS = 20
"""Pairs of one change of role that an alert lists; the view has all of them."""

DRIFT = """
WITH asked AS (FROM core_entry_versions WHERE study = $study AND is_newest AND is_changed)
SELECT drift.g.entry, drift.g.pair_type, drift.g.path, drift.g.variant, drift.g.metric, level,
    value_before, value, lower_limit, upper_limit, drift.change, change_lower, change_upper,
    p_value, p_adjusted,
    coalesce(reason, CASE WHEN source_count = 1 THEN 'a single source' END)
FROM drift_of('asked', $replicates, $seed, $levels) AS drift
JOIN asked ON asked.entry = drift.g.entry
ORDER BY ALL
"""


FOUND = """
WITH asked AS (FROM core_entry_versions WHERE study = $study AND is_newest),
found AS (
    FROM history_of('asked')
    WHERE metric IN ('evidence', 'contradiction', 'fragility') AND value IS NOT NULL
)
SELECT name, asked.version, verdict, metric, concat_ws('.', path, pair_type),
    1 = (SELECT count(DISTINCT (path, pair_type)) FROM found),
    value, lower_limit, upper_limit
FROM found
JOIN asked USING (study, entry)
JOIN out_entries USING (study, entry)
ORDER BY ALL
"""
VERDICTS_IN_ORDER = ("", *VERDICTS_OF_GATES)
"""From the best to the worst, after none."""


def judge_newest(root: Root, study: Study) -> list[Judged]:
    """Judge the newest re-audit of a study and commit the verdicts, unless that is done.

    Returns the verdicts, the same ones at every call.
    """
    reaudit_id = newest(root, study.study).reaudit_id
    if receipts.exists(root, VERDICTS, study.study, reaudit_id):
        return verdicts(root, study.study)
    judged = judge(study.gates, drift(root, study)) if study.gates else []
    rows = [
        {"reaudit_id": reaudit_id, "position": position} | dict(zip(COLUMNS, verdict, strict=True))
        for position, verdict in enumerate(judged)
    ]
    table = pa.Table.from_pylist(rows, schema=TABLES["gate_verdicts"].schema)
    commit(root, VERDICTS, study.study, reaudit_id, {"gate_verdicts": table})
    return judged


def drift(root: Root, study: Study) -> list[DriftRow]:
    """How far each changed entry of the newest re-audit drifted, at the levels of the gates."""
    levels = sorted({gate.confidence for gate in study.gates.values()})
    values = {"study": study.study, "replicates": REPLICATES, "seed": SEED, "levels": levels}
    # Sums of several threads differ in their last bits, and a verdict could turn on them.
    with connect_whole(root, study.study, threads=1) as connection:
        return [DriftRow(*row) for row in connection.sql(DRIFT, params=values).fetchall()]


def verdicts(root: Root, study: str) -> list[Judged]:
    """Verdicts of the newest re-audit, as they were committed."""
    with connect_whole(root, study) as connection:
        committed = connection.sql("FROM out_verdicts WHERE study = $s", params={"s": study})
        return [Judged(*row) for row in committed.select(*COLUMNS).fetchall()]


def findings(root: Root, study: str) -> list[Finding]:
    """What the newest re-audit of a study found of each audited version: verdict, E, C and F.

    A version that is followed under several names has the worst of its verdicts.
    """
    with connect_whole(root, study) as connection:
        rows = connection.sql(FOUND, params={"study": study}).fetchall()
    found: dict[tuple[str, str], Finding] = {}
    for name, version, verdict, metric, place, is_alone, *value in rows:
        of = found.setdefault((name, version), Finding(name, version, verdict or "", {}))
        if verdict and VERDICTS_IN_ORDER.index(verdict) > VERDICTS_IN_ORDER.index(of.verdict):
            of = found[name, version] = of._replace(verdict=verdict)
        of.values[metric if is_alone else f"{metric}.{place}"] = tuple(value)
    return list(found.values())


def summary(root: Root, study: str) -> dict[str, Any]:
    """Summarise the newest re-audit of a study in JSON: entries, drift, roles, alerts."""
    with connect_whole(root, study) as connection:

        def rows(query: str, **values: Any) -> list[dict[str, Any]]:
            relation = connection.sql(query, params={"study": study, **values})
            return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]

        entries = rows(
            "SELECT * EXCLUDE (study) REPLACE (resolved_at::VARCHAR AS resolved_at) "
            "FROM out_entries WHERE study = $study"
        )
        drift = rows(
            "SELECT * EXCLUDE (study) FROM out_drift WHERE study = $study AND p_adjusted <= $rate",
            rate=FALSE_DISCOVERY_RATE,
        )
        judged = rows("SELECT * EXCLUDE (study) FROM out_verdicts WHERE study = $study")
        roles = rows(
            "SELECT * EXCLUDE (study, pair_ids), pair_ids[:$shown] AS pair_ids "
            "FROM out_role_changes WHERE study = $study",
            shown=SHOWN_PAIRS,
        )
    return {
        "study": study,
        "reaudit_id": entries[0]["reaudit_id"],
        "resolved_at": entries[0]["resolved_at"],
        "alerts": _alerts(entries, judged),
        "entries": entries,
        "drift": drift,
        "role_changes": roles,
    }


def _alerts(entries: list[dict[str, Any]], judged: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Alerts: failed gates, entries that failed anew, entries that were replaced meanwhile."""
    alerts = []
    for entry in entries:
        named = {"entry": entry["entry"], "version": entry["version"]}
        if entry["verdict"] == "fail":
            failed = (entry["entry"], "fail")
            rows = [row for row in judged if (row["entry"], row["verdict"]) == failed]
            alerts.append({"kind": "gate.failed", **named, "rows": rows})
        if entry["state"] == FAILED and entry["change"] != NONE:
            alerts.append({"kind": "entry.failed", **named, "problem": entry["problem"]})
        if entry["state"] == AUDITED and entry["problem"]:
            alerts.append({"kind": "entry.moved", **named, "problem": entry["problem"]})
    return alerts
