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
from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS, FOLDED_KINDS, covering, names, resolve
from warehouse.commits.lock import study_lock
from warehouse.commits.receipts import Receipt
from warehouse.commits.stored import own_rows, read_files
from warehouse.commits.writer import commit, remove_temporary_files
from warehouse.storage import Storage
from warehouse.tables.columns import Table
from warehouse.tables.declarations import TABLES

FOLD_BYTES = 256 * 2**20
"""Bytes of Parquet that one compaction folds at most, which bounds the memory that it takes."""
FOLDED = (*FOLDED_KINDS, COMPACTIONS)
"""Kinds of commits that a compaction is made of."""


class Extent(NamedTuple):
    """Files that readers open, and their bytes."""

    file_count: int
    byte_count: int


class Compacted(NamedTuple):
    """What a compaction did for the readers of one study."""

    study: str
    before: Extent
    after: Extent


class Part(NamedTuple):
    """A receipt whose files are read, and the commits of which they are wanted."""

    source: Receipt
    members: Sequence[Receipt]


def compact(store: Storage, study: str, fold_bytes: int = FOLD_BYTES) -> Compacted:
    """Fold the units of a study, model by model.

    What is folded already stays, unless new commits join it. A second call changes nothing, and a
    call after one that was stopped does the rest. One set of files holds at most ``fold_bytes``; a
    commit that is larger stays alone.

    Raises AlreadyRunning when the study is being audited, UnknownName when the warehouse has
    nothing of it, WarehouseError when rows that a receipt names cannot be found any more, and
    WriteFailed when the disk refuses; readers then see what they saw before.
    """
    studies = receipts.studies(store)
    if study not in studies:
        raise UnknownName.among("study", study, studies)
    with study_lock(store, study):
        remove_temporary_files(store, study)
        before = extent(store, study)
        repair_compactions(store, study)
        sizes = _sizes(store, study)
        for group in _groups(parts(list(receipts.read(store, study, FOLDED))), fold_bytes):
            files = [file for part in group for file in part.source.files]
            is_split = len(files) > len({file.table for file in files})
            if is_split or any(file.path not in sizes for file in files):
                fold(store, group)
        return Compacted(study, before, extent(store, study))


def repair_compactions(store: Storage, study: str) -> int:
    """Fold anew what nothing but compactions that do not count any more hold; returns how many.

    A commit whose receipt was deleted, or that was made again, takes its compaction out of use,
    and the small files of the others may be gone. Call it while holding the study.

    Raises WarehouseError when rows that a receipt names cannot be found any more.
    """
    if not receipts.keys(store, COMPACTIONS, study):
        return 0
    committed = list(receipts.read(store, study, FOLDED))
    current = resolve(committed)
    sizes = _sizes(store, study) if current.idle else {}
    lost = [
        receipt
        for receipt in committed
        if receipt.kind != COMPACTIONS
        and covering(current, receipt) is None
        and any(sizes.get(file.path) != file.byte_count for file in receipt.files)
    ]
    count = 0
    for compaction in current.idle:
        members = [receipt for receipt in lost if names(compaction, receipt)]
        if members:
            fold(store, [Part(compaction, members)])
            lost = [receipt for receipt in lost if receipt not in members]
            count += 1
    return count


def parts(committed: Sequence[Receipt]) -> list[Part]:
    """What is read of commits; an earlier compaction is one part, with all that it folds."""
    current = resolve(list(committed))
    folded: dict[str, list[Receipt]] = {}
    for receipt in committed:
        if compaction := covering(current, receipt):
            folded.setdefault(compaction.name, []).append(receipt)
    return [Part(source, folded.get(source.name, [source])) for source in current.read]


def fold(store: Storage, group: Sequence[Part]) -> None:
    """Commit a compaction of the members of all parts, which are of one model.

    Where a part lacks commits that its source holds, the new compaction counts as soon as the old
    one does not: it has fewer commits.

    Raises WarehouseError when the sources do not hold all their rows, and WriteFailed when the disk
    refuses; readers then see what they saw before.
    """
    wanted = [
        (file, own)
        for source, members in group
        for file in source.files
        if (own := [(m, f.row_count) for m in members for f in m.files if f.table == file.table])
    ]
    tables: dict[str, list[pa.Table]] = {}
    for (file, own), stored in zip(
        wanted, read_files(store, [file for file, _ in wanted]), strict=True
    ):
        rows = pa.concat_tables([own_rows(stored, member) for member, _ in own])
        expected = sum(count for _, count in own)
        if rows.num_rows != expected:
            raise WarehouseError(
                f"{store.place(file.path)} has {rows.num_rows} rows of {len(own)} "
                f"commits; their receipts say {expected}: decaf check says what to do"
            )
        tables.setdefault(file.table, []).append(rows)
    source = group[0].source
    inputs = {member.name: member.committed_at for part in group for member in part.members}
    key = short(json_sha256(inputs))
    folded = {
        name: _in_order(TABLES[name], pa.concat_tables(rows)) for name, rows in tables.items()
    }
    commit(store, COMPACTIONS, source.study, key, folded, model_id=source.model_id, inputs=inputs)


def _in_order(table: Table, rows: pa.Table) -> pa.Table:
    """Rows in the order of their key, path by path.

    Each group of rows in the file then has its own range of pairs, which its statistics tell, so a
    reader passes over those that a question about one path or pair does not need.
    """
    own = [name for name in table.key if name in rows.column_names]
    own.sort(key=lambda name: name != "path")
    return rows.sort_by([(name, "ascending") for name in own])


def _sizes(store: Storage, study: str) -> dict[str, int]:
    files = layout.study_files(store, study)
    return {entry.key: entry.byte_count for entry in files}


def extent(store: Storage, study: str) -> Extent:
    """Number and bytes of the files that a reader of the study opens."""
    read = resolve(list(receipts.read(store, study))).read
    files = [file for receipt in read for file in receipt.files]
    return Extent(len(files), sum(file.byte_count for file in files))


def _groups(read: Sequence[Part], fold_bytes: int) -> Iterator[list[Part]]:
    """Parts to fold together: those of one model, within the limit."""
    of_models = sorted(read, key=lambda part: part.source.model_id or "")
    for _, of_model in groupby(of_models, key=lambda part: part.source.model_id):
        group: list[Part] = []
        total = 0
        for part in of_model:
            size = sum(file.byte_count for file in part.source.files)
            if group and total + size > fold_bytes:
                yield group
                group, total = [], 0
            group.append(part)
            total += size
        yield group
