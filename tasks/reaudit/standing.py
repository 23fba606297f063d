"""Verdicts that stand until they are answered: found, told again, and accepted."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from decaf.errors import BadInput, UnknownName
from decaf.foundation.digests import json_sha256, short
from decaf.registry.alerts import Alerts
from warehouse.commits.writer import commit, next_moment
from warehouse.query.damage import connect_whole
from warehouse.storage import Storage
from warehouse.tables.declarations import TABLES

ACCEPTANCES = "acceptances"
Verdict = dict[str, Any]
"""A failed verdict as out_standing_verdicts has it, in JSON, with its failed ``rows``."""
UNDECIDED = """
SELECT study, entry, version, is_followed, verdict, judged_reaudit_id AS reaudit_id
FROM core_entry_verdicts
WHERE study = $study AND is_newest AND accepted_at IS NULL
    AND verdict IN ('not enough evidence', 'no gate applies')
ORDER BY entry
"""
ANSWERABLE = """
SELECT study, entry, version, verdict, accepted_at, accepted_by, why,
    judged_reaudit_id AS reaudit_id
FROM core_entry_verdicts
WHERE study = $study AND is_newest AND entry = $entry AND verdict <> 'pass'
"""
GATES_OF_ENTRY = """
FROM out_verdicts WHERE study = $study AND entry = $entry AND verdict <> 'pass'
"""


def standing(store: Storage, study: str) -> list[Verdict]:
    """Failed verdicts of the versions that are there now, accepted ones included."""
    with connect_whole(store, study) as connection:
        found = rows_of(connection, "FROM out_standing_verdicts WHERE study = $study", study=study)
        failed = "FROM out_verdicts WHERE study = $study AND verdict = 'fail'"
        rows = rows_of(connection, failed, study=study) if found else []
    for verdict in found:
        verdict["rows"] = [row for row in rows if row["entry"] == verdict["entry"]]
    return found


def list_undecided(store: Storage, study: str) -> list[Verdict]:
    """List verdicts that neither passed nor failed and that nobody has accepted.

    These are the verdicts `not enough evidence` and `no gate applies` on the versions that the
    entries have now, in JSON, each with the ``rows`` of its gates that did not pass.
    """
    with connect_whole(store, study) as connection:
        verdicts = rows_of(connection, UNDECIDED, study=study)
        gates = "FROM out_verdicts WHERE study = $study AND verdict <> 'pass'"
        rows = rows_of(connection, gates, study=study) if verdicts else []
    return [
        verdict | {"rows": [row for row in rows if row["entry"] == verdict["entry"]]}
        for verdict in verdicts
    ]


def followed(found: Sequence[Verdict]) -> list[Verdict]:
    """Those of entries that are followed: not of a version that was asked for by its number."""
    return [one for one in found if one["is_followed"]]


def unanswered(found: Sequence[Verdict]) -> list[Verdict]:
    """Those of the failed verdicts that nobody has accepted."""
    return [verdict for verdict in found if verdict["accepted_at"] is None]


def to_tell(found: Sequence[Verdict], alerts: Alerts, now: datetime) -> list[Verdict]:
    """Alerts of the verdicts that stand: those never told of, and those to be reminded of."""
    told = []
    for verdict in unanswered(followed(found)):
        last, kind = verdict["last_alert_at"], "gate.failed"
        if last is not None:
            wait, kind = alerts.reminder, "gate.standing"
            if wait is None or now < datetime.fromisoformat(last) + wait:
                continue
        told.append({"kind": kind, **verdict})
    return told


def accept(
    store: Storage, study: str, entry: str, why: str, user: str, *, is_undo: bool = False
) -> Verdict:
    """Record that a user accepts a verdict that did not pass, or withdraws that; returns it.

    The verdict may be failed, undecided or without a gate that applies; it has the ``rows`` of its
    gates that did not pass.

    Raises UnknownName when the newest re-audit follows no such entry, and BadInput when the entry
    has passed or was not judged, it is accepted already, or not yet where that is to be undone, or
    the reason is empty or cannot be printed.
    """
    if not why.strip() or not why.isprintable():
        raise BadInput(f'the reason is {why!r}; expected one line of text: --why "…"')
    with connect_whole(store, study) as connection:
        entries = rows_of(connection, "FROM out_entries WHERE study = $study", study=study)
        known = {row["entry"]: row for row in followed(entries)}
        if entry not in known:
            raise UnknownName.among("entry of the registry", entry, known)
        verdicts = rows_of(connection, ANSWERABLE, study=study, entry=entry)
        gates = rows_of(connection, GATES_OF_ENTRY, study=study, entry=entry)
    if not verdicts:
        state = known[entry]["verdict"] or known[entry]["state"]
        raise BadInput(
            f"{entry} {known[entry]['version']} has no verdict to accept: it is {state!r}"
        )
    verdict = verdicts[0] | {"rows": gates}
    if is_undo and not verdict["accepted_at"]:
        raise BadInput(
            f"{entry} {verdict['version']} is not accepted, so there is nothing to undo: its "
            f"verdict stands; decaf accept CONFIG --list shows what was accepted"
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
    """All acceptances of a study and what was undone of them, the newest first."""
    with connect_whole(store, study) as connection:
        return rows_of(connection, "FROM out_acceptances WHERE study = $study", study=study)


def rows_of(connection: DuckDBPyConnection, query: str, **values: Any) -> list[dict[str, Any]]:
    """Rows of a query as JSON has them, but for the study."""
    rows = connection.sql(query, params=values).to_arrow_table().to_pylist()
    return [
        {
            name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
            for name, value in row.items()
            if name != "study"
        }
        for row in rows
    ]
