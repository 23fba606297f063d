"""Find and delete what no reader needs: what killed writers left, what was compacted or withdrawn.

Each is older than the grace period: temporary files; data files that no receipt names; and files of
commits that a compaction holds now. The rows of a commit are never deleted unless it was withdrawn
(``warehouse.upkeep.retention``), and its receipt stays as long; receipts of compactions that
another one replaces go. Foreign files are left alone.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from decaf.errors import UnknownName
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS, Current, covering, names, resolve
from warehouse.commits.lock import is_held, study_lock
from warehouse.commits.receipts import WITHDRAWALS, Receipt
from warehouse.storage import Root, Storage

GRACE = timedelta(days=7)
"""Longer than any reader keeps a connection open."""


class Garbage(NamedTuple):
    """One file that can go; ``path`` is relative to the warehouse root."""

    study: str
    path: str
    reason: str
    byte_count: int


def find_garbage(
    root: Root, older_than: timedelta = GRACE, study: str | None = None
) -> list[Garbage]:
    """List what can be deleted, writing nothing; studies that are being audited are left out.

    Parameters
    ----------
    study
        This study alone; all of the warehouse if it is not given.

    Raises
    ------
    UnknownName
        When the warehouse has nothing of the study.
    WarehouseError
        When the warehouse cannot be read.
    """
    before = datetime.now(UTC) - older_than
    return [garbage for name in at_rest(root, study) for garbage in _of_study(root, name, before)]


def delete_garbage(
    root: Root, older_than: timedelta = GRACE, study: str | None = None
) -> list[Garbage]:
    """Delete what :func:`find_garbage` lists; returns what was deleted.

    Each study is held meanwhile. What it lists is found anew under that hold.

    Raises
    ------
    AlreadyRunning
        When a run of a study starts at this moment; what was deleted before stays deleted.
    UnknownName
        When the warehouse has nothing of the study.
    WarehouseError
        When the warehouse cannot be read.
    """
    before = datetime.now(UTC) - older_than
    store = storage.open(root)
    deleted = []
    for name in at_rest(root, study):
        with study_lock(root, name):
            for garbage in _of_study(root, name, before):
                store.delete(garbage.path)
                deleted.append(garbage)
    return deleted


def at_rest(root: Root, study: str | None) -> Iterator[str]:
    """Studies that nobody audits at the moment when they are asked for, of all or one.

    Raises
    ------
    UnknownName
        When the warehouse has nothing of the one.
    """
    known = receipts.studies(root)
    if study is not None and study not in known:
        raise UnknownName.among("study", study, known)
    for name in known if study is None else [study]:
        if not is_held(root, name):
            yield name


def is_whole(store: Storage, receipt: Receipt) -> bool:
    """Whether all files of a commit hold what its receipt says, by their content.

    Size is not enough: what they stand in for, or do not name, is about to be deleted.
    """
    wanted = {file.path: file.sha256 for file in receipt.files}
    found = {path: hashlib.sha256(content).hexdigest() for path, content in store.read_many(wanted)}
    return found == wanted


def _of_study(root: Root, study: str, before: datetime) -> Iterator[Garbage]:
    """In the order of deletion: what hides or names something goes before that."""
    store = storage.open(root)
    own = [receipt for receipt in receipts.read(root) if receipt.study == study]
    current = resolve(own)
    listed = layout.study_files(store, study)
    sizes = {entry.key: entry.byte_count for entry in listed}
    for receipt in receipts.withdrawn(root, study):
        yield _receipt(receipt, "its run was withdrawn")
    for receipt in own:
        if receipt.kind == WITHDRAWALS and _moment(receipt) < before:
            yield _receipt(receipt, "what it withdrew is gone")
    # A receipt goes before its files: a compaction without files would hide those that it folded.
    for receipt in _replaced(store, own, current, before):
        yield _receipt(receipt, "nobody reads this compaction any more")
        yield from _files(receipt, sizes, "nobody reads this compaction any more")
    for receipt, compaction in _folded(store, own, current, before):
        yield from _files(receipt, sizes, f"compacted as {compaction.key}")
    named = {file.path for receipt in own for file in receipt.files}
    spared = _withdrawn_keys(own, before)
    for key, size, modified_at in listed:
        if modified_at >= before:
            continue
        if key.endswith(layout.TEMPORARY):
            yield Garbage(study, key, "left by a writer that was stopped", size)
        elif key not in named and layout.stem(key) not in spared:
            yield Garbage(study, key, "no receipt names it", size)


def _withdrawn_keys(own: Sequence[Receipt], before: datetime) -> set[str]:
    """Keys of commits that were withdrawn so lately that a reader may have their files open."""
    lately = (one for one in own if one.kind == WITHDRAWALS and _moment(one) >= before)
    return {name.split("/")[1] for withdrawal in lately for name in withdrawal.inputs}


def _folded(
    store: Storage, own: Sequence[Receipt], current: Current, before: datetime
) -> Iterator[tuple[Receipt, Receipt]]:
    """Commits that a whole compaction holds, and that compaction."""
    whole: dict[str, bool] = {}
    for receipt in own:
        compaction = covering(current, receipt)
        if compaction and _moment(compaction) < before:
            if compaction.key not in whole:
                whole[compaction.key] = is_whole(store, compaction)
            if whole[compaction.key]:
                yield receipt, compaction


def _replaced(
    store: Storage, own: Sequence[Receipt], current: Current, before: datetime
) -> Iterator[Receipt]:
    """Compactions of which every commit has its rows elsewhere, or was withdrawn."""
    commits = {receipt.name: receipt for receipt in own}
    for compaction in current.idle:
        there = (commits[name] for name in compaction.inputs if name in commits)
        unchanged = [receipt for receipt in there if names(compaction, receipt)]
        holders = [covering(current, receipt) or receipt for receipt in unchanged]
        causes = [
            receipt
            for receipt in own
            if receipt.kind == WITHDRAWALS and receipt.inputs.keys() & compaction.inputs.keys()
        ]
        newest = max(map(_moment, [compaction, *holders, *causes]))
        if newest < before and all(is_whole(store, holder) for holder in _once(holders)):
            yield compaction


def _once(holders: list[Receipt]) -> list[Receipt]:
    return list({holder.name: holder for holder in holders}.values())


def _receipt(receipt: Receipt, reason: str) -> Garbage:
    path = layout.receipt(receipt.kind, receipt.study, receipt.key)
    return Garbage(receipt.study, path, reason, len(receipt.to_json().encode()))


def _files(receipt: Receipt, sizes: dict[str, int], reason: str) -> Iterator[Garbage]:
    for file in receipt.files:
        if file.path in sizes:
            yield Garbage(receipt.study, file.path, reason, sizes[file.path])


def _moment(receipt: Receipt) -> datetime:
    """When a commit was made; not before what it names, if a clock was set back meanwhile."""
    made = datetime.fromisoformat(receipt.committed_at)
    if receipt.kind not in (COMPACTIONS, WITHDRAWALS):
        return made
    return max(made, *map(datetime.fromisoformat, receipt.inputs.values()))
