"""What re-audits have recorded: entries, the inputs of then, and which contents have passed."""

from collections.abc import Collection, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from decaf.plan.study import Study
from tasks.stops import STOPS
from warehouse.commits import receipts
from warehouse.commits.receipts import Receipt
from warehouse.commits.stored import read_file
from warehouse.query.damage import connect_whole
from warehouse.query.views import query
from warehouse.storage import Storage

REAUDITS, ALERTS = "reaudits", "alerts"
"""Kinds of commits: what a registry listed, and that everybody has been told of it."""
AUDITED, FAILED, GONE = "audited", "failed", "gone"
NONE, VERSION, NEW, GATES, RETURNED = "none", "version", "new", "gates", "returned"
"""What changed of an entry, where it is not the weights, the preprocessing or the study; where it
is the gates alone, what was found is judged again; what returned has passed before."""

BLOCKS = "blocks"
"""Changed where a study stops early: how it is cut into blocks, or that more of them are scored."""
DECISIVE = ("score", "pairs", "paths", "stages", "epsilon", "code", BLOCKS)
"""Inputs that change what is found of every model, by the name that is shown."""

Row = dict[str, Any]


class PreviousAudit(NamedTuple):
    """A re-audit that is recorded."""

    reaudit_id: str
    inputs: dict[str, str]
    """What beside the registry's models determined its results, as digests by name."""
    rows: dict[str, Row]
    """Its entries by label, but for those that were gone or asked for by their number."""
    is_settled: bool
    """Whether its gates were judged and its alerts delivered."""


class LastAudited(NamedTuple):
    """The row of the re-audit that audited an entry last, and what determined its results."""

    row: Row
    inputs: dict[str, str]


class Passed(NamedTuple):
    """A content of an entry that has passed its gates, or was accepted."""

    judged_reaudit_id: str
    version: str
    """Under which it was judged."""
    moment: str
    """When the re-audit that judged it was begun, in ISO's form."""
    verdict: str


def newest(store: Storage, study: str) -> PreviousAudit | None:
    """The re-audit that was recorded last; reads receipts and one small file."""
    receipt = receipts.read_newest(store, REAUDITS, study)
    if receipt is None:
        return None
    entries = rows_in(store, receipt)
    rows = {row["entry"]: row for row in entries if row["state"] != GONE and row["is_followed"]}
    is_settled = receipts.exists(store, ALERTS, study, receipt.key)
    return PreviousAudit(receipt.key, receipt.inputs, rows, is_settled)


def goes_on(store: Storage, study: Study, previous: PreviousAudit | None) -> bool:
    """Whether a study is to be scored to its end, and the last re-audit was not."""
    if previous is None or study.stop is None or study.to_the_end() != study:
        return False
    runs = {row["run_id"] for row in previous.rows.values() if row["run_id"]}
    return any(receipts.exists(store, STOPS, study.study, run_id) for run_id in runs)


def unsettled(store: Storage, study: str) -> frozenset[str]:
    """Entries that stopped early and did not pass, to be judged again once more is scored."""
    with connect_whole(store, study) as connection:
        rows = connection.execute(query("looks/unsettled"), {"study": study}).fetchall()
    return frozenset(entry for (entry,) in rows)


def failed_since(store: Storage, study: str, told: Collection[str]) -> set[str]:
    """Entries that failed for a new reason since the last re-audit that somebody was ``told`` of.

    Alerts of the re-audits since then may not have been delivered.
    """
    recorded = sorted(receipts.read_kind(store, REAUDITS, study), key=lambda one: one.committed_at)
    untold = takewhile(lambda receipt: receipt.key not in told, reversed(recorded))
    rows = (row for receipt in untold for row in rows_in(store, receipt))
    return {row["entry"] for row in rows if row["state"] == FAILED and row["change"] != NONE}


def last_audited(
    store: Storage, study: str, previous: PreviousAudit | None
) -> dict[str, LastAudited]:
    """By label, how each entry was audited last."""
    if previous is None:
        return {}
    known = {previous.reaudit_id: (previous.rows, previous.inputs)}
    audited = {}
    for label, row in previous.rows.items():
        key = previous.reaudit_id if row["state"] == AUDITED else row["previous_reaudit_id"]
        if key is None:
            continue
        if key not in known:
            receipt = receipts.read_one(store, REAUDITS, study, key)
            known[key] = ({row["entry"]: row for row in rows_in(store, receipt)}, receipt.inputs)
        own, inputs = known[key]
        audited[label] = LastAudited(own[label], inputs)
    return audited


def passed_before(
    store: Storage, study: str, asked: Mapping[str, tuple[str, str]], inputs: Mapping[str, str]
) -> dict[str, Passed]:
    """Of entries, each with the digests of its weights and preprocessing, those that passed before.

    That is by the same study and gates, as ``inputs`` has them, and never otherwise: a gate on a
    change depends on the version that it was compared with. An acceptance counts as a pass.
    """
    if not asked:
        return {}
    with connect_whole(store, study) as connection:
        rows = connection.sql(query("registry/contents"), params={"study": study}).fetchall()
    found: dict[str, Passed] = {}
    others = set()
    for entry, weights, preprocessing, is_passed, *judged in rows:
        if asked.get(entry) != (weights, preprocessing):
            continue
        receipt = receipts.read_one(store, REAUDITS, study, judged[0])
        if any(receipt.inputs.get(name) != inputs.get(name) for name in (*DECISIVE, "gates")):
            continue
        found[entry] = Passed(*judged)
        if not is_passed:
            others.add(entry)
    return {entry: passed for entry, passed in found.items() if entry not in others}


def rows_in(store: Storage, receipt: Receipt) -> list[Row]:
    """Rows of all entries of one re-audit."""
    return [row for file in receipt.files for row in read_file(store, file).to_pylist()]


def has_run(store: Storage, study: str) -> bool:
    """True if any entry of the newest re-audit was audited in a run, which a report can show."""
    return any(row["run_id"] for row in newest(store, study).rows.values())
