"""Give up what is damaged, so that it is computed again: receipts, and commits with their files."""

from contextlib import suppress
from typing import NamedTuple

from decaf.errors import UnknownName, WarehouseError
from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS
from warehouse.commits.lock import study_lock
from warehouse.query.damage import find_damage
from warehouse.storage import Storage
from warehouse.upkeep.compaction import repair_compactions
from warehouse.upkeep.retention import retire

ASIDE = ".damaged"
"""Ending of receipts that nobody could read; no reader looks at them."""


class Repaired(NamedTuple):
    """What was given up of one study."""

    study: str
    receipts: tuple[str, ...]
    """Keys of receipts that were put aside."""
    commits: tuple[str, ...]
    """Names of the commits that were withdrawn."""


def repair(store: Storage, study: str | None = None) -> list[Repaired]:
    """Withdraw every commit with a damaged file, and put aside receipts that cannot be read.

    Where a compaction is damaged, its commits have their own files again, as far as these are still
    whole. Nothing else is lost: the next run computes the units again. A call after one that was
    stopped does the rest.

    Raises UnknownName when the warehouse has nothing of the study, AlreadyRunning when a study is
    being audited, and WriteFailed when the storage refuses.
    """
    studies = receipts.studies(store)
    if study is not None and study not in studies:
        raise UnknownName.among("study", study, studies)
    done = []
    for name in studies if study is None else [study]:
        with study_lock(store, name):
            done.append(Repaired(name, _put_aside(store, name), _withdraw_damaged(store, name)))
    return [one for one in done if one.receipts or one.commits]


def _put_aside(store: Storage, study: str) -> tuple[str, ...]:
    aside = []
    for kind in receipts.KINDS:
        for entry in store.entries(layout.receipts_folder(kind, study), (".json",)):
            content = store.read(entry.key)
            try:
                receipts.parse(content, entry.key, store.place(entry.key))
            except WarehouseError:
                _move(store, entry.key, content)
                aside.append(entry.key)
    return tuple(aside)


def _move(store: Storage, key: str, content: bytes) -> None:
    store.publish(f"{key}{ASIDE}", lambda file: file.write(content))
    store.delete(key)


def _withdraw_damaged(store: Storage, study: str) -> tuple[str, ...]:
    withdrawn: list[str] = []
    while True:
        with suppress(WarehouseError):  # what no compaction holds either is withdrawn below
            repair_compactions(store, study)
        damaged = {one.commit for one in find_damage(store, study)}
        going = [one for one in receipts.read(store, study) if one.name in damaged]
        # Without a compaction, the files of its commits count again.
        going = [one for one in going if one.kind == COMPACTIONS] or going
        if not going:
            return tuple(withdrawn)
        retire(store, study, going)
        withdrawn += [one.name for one in going]
