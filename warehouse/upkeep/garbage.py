"""Find and delete what no reader needs: what killed writers left, what was compacted or withdrawn.

Each is older than the grace period: temporary files; data files that no receipt names; and files of
commits that a compaction holds now. The rows of a commit are never deleted unless it was withdrawn
(``warehouse.upkeep.retention``), and its receipt stays as long; receipts of compactions that
another one replaces go. Foreign files are left alone.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple, TypeVar

from decaf.errors import UnknownName
from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS, covering, names, resolve
from warehouse.commits.lock import is_held, study_lock
from warehouse.commits.receipts import WITHDRAWALS, Receipt
from warehouse.storage import Storage

GRACE = timedelta(days=7)
"""Longer than any reader keeps a connection open."""
REPLACED = "nobody reads this compaction any more"
Result = TypeVar("Result")


class Garbage(NamedTuple):
    """One file that can go; ``path`` is relative to the warehouse root."""

    study: str
    path: str
    reason: str
    byte_count: int


def find_garbage(
    store: Storage, older_than: timedelta = GRACE, study: str | None = None
) -> list[Garbage]:
    """List what can be deleted, of one study or all, writing nothing.

    Studies that are being audited are left out. Raises UnknownName when the warehouse has nothing
    of the study, and WarehouseError when it cannot be read.
    """
    before = datetime.now(UTC) - older_than
    by_study = at_rest(store, study, lambda name: list(_of_study(store, name, before)), hold=False)
    return [garbage for of_one in by_study for garbage in of_one]


def delete_garbage(
    store: Storage, older_than: timedelta = GRACE, study: str | None = None
) -> list[Garbage]:
    """Delete what :func:`find_garbage` lists, found anew while each study is held; returns it.

    Raises what that does, and AlreadyRunning when a run of a study starts at this moment; what was
    deleted before stays deleted.
    """
    before = datetime.now(UTC) - older_than

    def delete(name: str) -> list[Garbage]:
        found = list(_of_study(store, name, before))
        for garbage in found:
            store.delete(garbage.path)
        return found

    return [garbage for of_one in at_rest(store, study, delete, hold=True) for garbage in of_one]


def at_rest(
    store: Storage, study: str | None, act: Callable[[str], Result], *, hold: bool
) -> list[Result]:
    """Act on each study, or on one, that nobody audits at that moment; ``hold`` it meanwhile.

    Raises AlreadyRunning when a run of a study starts before it is held, and UnknownName when the
    warehouse has nothing of the one.
    """
    names = receipts.studies(store)
    if study is not None and study not in names:
        raise UnknownName.among("study", study, names)
    results = []
    for name in names if study is None else [study]:
        if not is_held(store, name):
            with study_lock(store, name) if hold else nullcontext():
                results.append(act(name))
    return results


def is_whole(store: Storage, receipt: Receipt) -> bool:
    """Whether all files of a commit hold what its receipt says, by their content.

    Size is not enough: what they stand in for, or do not name, is about to be deleted.
    """
    wanted = {file.path: file.sha256 for file in receipt.files}
    stored = store.read_many(wanted)
    return {path: hashlib.sha256(content).hexdigest() for path, content in stored} == wanted


def _of_study(store: Storage, study: str, before: datetime) -> Iterator[Garbage]:
    """In the order of deletion: what hides or names something goes before that."""
    own = list(receipts.read(store, study))
    withdrawals = [receipt for receipt in own if receipt.kind == WITHDRAWALS]
    expired = [withdrawal for withdrawal in withdrawals if _moment(withdrawal) < before]
    replaced, folded = _superseded(store, own, before)
    # A receipt goes before its files: a compaction without files would hide those that it folded.
    for going, reason in (
        (receipts.withdrawn(store, study), "its run was withdrawn"),
        (expired, "what it withdrew is gone"),
        (replaced, REPLACED),
    ):
        for receipt in going:
            path = layout.receipt(receipt.kind, study, receipt.key)
            yield Garbage(study, path, reason, len(receipt.to_json().encode()))
    listed = layout.study_files(store, study)
    sizes = {entry.key: entry.byte_count for entry in listed}
    for receipt, reason in [*((receipt, REPLACED) for receipt in replaced), *folded]:
        for file in receipt.files:
            if file.path in sizes:
                yield Garbage(study, file.path, reason, sizes[file.path])
    named = {file.path for receipt in own for file in receipt.files}
    # A reader may have files of what was withdrawn lately open, however old they are.
    lately = [withdrawal for withdrawal in withdrawals if withdrawal not in expired]
    spared = {name.split("/")[1] for withdrawal in lately for name in withdrawal.inputs}
    for key, size, modified_at, _ in listed:
        if modified_at >= before:
            continue
        if key.endswith(layout.TEMPORARY):
            yield Garbage(study, key, "left by a writer that was stopped", size)
        elif key not in named and layout.stem(key) not in spared:
            yield Garbage(study, key, "no receipt names it", size)


def _superseded(
    store: Storage, own: Sequence[Receipt], before: datetime
) -> tuple[list[Receipt], list[tuple[Receipt, str]]]:
    """Compactions that nobody reads, and commits that a compaction holds with its name.

    The former go when each of their commits has its rows elsewhere, or was withdrawn; both go when
    all of that is older than ``before`` and whole.
    """
    current = resolve(list(own))
    by_name = {receipt.name: receipt for receipt in own}
    is_safe = cache(lambda name: is_whole(store, by_name[name]))
    folded = []
    for receipt in own:
        compaction = covering(current, receipt)
        if compaction and _moment(compaction) < before and is_safe(compaction.name):
            folded.append((receipt, f"compacted as {compaction.key}"))
    replaced = []
    for compaction in current.idle:
        unchanged = (receipt for receipt in own if names(compaction, receipt))
        holders = {(covering(current, receipt) or receipt).name for receipt in unchanged}
        causes = {
            receipt.name
            for receipt in own
            if receipt.kind == WITHDRAWALS and receipt.inputs.keys() & compaction.inputs.keys()
        }
        involved = [by_name[name] for name in {compaction.name} | holders | causes]
        if max(map(_moment, involved)) < before and all(map(is_safe, holders)):
            replaced.append(compaction)
    return replaced, folded


def _moment(receipt: Receipt) -> datetime:
    """When a commit was made; not before what it names, if a clock was set back meanwhile."""
    made = datetime.fromisoformat(receipt.committed_at)
    if receipt.kind not in (COMPACTIONS, WITHDRAWALS):
        return made
    return max(made, *map(datetime.fromisoformat, receipt.inputs.values()))
