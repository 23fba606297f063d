"""Standing failures and open verdicts: list them, find due alerts, and record acceptances."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from decaf.errors import BadInput, UnknownName
from decaf.foundation.digests import json_sha256, short
from decaf.plan.study import Study
from decaf.registry.alerts import Alerts
from tasks.reaudit.recorded import AUDITED
from warehouse.commits.writer import commit, next_moment
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.storage import Storage
from warehouse.tables.declarations import TABLES

ACCEPTANCES = "acceptances"
Verdict = dict[str, Any]
"""Verdict on a version for JSON, with the ``rows`` of its gates that did not pass."""
STANDING = "FROM out_standing_verdicts WHERE study = $study"
FAILED_GATES = "FROM out_verdicts WHERE study = $study AND verdict = 'fail'"
OPEN_GATES = "FROM out_verdicts WHERE study = $study AND verdict <> 'pass'"
ACCEPTABLE = """
SELECT study, entry, version, verdict, accepted_at, accepted_by, why,
    judged_reaudit_id AS reaudit_id
FROM core_entry_verdicts
WHERE study = $study AND is_newest AND entry = $entry
    AND (verdict <> 'pass' OR NOT is_reference OR accepted_at IS NOT NULL)
"""
GATES_OF_ENTRY = """
FROM out_verdicts WHERE study = $study AND entry = $entry AND verdict <> 'pass'
"""


def list_standing(store: Storage, study: str) -> list[Verdict]:
    """Failed verdicts of the current versions, including accepted ones."""
    return _list_with_gates(store, study, STANDING, FAILED_GATES)


def list_undecided(store: Storage, study: Study) -> list[Verdict]:
    """Verdicts `undecided` and `no gate applies` of the current versions, without accepted ones.

    The verdict is None for content that failed gates if the study has none now.

    ``is_compared_with`` is true for the alias of `compare_with:` if another entry of its model is
    judged, and for an entry with the content of an alias that passed or was accepted.
    """
    sql, alias = query("registry/undecided"), study.compare_with
    return _list_with_gates(store, study.study, sql, OPEN_GATES, compare_with=alias)


def _list_with_gates(
    store: Storage, study: str, verdict_sql: str, gate_sql: str, **values: Any
) -> list[Verdict]:
    """Verdicts of a query, each with the ``rows`` of its gates among those of another query."""
    with connect_whole(store, study) as connection:
        verdicts = rows_of(connection, verdict_sql, study=study, **values)
        rows = rows_of(connection, gate_sql, study=study) if verdicts else []
    return [
        verdict | {"rows": [row for row in rows if row["entry"] == verdict["entry"]]}
        for verdict in verdicts
    ]


def select_followed(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Select rows of followed entries, without versions that only ``--entry`` named."""
    return [verdict for verdict in verdicts if verdict["is_followed"]]


def select_unaccepted(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Select failed verdicts without an acceptance."""
    return [verdict for verdict in verdicts if verdict["accepted_at"] is None]


def list_due_alerts(verdicts: Sequence[Verdict], alerts: Alerts, now: datetime) -> list[Verdict]:
    """List alerts that are due for standing failures: first alerts, and reminders."""
    due = []
    for verdict in select_unaccepted(select_followed(verdicts)):
        last, kind = verdict["last_alert_at"], "gate.failed"
        if last is not None:
            wait, kind = alerts.reminder, "gate.standing"
            if wait is None or now < datetime.fromisoformat(last) + wait:
                continue
        due.append({"kind": kind, **verdict})
    return due


def find_strongest_pairs(store: Storage, study: str) -> dict[str, dict[str, Any]]:
    """Find the strongest pair of each entry that fails a gate, among those that a report shows."""
    with connect_whole(store, study) as connection:
        rows = rows_of(connection, query("registry/strongest_pairs"), study=study)
    return {row.pop("entry"): row for row in rows}


def accept(
    store: Storage, study: str, entry: str, why: str, user: str, *, is_undo: bool = False
) -> Verdict:
    """Record that a user accepts a verdict that did not pass, or undoes that; returns the verdict.

    The verdict is `fail`, `undecided` or `no gate applies`; for a content that failed other gates
    also `pass`, or None without gates. It has the ``rows`` of its gates that did not pass.

    Raises UnknownName if the newest re-audit follows no such entry, and BadInput if the entry
    passed or was not judged, if its verdict is already accepted, if there is no acceptance to undo,
    or if the reason is empty or unprintable.
    """
    if not why.strip() or not why.isprintable():
        raise BadInput(f'the reason is {why!r}; expected one line of text: --why "…"')
    with connect_whole(store, study) as connection:
        entries = rows_of(connection, "FROM out_entries WHERE study = $study", study=study)
        followed_entries = {row["entry"]: row for row in select_followed(entries)}
        if entry not in followed_entries:
            raise UnknownName.among("entry of the registry", entry, followed_entries)
        verdicts = rows_of(connection, ACCEPTABLE, study=study, entry=entry)
        gates = rows_of(connection, GATES_OF_ENTRY, study=study, entry=entry)
    if not verdicts:
        row = followed_entries[entry]
        subject = f"{entry} {row['version']}"
        if row["state"] != AUDITED:
            raise BadInput(
                f"{subject} was not audited ({row['problem'] or row['state']}), so there is no "
                "verdict to accept; decaf reaudit CONFIG audits it once it can be read"
            )
        if row["verdict"] is None:
            raise BadInput(f"{subject} was not judged by any gate, so there is nothing to accept")
        raise BadInput(f"{subject} needs no acceptance: its verdict is {row['verdict']!r}")
    verdict = verdicts[0] | {"rows": gates}
    if is_undo and not verdict["accepted_at"]:
        raise BadInput(
            f"{entry} {verdict['version']} is not accepted, so there is nothing to undo: its "
            "verdict stands; decaf accept CONFIG --list lists acceptances"
        )
    if verdict["accepted_at"] and not is_undo:
        raise BadInput(
            f"{entry} {verdict['version']} was accepted already, by {verdict['accepted_by']} on "
            f"{verdict['accepted_at'][:10]}: {verdict['why']}"
        )
    row = {name: verdict[name] for name in ("reaudit_id", "entry", "version")}
    at = next_moment(store, ACCEPTANCES, study)
    row |= {"accepted_at": at, "accepted_by": user, "why": why, "is_undo": is_undo}
    key = short(json_sha256([verdict["reaudit_id"], entry, at.isoformat()]))
    table = pa.Table.from_pylist([row], schema=TABLES[ACCEPTANCES].schema)
    commit(store, ACCEPTANCES, study, key, {ACCEPTANCES: table}, at=at)
    return verdict


def acceptances(store: Storage, study: str) -> list[dict[str, Any]]:
    """All acceptances of a study, including undone ones, the newest first."""
    with connect_whole(store, study) as connection:
        return rows_of(connection, "FROM out_acceptances WHERE study = $study", study=study)


def rows_of(connection: DuckDBPyConnection, sql: str, **values: Any) -> list[dict[str, Any]]:
    """Rows of a query for JSON, without the column ``study``."""
    rows = connection.sql(sql, params=values).to_arrow_table().to_pylist()
    return [
        {
            name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
            for name, value in row.items()
            if name != "study"
        }
        for row in rows
    ]
