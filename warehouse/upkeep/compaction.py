"""Fold the many small files of a study into few large ones, without a moment of wrong rows.

A compaction writes its files beside those that it replaces, then its receipt, like any commit.
Nothing is deleted: a reader that was there before goes on with the small files, and ``decaf gc``
removes them after a grace period.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from decaf.errors import UnknownName, WarehouseError
from decaf.foundation.digests import json_sha256, short
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS, FOLDED_KINDS, covering, names, resolve
from warehouse.commits.lock import study_lock
from warehouse.commits.receipts import Receipt
from warehouse.commits.stored import own_rows, read_file, rows_of
from warehouse.commits.writer import commit, sweep
from warehouse.storage import Root

FOLD_BYTES = 256 * 2**20
"""Bytes of Parquet that one compaction folds at most, which bounds the memory that it takes."""


class Extent(NamedTuple):
    """Files that readers open, and their bytes."""

    file_count: int
    byte_count: int


class Compacted(NamedTuple):
    """What a compaction did for the readers of one study."""

    study: str
    before: Extent
    after: Extent


class _Unit(NamedTuple):
    """Commits that stay together, and the receipt whose files hold their rows now."""

    members: tuple[Receipt, ...]
    source: Receipt

    @property
    def byte_count(self) -> int:
        return sum(file.byte_count for file in self.source.files)


def compact(root: Root, study: str, fold_bytes: int = FOLD_BYTES) -> Compacted:
    """Fold the commits of a study's scores and profiles, model by model.

    What is folded already stays, unless new commits join it. A second call changes nothing, and a
    call after one that was stopped does the rest.

    Parameters
    ----------
    fold_bytes
        Bytes that one file set holds at most; a commit that is larger stays alone.

    Raises
    ------
    AlreadyRunning
        When the study is being audited.
    UnknownName
        When the warehouse has nothing of the study.
    WarehouseError
        When rows that a receipt names cannot be found any more.
    WriteFailed
        When the disk refuses; readers then see what they saw before.
    """
    known = receipts.studies(root)
    if study not in known:
        raise UnknownName.among("study", study, known)
    with study_lock(root, study):
        sweep(root, study)
        before = extent(root, study)
        mend(root, study)
        committed = _committed(root, study)
        compactions = [receipt for receipt in committed if receipt.kind == COMPACTIONS]
        there = {entry.key for entry in layout.study_files(storage.open(root), study)}
        for group in _groups(committed, fold_bytes):
            _fold(root, group, compactions, there)
        return Compacted(study, before, extent(root, study))


def mend(root: Root, study: str) -> int:
    """Fold anew what nothing but compactions that do not count any more hold; returns how many.

    A commit whose receipt was deleted, or that was made again, takes its compaction out of use,
    and the small files of the others may be gone. Call it while holding the study.

    Raises
    ------
    WarehouseError
        When rows that a receipt names cannot be found any more.
    """
    if not receipts.keys(root, COMPACTIONS, study):
        return 0
    committed = _committed(root, study)
    current = resolve(committed)
    if not current.idle:
        return 0
    there = {entry.key for entry in layout.study_files(storage.open(root), study)}
    lost = {
        receipt.name: receipt
        for receipt in committed
        if receipt.kind != COMPACTIONS
        and covering(current, receipt) is None
        and any(file.path not in there for file in receipt.files)
    }
    count = 0
    for compaction in current.idle:
        held = [lost.pop(r.name) for r in list(lost.values()) if names(compaction, r)]
        if held:
            prune(root, compaction, held)
            count += 1
    return count


def prune(root: Root, compaction: Receipt, members: Sequence[Receipt]) -> None:
    """Fold some of the commits of a compaction anew, without the rest.

    The new compaction counts as soon as the old one does not: it has fewer commits.

    Raises
    ------
    WarehouseError
        When the old one does not hold all their rows.
    WriteFailed
        When the disk refuses; readers then see what they saw before.
    """
    tables = {}
    for file in compaction.files:
        own = [(member, f) for member in members for f in member.files if f.table == file.table]
        if not own:
            continue
        rows = read_file(root, file)
        kept = pa.concat_tables([own_rows(rows, member) for member, _ in own])
        expected = sum(f.row_count for _, f in own)
        if kept.num_rows != expected:
            raise WarehouseError(
                f"{storage.open(root).place(file.path)} has {kept.num_rows} rows of "
                f"{len(own)} commits; their receipts say {expected}: decaf check says what to do"
            )
        tables[file.table] = kept
    _commit(root, compaction, members, tables)


def _commit(
    root: Root, like: Receipt, members: Sequence[Receipt], tables: dict[str, pa.Table]
) -> None:
    inputs = {member.name: member.committed_at for member in members}
    key = short(json_sha256(inputs))
    commit(root, COMPACTIONS, like.study, key, tables, model_id=like.model_id, inputs=inputs)


def _committed(root: Root, study: str) -> list[Receipt]:
    kinds = (*FOLDED_KINDS, COMPACTIONS)
    return [receipt for kind in kinds for receipt in receipts.read_kind(root, kind, study)]


def extent(root: Root, study: str) -> Extent:
    """Number and bytes of the files that a reader of the study opens."""
    own = [receipt for receipt in receipts.read(root) if receipt.study == study]
    files = [file for receipt in resolve(own).read for file in receipt.files]
    return Extent(len(files), sum(file.byte_count for file in files))


def _groups(committed: Sequence[Receipt], fold_bytes: int) -> Iterator[list[_Unit]]:
    """Units to fold together: of one model, within the limit, in fewer files than now."""
    units = sorted(_units(committed), key=lambda unit: unit.source.model_id or "")
    for _, own in groupby(units, key=lambda unit: unit.source.model_id):
        group: list[_Unit] = []
        for unit in own:
            if group and sum(u.byte_count for u in group) + unit.byte_count > fold_bytes:
                yield group
                group = []
            group.append(unit)
        yield group


def _units(committed: Sequence[Receipt]) -> Iterator[_Unit]:
    """An earlier compaction is never split, so that a larger one always replaces it whole."""
    current = resolve(list(committed))
    folded: dict[str, list[Receipt]] = {}
    for receipt in committed:
        if compaction := covering(current, receipt):
            folded.setdefault(compaction.key, []).append(receipt)
    for receipt in current.read:
        members = folded[receipt.key] if receipt.kind == COMPACTIONS else [receipt]
        yield _Unit(tuple(members), receipt)


def _fold(root: Root, group: list[_Unit], compactions: list[Receipt], there: set[str]) -> None:
    files = [file for unit in group for file in unit.source.files]
    is_whole = all(file.path in there for file in files)
    if is_whole and len(files) == len({file.table for file in files}):
        return
    tables: dict[str, list[pa.Table]] = {}
    for unit in group:
        for file in unit.source.files:
            if unit.source.kind == COMPACTIONS:
                rows = read_file(root, file)
            else:
                rows = rows_of(root, unit.source, file.table, compactions)
            tables.setdefault(file.table, []).append(rows)
    members = [member for unit in group for member in unit.members]
    folded = {name: pa.concat_tables(parts) for name, parts in tables.items()}
    _commit(root, group[0].source, members, folded)
