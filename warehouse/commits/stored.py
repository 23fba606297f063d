"""Read the rows of one commit, from its own files or from a compaction."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from decaf.errors import WarehouseError
from warehouse.commits import receipts
from warehouse.commits.current import COMPACTIONS, has_commit
from warehouse.commits.receipts import CommittedFile, Receipt
from warehouse.storage import Storage


def read_unit(
    store: Storage, study: str, commit: str, unit_key: str, table: str
) -> pa.Table | None:
    """Read the rows of one unit in a table; None if there are none. ``commit`` is a key.

    Raises WarehouseError when there is no such commit, or its rows are neither in its own file nor
    in a compaction.
    """
    receipt = receipts.read_one(store, "units", study, commit)
    rows = read_rows(store, receipt, table, receipts.read_kind(store, COMPACTIONS, study))
    if rows is None:
        return None
    unit_rows = rows.filter(pc.equal(rows["unit_key"], unit_key))
    return unit_rows if unit_rows.num_rows else None


def select_rows(rows: pa.Table, receipt: Receipt) -> pa.Table:
    """Select the rows of a commit from the rows of several commits."""
    if "commit_key" in rows.column_names:
        return rows.filter(pc.equal(rows["commit_key"], receipt.key))
    return rows.filter(pc.is_in(rows["unit_key"], pa.array(receipt.units, pa.string())))


def read_rows(
    store: Storage, receipt: Receipt, table: str, compactions: Iterable[Receipt]
) -> pa.Table | None:
    """Read the rows of a commit in a table, from its own file or one of the compactions.

    Returns None if the commit has no rows in the table. Raises WarehouseError when no file holds
    the number of rows in the receipt.
    """
    files = [file for file in receipt.files if file.table == table]
    if not files:
        return None
    compacted_files = (
        file
        for compaction in compactions
        if has_commit(compaction, receipt)
        for file in compaction.files
        if file.table == table
    )
    for file in (*files, *compacted_files):
        with suppress(WarehouseError):
            rows = read_file(store, file)
            rows = select_rows(rows, receipt)
            if rows.num_rows == files[0].row_count:
                return rows
    raise WarehouseError(
        f"{store.place(files[0].path)} is missing or damaged, and no compaction holds "
        f"its {files[0].row_count} rows; decaf check --repair withdraws {receipt.name} of study "
        f"{receipt.study}, and the next run computes it again"
    )


def read_file(store: Storage, file: CommittedFile) -> pa.Table:
    """Read the rows of one file and compare its digest with its receipt.

    Raises WarehouseError when the file is missing or differs from its receipt.
    """
    return next(read_files(store, [file]))


def read_files(store: Storage, files: Sequence[CommittedFile]) -> Iterator[pa.Table]:
    """Read the rows of files, in their sequence; an object store sends several at once.

    Raises WarehouseError when a file is missing or differs from its receipt.
    """
    contents = store.read_many(file.path for file in files)
    for file in files:
        place = store.place(file.path)
        try:
            key, content = next(contents, ("", b""))
        except OSError as error:
            raise WarehouseError(
                f"{place} cannot be read: {error}; decaf check says what to do"
            ) from error
        if key != file.path:  # read_many passes over missing files
            raise WarehouseError(f"{place} is missing; decaf check says what to do")
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise WarehouseError(
                f"{place} is not the file that was committed; decaf check says what to do"
            )
        yield pq.ParquetFile(pa.BufferReader(content)).read()
