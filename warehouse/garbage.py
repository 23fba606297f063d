"""Find and delete what no reader needs: what killed writers left, and what was compacted.

Three kinds of files, each older than the grace period: temporary files; data files that no
receipt names and whose key no run names; and files of commits that a compaction holds now. The
rows of a commit are never deleted, and receipts of commits stay: only those of compactions that
a larger one replaces go. Foreign files are left alone.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from warehouse import layout, receipts
from warehouse.catalog import connect
from warehouse.current import COMPACTIONS, Current, covering, name_of, resolve
from warehouse.lock import is_held, study_lock
from warehouse.receipts import Receipt

GRACE = timedelta(days=7)
"""Longer than any reader keeps a connection open."""


class Garbage(NamedTuple):
    """One file that can go; ``path`` is relative to the warehouse root."""

    study: str
    path: str
    reason: str
    byte_count: int


def find_garbage(root: Path, older_than: timedelta = GRACE) -> list[Garbage]:
    """List what can be deleted, writing nothing; studies that are being audited are left out.

    Raises
    ------
    WarehouseError
        When the warehouse cannot be read.
    """
    before = datetime.now(UTC) - older_than
    studies = [study for study in receipts.studies(root) if not is_held(root, study)]
    return [garbage for study in studies for garbage in _of_study(root, study, before)]


def delete_garbage(root: Path, older_than: timedelta = GRACE) -> list[Garbage]:
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
    deleted = []
    for study in receipts.studies(root):
        if is_held(root, study):
            continue
        with study_lock(root, study):
            for garbage in _of_study(root, study, before):
                (root / garbage.path).unlink(missing_ok=True)
                deleted.append(garbage)
    return deleted


def _of_study(root: Path, study: str, before: datetime) -> Iterator[Garbage]:
    own = [receipt for receipt in receipts.read(root) if receipt.study == study]
    current = resolve(own)
    # A receipt goes before its files: a compaction without files would hide those that it folded.
    for receipt in _replaced(root, own, current, before):
        path = layout.receipt_file(root, COMPACTIONS, study, receipt.key)
        yield _garbage(root, study, path, "a larger compaction replaces it")
        yield from _files(root, receipt, "a larger compaction replaces it")
    whole: dict[str, bool] = {}
    for receipt in own:
        compaction = covering(current, receipt)
        if compaction and _moment(compaction) < before:
            if compaction.key not in whole:
                whole[compaction.key] = all(_is_whole(root, compaction))
            if whole[compaction.key]:
                yield from _files(root, receipt, f"compacted as {compaction.key}")
    named = {file.path for receipt in own for file in receipt.files}
    planned = _planned_keys(root, study)
    for path in layout.study_files(root, study):
        if datetime.fromtimestamp(path.stat().st_mtime, UTC) >= before:
            continue
        if path.suffix == ".tmp":
            yield _garbage(root, study, path, "left by a writer that was stopped")
        elif path.relative_to(root).as_posix() not in named and path.stem not in planned:
            yield _garbage(root, study, path, "no receipt names it")


def _replaced(
    root: Path, own: list[Receipt], current: Current, before: datetime
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
        if newest < before and all(all(_is_whole(root, holder)) for holder in _once(holders)):
            yield compaction


def _once(holders: list[Receipt]) -> list[Receipt]:
    return list({name_of(holder): holder for holder in holders}.values())


def _files(root: Path, receipt: Receipt, reason: str) -> Iterator[Garbage]:
    for file in receipt.files:
        if (root / file.path).exists():
            yield _garbage(root, receipt.study, root / file.path, reason)


def _is_whole(root: Path, receipt: Receipt) -> Iterator[bool]:
    """Compare content, not size: what it stands in for is about to be deleted."""
    for file in receipt.files:
        path = root / file.path
        yield path.exists() and _sha256(path) == file.sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _planned_keys(root: Path, study: str) -> set[str]:
    with connect(root) as connection:
        rows = connection.sql(
            "SELECT unnest([run_id, shard_key, profile_key]) FROM stg_run_shards "
            "WHERE study = $study",
            params={"study": study},
        ).fetchall()
    return {key for (key,) in rows}


def _moment(receipt: Receipt) -> datetime:
    return datetime.fromisoformat(receipt.committed_at)


def _garbage(root: Path, study: str, path: Path, reason: str) -> Garbage:
    return Garbage(study, path.relative_to(root).as_posix(), reason, path.stat().st_size)
