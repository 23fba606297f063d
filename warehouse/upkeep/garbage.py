"""Find and delete files of killed writers and of compacted or withdrawn commits.

Garbage is older than the grace period: temporary files, data files that no receipt names, and files
of commits that a compaction now holds. Rows and receipt of a commit are deleted only if it was
withdrawn (``warehouse.upkeep.retention``). Receipts of compactions that another one replaces are
deleted. Other programs' files stay.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple, TypeVar

from decaf.errors import UnknownName
from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS, find_compaction, has_commit, resolve
from warehouse.commits.lock import is_held, study_lock
from warehouse.commits.receipts import WITHDRAWALS, Receipt
from warehouse.storage import Storage

GRACE = timedelta(days=7)
"""Grace period, longer than a reader keeps a connection open."""
REPLACED = "this compaction is no longer read"
Result = TypeVar("Result")


class Garbage(NamedTuple):
    """One file that can be deleted; ``path`` is relative to the warehouse root."""

    study: str
    path: str
    reason: str
    byte_count: int


def find_garbage(
    store: Storage, older_than: timedelta = GRACE, study: str | None = None
) -> list[Garbage]:
    """List the files that can be deleted, of one study or all; deletes none.

    Studies that are being audited are left out. Raises UnknownName when the warehouse does not have
    the study, and WarehouseError when it cannot be read.
    """
    before = datetime.now(UTC) - older_than
    by_study = visit_idle_studies(
        store, study, lambda name: list(_list_garbage(store, name, before)), hold=False
    )
    return [garbage for garbage_of_study in by_study for garbage in garbage_of_study]


def delete_garbage(
    store: Storage, older_than: timedelta = GRACE, study: str | None = None
) -> list[Garbage]:
    """Delete the garbage of each study while holding its lock; returns the deleted files.

    Raises the errors of :func:`find_garbage`, and AlreadyRunning when a run of a study starts at
    this moment; garbage of earlier studies is then deleted.
    """
    before = datetime.now(UTC) - older_than

    def delete(name: str) -> list[Garbage]:
        garbage_of_study = list(_list_garbage(store, name, before))
        for garbage in garbage_of_study:
            store.delete(garbage.path)
        return garbage_of_study

    return [
        garbage
        for of_one in visit_idle_studies(store, study, delete, hold=True)
        for garbage in of_one
    ]


def visit_idle_studies(
    store: Storage, study: str | None, act: Callable[[str], Result], *, hold: bool
) -> list[Result]:
    """Call ``act`` for each study, or one, that is not being audited; ``hold`` its lock meanwhile.

    Raises AlreadyRunning when a run of a study starts before its lock is held, and UnknownName when
    the warehouse does not have the study.
    """
    has_commit = receipts.studies(store)
    if study is not None and study not in has_commit:
        raise UnknownName.among("study", study, has_commit)
    results = []
    for name in has_commit if study is None else [study]:
        if not is_held(store, name):
            with study_lock(store, name) if hold else nullcontext():
                results.append(act(name))
    return results


def is_whole(store: Storage, receipt: Receipt) -> bool:
    """True if the digests of all files of a commit equal those of its receipt.

    Sizes are not enough: the caller then deletes files that this commit replaces or does not name.
    """
    digests = {file.path: file.sha256 for file in receipt.files}
    stored = store.read_many(digests)
    return {path: hashlib.sha256(content).hexdigest() for path, content in stored} == digests


def _list_garbage(store: Storage, study: str, before: datetime) -> Iterator[Garbage]:
    """List garbage in the order of deletion: a receipt comes before its files."""
    committed = list(receipts.read(store, study))
    withdrawals = [receipt for receipt in committed if receipt.kind == WITHDRAWALS]
    expired = [withdrawal for withdrawal in withdrawals if _moment(withdrawal) < before]
    replaced, compacted = _find_superseded(store, committed, before)
    # A receipt goes before its files: a compaction without files would hide rows of its commits.
    for old_receipts, reason in (
        (receipts.read_withdrawn(store, study), "its run was withdrawn"),
        (expired, "the commits that it withdrew are deleted"),
        (replaced, REPLACED),
    ):
        for receipt in old_receipts:
            path = layout.receipt(receipt.kind, study, receipt.key)
            yield Garbage(study, path, reason, len(receipt.to_json().encode()))
    listed = layout.study_files(store, study)
    sizes = {entry.key: entry.byte_count for entry in listed}
    for receipt, reason in [*((receipt, REPLACED) for receipt in replaced), *compacted]:
        for file in receipt.files:
            if file.path in sizes:
                yield Garbage(study, file.path, reason, sizes[file.path])
    named = {file.path for receipt in committed for file in receipt.files}
    # A reader may still have open files of recently withdrawn commits, even old ones.
    recent = [withdrawal for withdrawal in withdrawals if withdrawal not in expired]
    spared_keys = {name.split("/")[1] for withdrawal in recent for name in withdrawal.inputs}
    for key, size, modified_at, _ in listed:
        if modified_at >= before:
            continue
        if key.endswith(layout.TEMPORARY):
            yield Garbage(study, key, "left by a writer that was stopped", size)
        elif key not in named and layout.stem(key) not in spared_keys:
            yield Garbage(study, key, "no receipt names it", size)


def _find_superseded(
    store: Storage, committed: Sequence[Receipt], before: datetime
) -> tuple[list[Receipt], list[tuple[Receipt, str]]]:
    """Find idle compactions, and commits that a compaction holds, with reasons.

    A compaction is superseded when each of its commits has its rows elsewhere or was withdrawn.
    Receipts count only if all commits involved are older than ``before`` and their files whole.
    """
    current = resolve(list(committed))
    by_name = {receipt.name: receipt for receipt in committed}
    is_safe = cache(lambda name: is_whole(store, by_name[name]))
    compacted = []
    for receipt in committed:
        compaction = find_compaction(current, receipt)
        if compaction and _moment(compaction) < before and is_safe(compaction.name):
            compacted.append((receipt, f"compacted as {compaction.key}"))
    replaced = []
    for compaction in current.idle:
        unchanged = (receipt for receipt in committed if has_commit(compaction, receipt))
        holders = {(find_compaction(current, receipt) or receipt).name for receipt in unchanged}
        causes = {
            receipt.name
            for receipt in committed
            if receipt.kind == WITHDRAWALS and receipt.inputs.keys() & compaction.inputs.keys()
        }
        involved = [by_name[name] for name in {compaction.name} | holders | causes]
        if max(map(_moment, involved)) < before and all(map(is_safe, holders)):
            replaced.append(compaction)
    return replaced, compacted


def _moment(receipt: Receipt) -> datetime:
    """Moment of a commit, or of the latest commit that it names if a clock was set back."""
    moment = datetime.fromisoformat(receipt.committed_at)
    if receipt.kind not in (COMPACTIONS, WITHDRAWALS):
        return moment
    return max(moment, *map(datetime.fromisoformat, receipt.inputs.values()))
