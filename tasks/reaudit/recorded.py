"""Read recorded re-audits: their entries, their inputs, and contents that passed."""

from collections.abc import Collection, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from decaf.plan.study import Study
from decaf.registry.entries import Entry
from decaf.registry.messages import remark_skipped
from tasks.stops import STOPS
from warehouse.commits import receipts
from warehouse.commits.receipts import Receipt
from warehouse.commits.stored import read_file
from warehouse.query.damage import fetch_whole
from warehouse.query.views import query
from warehouse.storage import Storage

REAUDITS, ALERTS = "reaudits", "alerts"
"""Kinds of commits: recorded re-audits, and their delivered alerts."""
AUDITED, FAILED, GONE = "audited", "failed", "gone"
NONE, VERSION, NEW, RETURNED = "none", "version", "new", "returned"
"""Kinds of change of an entry other than weights, preprocessing and inputs of the study. RETURNED
is a content that passed before."""
GATES, COMPARED = "gates", "compared"
"""Changes after which stored results are judged again. COMPARED: the alias of `compare_with:` moved
to other content."""

BLOCKS = "blocks"
"""Change of a study that stops early: other blocks, or more scored blocks."""
DECISIVE = ("score", "pairs", "paths", "stages", "epsilon", "code", BLOCKS)
"""Names of inputs that change the results of every model."""

Row = dict[str, Any]


class RecordedReaudit(NamedTuple):
    """A recorded re-audit."""

    reaudit_id: str
    inputs: dict[str, str]
    """Digests, by name, of all inputs of its results except the registry's models."""
    rows: dict[str, Row]
    """Entries by label, without missing ones and versions that are not followed."""
    is_settled: bool
    """True if its gates were judged and its alerts delivered."""


class LastAudited(NamedTuple):
    """Row of the last re-audit that audited an entry, and digests of its inputs."""

    row: Row
    inputs: dict[str, str]


class PassedContent(NamedTuple):
    """A content of an entry that passed its gates or was accepted."""

    judged_reaudit_id: str
    version: str
    """Version under which the content was judged."""
    moment: str
    """Start of the re-audit that judged it, in ISO 8601."""
    verdict: str


def newest_reaudit(store: Storage, study: str) -> RecordedReaudit | None:
    """Last recorded re-audit, or None; reads receipts and one small file."""
    receipt = receipts.read_newest(store, REAUDITS, study)
    if receipt is None:
        return None
    entries = entry_rows(store, receipt)
    rows = {row["entry"]: row for row in entries if row["state"] != GONE and row["is_followed"]}
    is_settled = receipts.exists(store, ALERTS, study, receipt.key)
    return RecordedReaudit(receipt.key, receipt.inputs, rows, is_settled)


def completes_scoring(store: Storage, study: Study, previous: RecordedReaudit | None) -> bool:
    """True if the study scores all pairs now, and its last re-audit stopped early."""
    if previous is None or study.stop is None or study.to_the_end() != study:
        return False
    runs = {row["run_id"] for row in previous.rows.values() if row["run_id"]}
    return any(receipts.exists(store, STOPS, study.study, run_id) for run_id in runs)


def list_stopped_early(store: Storage, study: str) -> frozenset[str]:
    """Entries that were stopped early and did not pass; they are now scored completely."""
    rows = fetch_whole(store, study, query("looks/stopped_early"))
    return frozenset(entry for (entry,) in rows)


def list_newly_failed(store: Storage, study: str, delivered: Collection[str]) -> set[str]:
    """Entries that failed for a new reason since the last re-audit with delivered alerts.

    ``delivered`` has ids of re-audits whose alerts were delivered.
    """
    recorded = sorted(
        receipts.read_kind(store, REAUDITS, study), key=lambda receipt: receipt.committed_at
    )
    undelivered = takewhile(lambda receipt: receipt.key not in delivered, reversed(recorded))
    rows = (row for receipt in undelivered for row in entry_rows(store, receipt))
    return {row["entry"] for row in rows if row["state"] == FAILED and row["change"] != NONE}


def last_audited(
    store: Storage, study: str, previous: RecordedReaudit | None
) -> dict[str, LastAudited]:
    """Last audit of each entry, by label."""
    if previous is None:
        return {}
    reaudits = {previous.reaudit_id: (previous.rows, previous.inputs)}
    audited = {}
    for label, row in previous.rows.items():
        key = previous.reaudit_id if row["state"] == AUDITED else row["previous_reaudit_id"]
        if key is None:
            continue
        if key not in reaudits:
            receipt = receipts.read_one(store, REAUDITS, study, key)
            rows = {row["entry"]: row for row in entry_rows(store, receipt)}
            reaudits[key] = (rows, receipt.inputs)
        rows, inputs = reaudits[key]
        audited[label] = LastAudited(rows[label], inputs)
    return audited


def remark_skipped_versions(
    store: Storage, study: str, entries: Collection[Entry], audited: Mapping[str, LastAudited]
) -> list[str]:
    """Remark on versions of followed models that came and were replaced between two re-audits.

    ``audited`` has the last audit of each entry, by label.
    """
    newer = [
        entry
        for entry in entries
        if not entry.alias and entry.label in audited
        if audited[entry.label].row["version"] != entry.version
    ]
    if not newer:
        return []
    sql = (
        "SELECT entry, list(DISTINCT version) FROM stg_registry_entries "
        "WHERE study = $study AND state <> $gone GROUP BY entry"
    )
    versions = dict(fetch_whole(store, study, sql, gone=GONE))
    remarks = (
        remark_skipped(
            entry.name, audited[entry.label].row["version"], entry.version, versions[entry.label]
        )
        for entry in newer
    )
    return [remark for remark in remarks if remark]


def list_references(store: Storage, study: str, audited: Mapping[str, LastAudited]) -> set[str]:
    """Entries whose last audited version passed its gates, or was accepted."""
    if not audited:
        return set()
    sql = "SELECT entry, reaudit_id FROM core_entry_verdicts WHERE study = $study AND is_reference"
    rows = fetch_whole(store, study, sql)
    return {
        entry
        for entry, reaudit_id in rows
        if entry in audited and audited[entry].row["reaudit_id"] == reaudit_id
    }


def find_passed_contents(
    store: Storage, study: str, digests: Mapping[str, tuple[str, str]], inputs: Mapping[str, str]
) -> dict[str, PassedContent]:
    """Entries whose content passed before under the same study and gates, by label.

    ``digests`` has the weights and preprocessing of entries. A content that also failed at some
    time is left out, since a gate on a change depends on the compared version. An acceptance counts
    as a pass.
    """
    if not digests:
        return {}
    rows = fetch_whole(store, study, query("registry/contents"))
    contents: dict[str, PassedContent] = {}
    failed_entries = set()
    for entry, weights, preprocessing, is_passed, *judged in rows:
        if digests.get(entry) != (weights, preprocessing):
            continue
        receipt = receipts.read_one(store, REAUDITS, study, judged[0])
        if any(receipt.inputs.get(name) != inputs.get(name) for name in (*DECISIVE, "gates")):
            continue
        contents[entry] = PassedContent(*judged)
        if not is_passed:
            failed_entries.add(entry)
    return {entry: passed for entry, passed in contents.items() if entry not in failed_entries}


def entry_rows(store: Storage, receipt: Receipt) -> list[Row]:
    """Rows of all entries of a re-audit."""
    return [row for file in receipt.files for row in read_file(store, file).to_pylist()]


def has_run(store: Storage, study: str) -> bool:
    """True if a run audited an entry of the newest re-audit, so that a report can show it."""
    return any(row["run_id"] for row in newest_reaudit(store, study).rows.values())
