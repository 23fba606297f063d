"""Withdraw old runs of a study, with everything that no other run needs.

What stays is decided by runs: the newest ones, as many or as young as somebody asked for; the
current run; the newest that was finished; and what the re-audits of all these refer to: what they
were compared with, and what judged the versions that they found.
A commit that any of them names stays, whichever run made it.

Withdrawing is one commit, a receipt of the kind ``withdrawals`` that names what is gone: a reader
sees the runs before it, and not after it, and nothing in between. What a compaction holds of kept
runs is folded anew before, and counts from that moment on. Files stay for readers that are open;
``warehouse.upkeep.garbage`` deletes them after its grace period.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from decaf.errors import WarehouseError
from decaf.foundation.digests import json_sha256, short
from warehouse.commits import layout, receipts
from warehouse.commits.migrations import SET_ASIDE
from warehouse.commits.receipts import WITHDRAWALS, Receipt
from warehouse.commits.writer import commit
from warehouse.query.catalog import connect, run_query
from warehouse.query.views import query
from warehouse.storage import Storage
from warehouse.upkeep.compaction import Part, fold, parts, repair_compactions
from warehouse.upkeep.garbage import at_rest, is_whole

NAMING = ("runs", "outcomes", "reaudits")
"""Kinds of commits whose rows decide what stays."""

Row = dict[str, Any]


class Keep(NamedTuple):
    """Which runs of a study stay at least: those that either says."""

    run_count: int | None = None
    """The newest so many."""
    age: timedelta | None = None
    """Those that were started, or finished, no longer ago."""


class OldRun(NamedTuple):
    """A run that goes; what it shares with another one that goes is counted at both."""

    run_id: str
    started_at: datetime
    unit_count: int
    """Units of work that no kept run names."""
    byte_count: int
    """Bytes of all files that it and no kept run names, as they were committed."""


class Withdrawal(NamedTuple):
    """What goes of one study."""

    study: str
    run_count: int
    """Runs of the study, kept ones included."""
    runs: tuple[OldRun, ...]
    """The oldest first."""
    commits: tuple[Receipt, ...]
    """What only they name, every commit once."""

    @property
    def unit_count(self) -> int:
        """Units of work that go, every one counted once."""
        return _units(self.commits)

    @property
    def byte_count(self) -> int:
        """Bytes of the files that go, as they were committed."""
        return _bytes(self.commits)


def find_withdrawals(store: Storage, keep: Keep, study: str | None = None) -> list[Withdrawal]:
    """Say which runs would go, of one study or all, writing nothing.

    Studies that are being audited are left out. Raises UnknownName when the warehouse has nothing
    of the study, and WarehouseError when it cannot be read, or a run's manifest is damaged.
    """
    withdrawals = at_rest(store, study, lambda name: _of_study(store, name, keep), hold=False)
    return [withdrawal for withdrawal in withdrawals if withdrawal.runs]


def withdraw(store: Storage, keep: Keep, study: str | None = None) -> list[Withdrawal]:
    """Withdraw what :func:`find_withdrawals` says, study by study; returns what went.

    What goes of a study is found anew while it is held. A call after one that was stopped does the
    rest.

    Raises what :func:`find_withdrawals` does, and WarehouseError when rows of a run that stays are
    missing; AlreadyRunning when a run of a study starts at this moment, where what went before
    stays withdrawn; WriteFailed when the storage refuses: the runs of the study are then all there.
    """

    def withdraw_of(name: str) -> Withdrawal:
        withdrawal = _of_study(store, name, keep)
        if withdrawal.runs:
            _withdraw(store, name, withdrawal.commits)
        return withdrawal

    withdrawals = at_rest(store, study, withdraw_of, hold=True)
    return [withdrawal for withdrawal in withdrawals if withdrawal.runs]


def kept_runs(runs: list[Row], reaudits: list[Row], keep: Keep, now: datetime) -> set[str]:
    """Runs that stay, of those of a study.

    Runs have ``run_id``, ``started_at`` and ``finished_at``; re-audits, a row for each entry and
    each re-audit that it refers to, have ``reaudit_id``, ``run_id``, ``resolved_at`` and
    ``needed_reaudit_id``; the newest come first.
    """
    finished = [row["run_id"] for row in runs if row["finished_at"] is not None]
    kept = {*(row["run_id"] for row in runs[: keep.run_count or 1]), *finished[:1]}
    if keep.age is not None:
        moments = [(row["run_id"], row[of]) for row in runs for of in ("started_at", "finished_at")]
        moments += [(row["run_id"], row["resolved_at"]) for row in reaudits]
        kept |= {run_id for run_id, at in moments if run_id and at and at >= now - keep.age}
    newest = {row["reaudit_id"] for row in reaudits[:1]}
    shown = {row["reaudit_id"] for row in reaudits if row["run_id"] in kept} | newest
    shown |= {row["needed_reaudit_id"] for row in reaudits if row["reaudit_id"] in shown}
    compared = {row["run_id"] for row in reaudits if row["reaudit_id"] in shown}
    return (kept | compared) - {None}


def set_aside(store: Storage, study: str, commits: Sequence[Receipt], version: int) -> None:
    """Leave results behind that an upgrade cannot carry over from a version.

    A step of ``warehouse.commits.migrations`` calls it, as often as it likes. Readers see the
    commits no more; their units are computed again, and planning gives the version as the reason.

    Raises WarehouseError or WriteFailed as :func:`withdraw` does.
    """
    if commits:
        key = f"{SET_ASIDE}{version}-{short(json_sha256([receipt.name for receipt in commits]))}"
        units = tuple(unit for receipt in commits for unit in receipt.units)
        _withdraw(store, study, commits, key, units)


def _withdraw(
    store: Storage,
    study: str,
    commits: Sequence[Receipt],
    key: str | None = None,
    units: tuple[str, ...] = (),
) -> None:
    repair_compactions(store, study)
    going = {receipt.name for receipt in commits}
    for source, members in parts(list(receipts.read(store, study))):
        staying = [receipt for receipt in members if receipt.name not in going]
        if 0 < len(staying) < len(members):
            fold(store, [Part(source, staying)])
    retire(store, study, commits, key, units)


def retire(
    store: Storage,
    study: str,
    commits: Sequence[Receipt],
    key: str | None = None,
    units: tuple[str, ...] = (),
) -> None:
    """Commit the withdrawal of commits, which no compaction holds beside others, and end them.

    Raises WriteFailed when the storage refuses: they are all there then.
    """
    going = {receipt.name: receipt.committed_at for receipt in commits}
    key = key or short(json_sha256(going))
    commit(store, WITHDRAWALS, study, key, {}, inputs=going, units=units)
    for receipt in commits:
        store.delete(layout.receipt(receipt.kind, study, receipt.key))


def _of_study(store: Storage, study: str, keep: Keep) -> Withdrawal:
    own = {receipt.name: receipt for receipt in receipts.read(store, study)}
    for receipt in own.values():
        if receipt.kind in NAMING and not is_whole(store, receipt):
            raise WarehouseError(
                f"{receipt.name} of study {study} is missing or damaged, so nobody knows what it "
                "names, and no run of the study can go; restore its files from a copy, or delete "
                f"{layout.receipt(receipt.kind, study, receipt.key)} to give it up"
            )
    with connect(store) as connection:
        runs, reaudits, named = (
            run_query(connection, query(f"retention/{name}"), {"study": study}).to_pylist()
            for name in ("runs", "reaudits", "commits_of_runs")
        )
    kept = kept_runs(runs, reaudits, keep, datetime.now(UTC))
    names = {row["run_id"]: set(row["names"]) for row in named}
    needed = {name for run_id in kept for name in names.get(run_id, ())}
    old, going = [], set()
    for row in reversed(runs):
        if row["run_id"] not in kept:
            of_run = (names[row["run_id"]] - needed) & own.keys()
            commits = [own[name] for name in of_run]
            old.append(OldRun(row["run_id"], row["started_at"], _units(commits), _bytes(commits)))
            going |= of_run
    return Withdrawal(study, len(runs), tuple(old), tuple(own[name] for name in sorted(going)))


def _units(commits: Iterable[Receipt]) -> int:
    return sum(len(receipt.units) for receipt in commits)


def _bytes(commits: Iterable[Receipt]) -> int:
    return sum(file.byte_count for receipt in commits for file in receipt.files)
