"""Merge the many small files of a study into few large ones while others read.

A compaction writes its files next to the replaced files, then its receipt, like any commit. It
deletes no file: earlier readers continue to read the small files, and ``decaf gc`` removes these
after a grace period.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from decaf.errors import UnknownName, WarehouseError
from decaf.foundation.digests import json_sha256, short
from warehouse.commits import layout, receipts
from warehouse.commits.current import (
    COMPACTED_KINDS,
    COMPACTIONS,
    find_compaction,
    has_commit,
    resolve,
)
from warehouse.commits.lock import study_lock
from warehouse.commits.receipts import Receipt
from warehouse.commits.stored import read_files, select_rows
from warehouse.commits.writer import commit, remove_temporary_files
from warehouse.storage import Storage
from warehouse.tables.columns import Table
from warehouse.tables.declarations import TABLES

MERGE_BYTES = 256 * 2**20
"""Most bytes of Parquet in one compaction, which limits its memory."""
MERGED_KINDS = (*COMPACTED_KINDS, COMPACTIONS)
"""Kinds of commits that a compaction merges."""


class Extent(NamedTuple):
    """Files that readers open, and their bytes."""

    file_count: int
    byte_count: int


class Compaction(NamedTuple):
    """Files that readers of one study open, before and after a compaction."""

    study: str
    before: Extent
    after: Extent


class Part(NamedTuple):
    """A receipt whose files are read, and the commits whose rows are merged."""

    source: Receipt
    members: Sequence[Receipt]


def compact(store: Storage, study: str, merge_bytes: int = MERGE_BYTES) -> Compaction:
    """Merge the files of the units of a study, model by model.

    Earlier compactions stay, unless they are merged with new commits. A second call changes
    nothing; if a call is interrupted, the next call completes it. One set of files holds at most
    ``merge_bytes``; a larger commit is not merged.

    Raises AlreadyRunning when the study is being audited, UnknownName when the warehouse does not
    have the study, WarehouseError when committed rows are missing, and WriteFailed when the storage
    cannot be written. After an error, readers see the same rows as before.
    """
    studies = receipts.studies(store)
    if study not in studies:
        raise UnknownName.among("study", study, studies)
    with study_lock(store, study):
        remove_temporary_files(store, study)
        before = extent(store, study)
        repair_compactions(store, study)
        sizes = _file_sizes(store, study)
        for group in _group_parts(
            list_parts(list(receipts.read(store, study, MERGED_KINDS))), merge_bytes
        ):
            files = [file for part in group for file in part.source.files]
            is_split = len(files) > len({file.table for file in files})
            if is_split or any(file.path not in sizes for file in files):
                merge_parts(store, group)
        return Compaction(study, before, extent(store, study))


def repair_compactions(store: Storage, study: str) -> int:
    """Merge commits again whose rows only idle compactions hold; returns the number of merges.

    A compaction becomes idle when one of its commits is deleted or repeated. The small files of its
    other commits may be deleted already. Call it while holding the study's lock.

    Raises WarehouseError when committed rows are missing.
    """
    if not receipts.keys(store, COMPACTIONS, study):
        return 0
    committed = list(receipts.read(store, study, MERGED_KINDS))
    current = resolve(committed)
    sizes = _file_sizes(store, study) if current.idle else {}
    lost = [
        receipt
        for receipt in committed
        if receipt.kind != COMPACTIONS
        and find_compaction(current, receipt) is None
        and any(sizes.get(file.path) != file.byte_count for file in receipt.files)
    ]
    count = 0
    for compaction in current.idle:
        members = [receipt for receipt in lost if has_commit(compaction, receipt)]
        if members:
            merge_parts(store, [Part(compaction, members)])
            lost = [receipt for receipt in lost if receipt not in members]
            count += 1
    return count


def list_parts(committed: Sequence[Receipt]) -> list[Part]:
    """List the parts that readers open; a compaction is one part with all its commits."""
    current = resolve(list(committed))
    members: dict[str, list[Receipt]] = {}
    for receipt in committed:
        if compaction := find_compaction(current, receipt):
            members.setdefault(compaction.name, []).append(receipt)
    return [Part(source, members.get(source.name, [source])) for source in current.read]


def merge_parts(store: Storage, group: Sequence[Part]) -> None:
    """Commit a compaction of the members of all parts, which belong to one model.

    If a part lacks commits of its source, the new compaction has fewer commits than the old one.
    Readers then use it only after the old one has become idle.

    Raises WarehouseError when the sources lack some of their rows, and WriteFailed when the storage
    cannot be written. After an error, readers see the same rows as before.
    """
    members_by_file = [
        (file, members_of_file)
        for source, members in group
        for file in source.files
        if (
            members_of_file := [
                (m, f.row_count) for m in members for f in m.files if f.table == file.table
            ]
        )
    ]
    tables: dict[str, list[pa.Table]] = {}
    for (file, members_of_file), stored in zip(
        members_by_file, read_files(store, [file for file, _ in members_by_file]), strict=True
    ):
        rows = pa.concat_tables([select_rows(stored, member) for member, _ in members_of_file])
        expected = sum(count for _, count in members_of_file)
        if rows.num_rows != expected:
            raise WarehouseError(
                f"{store.place(file.path)} has {rows.num_rows} rows of {len(members_of_file)} "
                f"commits; expected {expected}, as in their receipts: run decaf check"
            )
        tables.setdefault(file.table, []).append(rows)
    source = group[0].source
    inputs = {member.name: member.committed_at for part in group for member in part.members}
    key = short(json_sha256(inputs))
    merged = {
        name: _sort_rows(TABLES[name], pa.concat_tables(rows)) for name, rows in tables.items()
    }
    commit(store, COMPACTIONS, source.study, key, merged, model_id=source.model_id, inputs=inputs)


def _sort_rows(table: Table, rows: pa.Table) -> pa.Table:
    """Sort rows by path, then by the other columns of their key.

    Each row group of the file then covers a narrow range of pairs, which its statistics state.
    Queries about one path or pair skip the other row groups.
    """
    columns = [name for name in table.key if name in rows.column_names]
    columns.sort(key=lambda name: name != "path")
    return rows.sort_by([(name, "ascending") for name in columns])


def _file_sizes(store: Storage, study: str) -> dict[str, int]:
    files = layout.study_files(store, study)
    return {entry.key: entry.byte_count for entry in files}


def extent(store: Storage, study: str) -> Extent:
    """Number and bytes of the files that a reader of the study opens."""
    read = resolve(list(receipts.read(store, study))).read
    files = [file for receipt in read for file in receipt.files]
    return Extent(len(files), sum(file.byte_count for file in files))


def _group_parts(read: Sequence[Part], merge_bytes: int) -> Iterator[list[Part]]:
    """Group parts to merge: those of one model, up to ``merge_bytes``."""
    sorted_parts = sorted(read, key=lambda part: part.source.model_id or "")
    for _, parts_of_model in groupby(sorted_parts, key=lambda part: part.source.model_id):
        group: list[Part] = []
        total = 0
        for part in parts_of_model:
            size = sum(file.byte_count for file in part.source.files)
            if group and total + size > merge_bytes:
                yield group
                group, total = [], 0
            group.append(part)
            total += size
        yield group
