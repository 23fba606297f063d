"""Read the rows of one commit, wherever they are by now."""

from collections.abc import Iterable
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from decaf.errors import WarehouseError
from warehouse import storage
from warehouse.commits import receipts
from warehouse.commits.current import COMPACTIONS, names
from warehouse.commits.receipts import CommittedFile, Receipt
from warehouse.storage import Root

KEY_COLUMN = {
    "shards": "shard_key",
    "profiles": "profile_key",
    "measurements": "measurement_key",
    "baselines": "baseline_key",
}
"""Column that says to which commit of a kind a row belongs."""


def read_commit(root: Root, kind: str, study: str, key: str, table: str) -> pa.Table | None:
    """Rows of a table that a commit wrote; ``None`` when it had none.

    Raises
    ------
    WarehouseError
        When there is no such commit, or its rows are neither in its own file nor in a compaction.
    """
    receipt = receipts.read_one(root, kind, study, key)
    return rows_of(root, receipt, table, receipts.read_kind(root, COMPACTIONS, study))


def rows_of(
    root: Root, receipt: Receipt, table: str, compactions: Iterable[Receipt]
) -> pa.Table | None:
    """Rows of a table that a commit wrote, from its own file or from one of the compactions.

    Raises
    ------
    WarehouseError
        When no file holds as many of its rows as the receipt says.
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
            rows = read_file(root, file)
            rows = rows.filter(pc.equal(rows[KEY_COLUMN[receipt.kind]], receipt.key))
            if rows.num_rows == own[0].row_count:
                return rows
    raise WarehouseError(
        f"{storage.open(root).place(own[0].path)} is missing or damaged, and no compaction holds "
        f"its {own[0].row_count} rows; delete receipts/{receipt.kind}/{receipt.study}/"
        f"{receipt.key}.json and run the audit again: it is computed anew"
    )


def read_file(root: Root, file: CommittedFile) -> pa.Table:
    """Rows of one file, as many as its receipt says.

    Raises
    ------
    WarehouseError
        When the file is missing, damaged, or has other rows.
    """
    store = storage.open(root)
    place = store.place(file.path)
    try:
        rows = pq.ParquetFile(pa.BufferReader(store.read(file.path))).read()
    except (OSError, pa.ArrowException) as error:
        raise WarehouseError(
            f"{place} cannot be read: {error}; decaf check says what to do"
        ) from error
    if rows.num_rows != file.row_count:
        raise WarehouseError(
            f"{place} has {rows.num_rows} rows, its receipt says {file.row_count}; "
            "decaf check says what to do"
        )
    return rows
