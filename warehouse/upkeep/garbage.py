"""Find and delete files of killed writers and of compacted or withdrawn commits.

Temporary files and files that no receipt names are garbage once they are older than the grace
period. Files of a compacted commit, and an unused compaction with its receipt, are garbage once the
compaction is older than the grace period. The receipt of a withdrawn commit is garbage at once.
Rows of a commit are lost only if the commit was withdrawn (``warehouse.upkeep.retention``). Files
of other programs stay.
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
UNUSED = "this compaction is no longer read"
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
    this moment; the garbage of studies before it has already been deleted.
    """
    before = datetime.now(UTC) - older_than

    def delete(name: str) -> list[Garbage]:
        garbage_of_study = list(_list_garbage(store, name, before))
        for garbage in garbage_of_study:
            store.delete(garbage.path)
        return garbage_of_study

    return [
        garbage
        for garbage_of_study in visit_idle_studies(store, study, delete, hold=True)
        for garbage in garbage_of_study
    ]


def visit_idle_studies(
    store: Storage, study: str | None, act: Callable[[str], Result], *, hold: bool
) -> list[Result]:
    """Call ``act`` for each study, or for one, unless it is being audited; return the results.

    With ``hold``, hold the lock of the study during the call. Raises AlreadyRunning when a run of a
    study starts before its lock is held, and UnknownName when the warehouse does not have the
    study.
    """
    study_names = receipts.studies(store)
    if study is not None and study not in study_names:
        raise UnknownName.among("study", study, study_names)
    results = []
    for name in study_names if study is None else [study]:
        if not is_held(store, name):
            with study_lock(store, name) if hold else nullcontext():
                results.append(act(name))
    return results


def has_intact_files(store: Storage, receipt: Receipt) -> bool:
    """True if the digests of all files of a commit equal those of its receipt.

    Sizes are not enough, because callers delete other files or commits if this check passes.
    """
    digests = {file.path: file.sha256 for file in receipt.files}
    stored = store.read_many(digests)
    return {path: hashlib.sha256(content).hexdigest() for path, content in stored} == digests


def _list_garbage(store: Storage, study: str, before: datetime) -> Iterator[Garbage]:
    """List garbage in the order of deletion.

    A receipt comes before its files: a compaction without files would hide rows of its commits.
    """
    committed = list(receipts.read(store, study))
    withdrawals = [receipt for receipt in committed if receipt.kind == WITHDRAWALS]
    expired = [withdrawal for withdrawal in withdrawals if _moment(withdrawal) < before]
    unused, compacted = _find_unread(store, committed, before)
    for old_receipts, reason in (
        (receipts.read_withdrawn(store, study), "its run was withdrawn"),
        (expired, "the commits that it withdrew are deleted"),
        (unused, UNUSED),
    ):
        for receipt in old_receipts:
            path = layout.receipt(receipt.kind, study, receipt.key)
            yield Garbage(study, path, reason, len(receipt.to_json().encode()))
    listed = layout.study_files(store, study)
    sizes = {entry.key: entry.byte_count for entry in listed}
    for receipt, reason in [*((receipt, UNUSED) for receipt in unused), *compacted]:
        for file in receipt.files:
            if file.path in sizes:
                yield Garbage(study, file.path, reason, sizes[file.path])
    named = {file.path for receipt in committed for file in receipt.files}
    # A reader may still have files of a recently withdrawn commit open, even if they are old.
    recent = [withdrawal for withdrawal in withdrawals if withdrawal not in expired]
    spared_keys = {name.split("/")[1] for withdrawal in recent for name in withdrawal.inputs}
    for path, size, modified_at, _ in listed:
        if modified_at >= before:
            continue
        if path.endswith(layout.TEMPORARY):
            yield Garbage(study, path, "left by a writer that was stopped", size)
        elif path not in named and layout.stem(path) not in spared_keys:
            yield Garbage(study, path, "no receipt names it", size)


def _find_unread(
    store: Storage, committed: Sequence[Receipt], before: datetime
) -> tuple[list[Receipt], list[tuple[Receipt, str]]]:
    """Find unused compactions, and commits whose rows a compaction has, with reasons.

    A compaction is unused when each of its commits was withdrawn or is read from elsewhere. A
    commit is listed only if all commits involved are older than ``before`` and the files that are
    read instead are intact.
    """
    current = resolve(list(committed))
    by_name = {receipt.name: receipt for receipt in committed}
    is_safe = cache(lambda name: has_intact_files(store, by_name[name]))
    compacted = []
    for receipt in committed:
        compaction = find_compaction(current, receipt)
        if compaction and _moment(compaction) < before and is_safe(compaction.name):
            compacted.append((receipt, f"compacted as {compaction.key}"))
    unused = []
    for compaction in current.idle:
        unchanged = (receipt for receipt in committed if has_commit(compaction, receipt))
        read_instead = {
            (find_compaction(current, receipt) or receipt).name for receipt in unchanged
        }
        causes = {
            receipt.name
            for receipt in committed
            if receipt.kind == WITHDRAWALS and receipt.inputs.keys() & compaction.inputs.keys()
        }
        involved = [by_name[name] for name in {compaction.name} | read_instead | causes]
        if max(map(_moment, involved)) < before and all(map(is_safe, read_instead)):
            unused.append(compaction)
    return unused, compacted


def _moment(receipt: Receipt) -> datetime:
    """Time of a commit; a compaction or withdrawal is never earlier than the commits it names.

    Clocks may have been set back.
    """
    moment = datetime.fromisoformat(receipt.committed_at)
    if receipt.kind not in (COMPACTIONS, WITHDRAWALS):
        return moment
    return max(moment, *map(datetime.fromisoformat, receipt.inputs.values()))
