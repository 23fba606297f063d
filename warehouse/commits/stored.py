"""Read the rows of one commit, wherever they are by now."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from decaf.errors import WarehouseError
from warehouse.commits import receipts
from warehouse.commits.current import COMPACTIONS, names
from warehouse.commits.receipts import CommittedFile, Receipt
from warehouse.storage import Storage


def read_unit(
    store: Storage, study: str, commit: str, unit_key: str, table: str
) -> pa.Table | None:
    """Rows of a table that a unit of work has, in the commit of that key; ``None`` without any.

    Raises WarehouseError when there is no such commit, or its rows are neither in its own file nor
    in a compaction.
    """
    receipt = receipts.read_one(store, "units", study, commit)
    rows = rows_of(store, receipt, table, receipts.read_kind(store, COMPACTIONS, study))
    if rows is None:
        return None
    own = rows.filter(pc.equal(rows["unit_key"], unit_key))
    return own if own.num_rows else None


def own_rows(rows: pa.Table, receipt: Receipt) -> pa.Table:
    """The rows of a commit among those of several."""
    if "commit_key" in rows.column_names:
        return rows.filter(pc.equal(rows["commit_key"], receipt.key))
    return rows.filter(pc.is_in(rows["unit_key"], pa.array(receipt.units, pa.string())))


def rows_of(
    store: Storage, receipt: Receipt, table: str, compactions: Iterable[Receipt]
) -> pa.Table | None:
    """Rows of a table that a commit wrote, from its own file or from one of the compactions.

    Raises WarehouseError when no file holds as many of its rows as the receipt says.
    """
    own = [file for file in receipt.files if file.table == table]
    if not own:
        return None
    folded = (
        file
        for compaction in compactions
        if names(compaction, receipt)
        for file in compaction.files
        if file.table == table
    )
    for file in (*own, *folded):
        with suppress(WarehouseError):
            rows = read_file(store, file)
            rows = own_rows(rows, receipt)
            if rows.num_rows == own[0].row_count:
                return rows
    raise WarehouseError(
        f"{store.place(own[0].path)} is missing or damaged, and no compaction holds "
        f"its {own[0].row_count} rows; decaf check --repair gives up {receipt.name} of study "
        f"{receipt.study}, and the next run computes it again"
    )


def read_file(store: Storage, file: CommittedFile) -> pa.Table:
    """Rows of one file, whose content is what its receipt says.

    Raises WarehouseError when the file is missing, damaged, or another one.
    """
    return next(read_files(store, [file]))


def read_files(store: Storage, files: Sequence[CommittedFile]) -> Iterator[pa.Table]:
    """Rows of files, in their sequence; an object store is asked for several at once.

    Raises WarehouseError when a file is missing, damaged, or another one.
    """
    found = store.read_many(file.path for file in files)
    for file in files:
        place = store.place(file.path)
        try:
            key, content = next(found, ("", b""))
        except OSError as error:
            raise WarehouseError(
                f"{place} cannot be read: {error}; decaf check says what to do"
            ) from error
        if key != file.path:  # what is not there is passed over
            raise WarehouseError(
                f"{place} cannot be read: it is not there; decaf check says what to do"
            )
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise WarehouseError(
                f"{place} is not the file that was committed; decaf check says what to do"
            )
        yield pq.ParquetFile(pa.BufferReader(content)).read()
