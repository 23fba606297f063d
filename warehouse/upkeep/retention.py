"""Withdraw old runs of a study, with all commits that no other run needs.

These runs stay: the newest runs, by number or age; the current run; the newest finished run; and
runs to which re-audits of these runs refer, for a comparison or for the verdict on a version. A
commit that one of these runs names stays, even if another run made it.

A withdrawal is one commit, a receipt of the kind ``withdrawals`` that names the withdrawn commits.
A reader sees the runs before it, not after it, and no state in between. If a compaction
also holds commits of runs that stay, decaf compacts these again first, and readers use the new
compaction once the withdrawal is written.
Files stay for open readers; ``warehouse.upkeep.garbage`` deletes them after its grace period.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from decaf.errors import WarehouseError
from decaf.foundation.digests import json_sha256, short
from warehouse.commits import layout, receipts
from warehouse.commits.receipts import WITHDRAWALS, Receipt
from warehouse.commits.writer import commit
from warehouse.query.catalog import connect, run_query
from warehouse.query.views import query
from warehouse.storage import Storage
from warehouse.upkeep.compaction import Part, list_parts, merge_parts, repair_compactions
from warehouse.upkeep.garbage import has_intact_files, visit_idle_studies

NAMING = ("runs", "outcomes", "reaudits")
"""Kinds of commits whose rows decide which runs stay."""

Row = dict[str, Any]


class Keep(NamedTuple):
    """Runs of a study to keep: those that meet one of the conditions."""

    run_count: int | None = None
    """Number of newest runs to keep."""
    age: timedelta | None = None
    """Longest time since a kept run was started or finished."""


class OldRun(NamedTuple):
    """A run to withdraw; units and files that two such runs share are counted for both."""

    run_id: str
    started_at: datetime
    unit_count: int
    """Units of work that no kept run names."""
    byte_count: int
    """Bytes, as committed, of files that this run names and no kept run does."""


class Withdrawal(NamedTuple):
    """Runs and commits of one study to withdraw."""

    study: str
    run_count: int
    """Runs of the study, kept ones included."""
    runs: tuple[OldRun, ...]
    """Runs to withdraw, oldest first."""
    commits: tuple[Receipt, ...]
    """Commits that only these runs name."""

    @property
    def unit_count(self) -> int:
        """Number of units of these commits."""
        return _units(self.commits)

    @property
    def byte_count(self) -> int:
        """Bytes of the files of these commits, as committed."""
        return _bytes(self.commits)


def find_withdrawals(store: Storage, keep: Keep, study: str | None = None) -> list[Withdrawal]:
    """Find the runs to withdraw, of one study or all; withdraws none.

    Studies that are being audited are left out. Raises UnknownName when the warehouse does not have
    the study, and WarehouseError when it cannot be read, or a run's manifest is damaged.
    """
    withdrawals = visit_idle_studies(
        store, study, lambda name: _find_withdrawal(store, name, keep), hold=False
    )
    return [withdrawal for withdrawal in withdrawals if withdrawal.runs]


def withdraw(store: Storage, keep: Keep, study: str | None = None) -> list[Withdrawal]:
    """Withdraw old runs, study by study, while holding each study's lock; returns the withdrawals.

    If a call is interrupted, the next call completes its withdrawals.

    Raises the errors of :func:`find_withdrawals`; WarehouseError when rows of a kept run are
    missing; AlreadyRunning when a run of a study starts at this moment, after which runs of earlier
    studies stay withdrawn; WriteFailed when the storage cannot be written, after which all runs of
    that study are still visible.
    """

    def withdraw_of(name: str) -> Withdrawal:
        withdrawal = _find_withdrawal(store, name, keep)
        if withdrawal.runs:
            _withdraw(store, name, withdrawal.commits)
        return withdrawal

    withdrawals = visit_idle_studies(store, study, withdraw_of, hold=True)
    return [withdrawal for withdrawal in withdrawals if withdrawal.runs]


def kept_runs(runs: list[Row], reaudits: list[Row], keep: Keep, now: datetime) -> set[str]:
    """Run ids of a study to keep.

    Runs have ``run_id``, ``started_at`` and ``finished_at``; re-audits, a row for each entry and
    each re-audit that it refers to, have ``reaudit_id``, ``run_id``, ``resolved_at`` and
    ``needed_reaudit_id``; the newest come first.
    """
    finished = [row["run_id"] for row in runs if row["finished_at"] is not None]
    run_ids = {*(row["run_id"] for row in runs[: keep.run_count or 1]), *finished[:1]}
    if keep.age is not None:
        moments = [
            (row["run_id"], row[column]) for row in runs for column in ("started_at", "finished_at")
        ]
        moments += [(row["run_id"], row["resolved_at"]) for row in reaudits]
        run_ids |= {run_id for run_id, at in moments if run_id and at and at >= now - keep.age}
    newest = {row["reaudit_id"] for row in reaudits[:1]}
    shown = {row["reaudit_id"] for row in reaudits if row["run_id"] in run_ids} | newest
    shown |= {row["needed_reaudit_id"] for row in reaudits if row["reaudit_id"] in shown}
    compared = {row["run_id"] for row in reaudits if row["reaudit_id"] in shown}
    return (run_ids | compared) - {None}


def _withdraw(store: Storage, study: str, commits: Sequence[Receipt]) -> None:
    repair_compactions(store, study)
    withdrawn_names = {receipt.name for receipt in commits}
    for source, members in list_parts(list(receipts.read(store, study))):
        kept_members = [receipt for receipt in members if receipt.name not in withdrawn_names]
        if 0 < len(kept_members) < len(members):
            merge_parts(store, [Part(source, kept_members)])
    commit_withdrawal(store, study, commits)


def commit_withdrawal(store: Storage, study: str, commits: Sequence[Receipt]) -> None:
    """Commit the withdrawal of commits, then delete their receipts.

    No compaction may hold these commits together with others. Raises WriteFailed when the storage
    cannot be written; all commits are then still visible.
    """
    moments = {receipt.name: receipt.committed_at for receipt in commits}
    commit(store, WITHDRAWALS, study, short(json_sha256(moments)), {}, inputs=moments)
    for receipt in commits:
        store.delete(layout.receipt(receipt.kind, study, receipt.key))


def _find_withdrawal(store: Storage, study: str, keep: Keep) -> Withdrawal:
    committed = {receipt.name: receipt for receipt in receipts.read(store, study)}
    for receipt in committed.values():
        if receipt.kind in NAMING and not has_intact_files(store, receipt):
            raise WarehouseError(
                f"files of commit {receipt.name} of study {study} are missing or damaged, so decaf "
                "withdraws no run: it cannot list the commits that the run needs; restore the "
                "files from a copy, or delete the receipt "
                f"{store.place(layout.receipt(receipt.kind, study, receipt.key))}"
            )
    with connect(store) as connection:
        runs, reaudits, named = (
            run_query(connection, query(f"retention/{name}"), {"study": study}).to_pylist()
            for name in ("runs", "reaudits", "commits_of_runs")
        )
    kept_ids = kept_runs(runs, reaudits, keep, datetime.now(UTC))
    names = {row["run_id"]: set(row["names"]) for row in named}
    needed = {name for run_id in kept_ids for name in names[run_id]}
    old, withdrawn_names = [], set()
    for row in reversed(runs):
        if row["run_id"] not in kept_ids:
            names_of_run = (names[row["run_id"]] - needed) & committed.keys()
            commits = [committed[name] for name in names_of_run]
            old.append(OldRun(row["run_id"], row["started_at"], _units(commits), _bytes(commits)))
            withdrawn_names |= names_of_run
    return Withdrawal(
        study, len(runs), tuple(old), tuple(committed[name] for name in sorted(withdrawn_names))
    )


def _units(commits: Iterable[Receipt]) -> int:
    return sum(len(receipt.units) for receipt in commits)


def _bytes(commits: Iterable[Receipt]) -> int:
    return sum(file.byte_count for receipt in commits for file in receipt.files)
