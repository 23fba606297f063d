"""Find and delete what no reader needs: what killed writers left, and what was compacted.

Three kinds of files, each older than the grace period: temporary files; data files that no
receipt names and whose key no run names; and files of commits that a compaction holds now. The
rows of a commit are never deleted, and receipts of commits stay: only those of compactions that
a larger one replaces go. Foreign files are left alone.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from warehouse import layout, receipts, storage
from warehouse.catalog import connect
from warehouse.current import COMPACTIONS, Current, covering, name_of, resolve
from warehouse.lock import is_held, study_lock
from warehouse.receipts import Receipt
from warehouse.storage import Root, Storage

GRACE = timedelta(days=7)
"""Longer than any reader keeps a connection open."""


class Garbage(NamedTuple):
    """One file that can go; ``path`` is relative to the warehouse root."""

    study: str
    path: str
    reason: str
    byte_count: int


def find_garbage(root: Root, older_than: timedelta = GRACE) -> list[Garbage]:
    """List what can be deleted, writing nothing; studies that are being audited are left out.

    Raises
    ------
    WarehouseError
        When the warehouse cannot be read.
    """
    before = datetime.now(UTC) - older_than
    studies = [study for study in receipts.studies(root) if not is_held(root, study)]
    return [garbage for study in studies for garbage in _of_study(root, study, before)]


def delete_garbage(root: Root, older_than: timedelta = GRACE) -> list[Garbage]:
    """Delete what :func:`find_garbage` lists; returns what was deleted.

    Each study is held meanwhile. What it lists is found anew under that hold.

    Raises
    ------
    AlreadyRunning
        When a run of a study starts at this moment; what was deleted before stays deleted.
    WarehouseError
        When the warehouse cannot be read.
    """
    before = datetime.now(UTC) - older_than
    store = storage.open(root)
    deleted = []
    for study in receipts.studies(root):
        if is_held(root, study):
            continue
        with study_lock(root, study):
            for garbage in _of_study(root, study, before):
                store.delete(garbage.path)
                deleted.append(garbage)
    return deleted


def _of_study(root: Root, study: str, before: datetime) -> Iterator[Garbage]:
    store = storage.open(root)
    own = [receipt for receipt in receipts.read(root) if receipt.study == study]
    current = resolve(own)
    listed = layout.study_files(store, study)
    sizes = {entry.key: entry.byte_count for entry in listed}
    # A receipt goes before its files: a compaction without files would hide those that it folded.
    for receipt in _replaced(store, own, current, before):
        path = layout.receipt(COMPACTIONS, study, receipt.key)
        size = len(receipt.to_json().encode())
        yield Garbage(study, path, "a larger compaction replaces it", size)
        yield from _files(receipt, sizes, "a larger compaction replaces it")
    whole: dict[str, bool] = {}
    for receipt in own:
        compaction = covering(current, receipt)
        if compaction and _moment(compaction) < before:
            if compaction.key not in whole:
                whole[compaction.key] = all(_is_whole(store, compaction))
            if whole[compaction.key]:
                yield from _files(receipt, sizes, f"compacted as {compaction.key}")
    named = {file.path for receipt in own for file in receipt.files}
    planned = _planned_keys(root, study)
    for key, size, modified_at in listed:
        if modified_at >= before:
            continue
        if key.endswith(layout.TEMPORARY):
            yield Garbage(study, key, "left by a writer that was stopped", size)
        elif key not in named and layout.stem(key) not in planned:
            yield Garbage(study, key, "no receipt names it", size)


def _replaced(
    store: Storage, own: list[Receipt], current: Current, before: datetime
) -> Iterator[Receipt]:
    """Compactions of which every commit has its rows elsewhere."""
    commits = {name_of(receipt): receipt for receipt in own}
    for compaction in current.idle:
        unchanged = [
            commits[name]
            for name, at in compaction.inputs.items()
            if name in commits and commits[name].committed_at == at
        ]
        holders = [covering(current, receipt) or receipt for receipt in unchanged]
        newest = max([_moment(compaction), *map(_moment, holders)])
        if newest < before and all(all(_is_whole(store, holder)) for holder in _once(holders)):
            yield compaction


def _once(holders: list[Receipt]) -> list[Receipt]:
    return list({name_of(holder): holder for holder in holders}.values())


def _files(receipt: Receipt, sizes: dict[str, int], reason: str) -> Iterator[Garbage]:
    for file in receipt.files:
        if file.path in sizes:
            yield Garbage(receipt.study, file.path, reason, sizes[file.path])


def _is_whole(store: Storage, receipt: Receipt) -> Iterator[bool]:
    """Compare content, not size: what it stands in for is about to be deleted."""
    for file in receipt.files:
        contents = [content for _, content in store.read_many([file.path])]
        yield any(hashlib.sha256(content).hexdigest() == file.sha256 for content in contents)


def _planned_keys(root: Root, study: str) -> set[str]:
    with connect(root) as connection:
        rows = connection.sql(
            "SELECT unnest([run_id, shard_key, profile_key]) FROM stg_run_shards "
            "WHERE study = $study UNION ALL "
            "SELECT measurement_key FROM stg_run_measurements WHERE study = $study UNION ALL "
            "SELECT baseline_key FROM stg_run_baselines WHERE study = $study UNION ALL "
            "SELECT analysis_key FROM stg_run_analyses WHERE study = $study",
            params={"study": study},
        ).fetchall()
    return {key for (key,) in rows}


def _moment(receipt: Receipt) -> datetime:
    return datetime.fromisoformat(receipt.committed_at)
