"""Withdraw damaged commits and move damaged receipts aside, so that a run computes them again."""

from contextlib import suppress
from typing import NamedTuple

from decaf.errors import UnknownName, WarehouseError
from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS
from warehouse.commits.lock import study_lock
from warehouse.query.damage import find_damage
from warehouse.storage import Storage
from warehouse.upkeep.compaction import repair_compactions
from warehouse.upkeep.retention import commit_withdrawal

ASIDE = ".damaged"
"""Suffix of receipts that cannot be read; readers ignore them."""


class Repair(NamedTuple):
    """Receipts and commits of one study that were removed from view."""

    study: str
    receipts: tuple[str, ...]
    """Keys of receipts that were moved aside."""
    commits: tuple[str, ...]
    """Names of the commits that were withdrawn."""


def repair(store: Storage, study: str | None = None) -> list[Repair]:
    """Withdraw every commit with a damaged file, and move aside receipts that cannot be read.

    If a compaction is damaged, readers use the commits' own files again, if they are still
    whole. The next run computes the units of withdrawn commits again. A call after a stopped one
    continues it.

    Raises UnknownName when the warehouse does not have the study, AlreadyRunning when a study is
    being audited, and WriteFailed when the storage cannot be written.
    """
    studies = receipts.studies(store)
    if study is not None and study not in studies:
        raise UnknownName.among("study", study, studies)
    repairs = []
    for name in studies if study is None else [study]:
        with study_lock(store, name):
            repairs.append(
                Repair(name, _move_damaged_receipts(store, name), _withdraw_damaged(store, name))
            )
    return [repaired for repaired in repairs if repaired.receipts or repaired.commits]


def _move_damaged_receipts(store: Storage, study: str) -> tuple[str, ...]:
    moved = []
    for kind in receipts.KINDS:
        for entry in store.entries(layout.receipts_folder(kind, study), (".json",)):
            content = store.read(entry.key)
            try:
                receipts.parse(content, entry.key, store.place(entry.key))
            except WarehouseError:
                _move_aside(store, entry.key, content)
                moved.append(entry.key)
    return tuple(moved)


def _move_aside(store: Storage, key: str, content: bytes) -> None:
    store.publish(f"{key}{ASIDE}", lambda file: file.write(content))
    store.delete(key)


def _withdraw_damaged(store: Storage, study: str) -> tuple[str, ...]:
    withdrawn: list[str] = []
    while True:
        with suppress(WarehouseError):  # commits without whole files are withdrawn below
            repair_compactions(store, study)
        damaged = {item.commit for item in find_damage(store, study)}
        damaged_commits = [item for item in receipts.read(store, study) if item.name in damaged]
        # When a compaction is withdrawn, the files of its commits count again.
        damaged_commits = [
            item for item in damaged_commits if item.kind == COMPACTIONS
        ] or damaged_commits
        if not damaged_commits:
            return tuple(withdrawn)
        commit_withdrawal(store, study, damaged_commits)
        withdrawn += [item.name for item in damaged_commits]
