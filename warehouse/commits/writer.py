"""Commit tables under a key so that readers see all of them or none, and never twice.

Every file is published whole (``warehouse.storage``), and the receipt goes last, the same way. The
same key is the same set of files, so a unit that is computed twice (after the death of a worker,
say) leaves one copy.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from decaf.errors import OutOfReach, WarehouseError, WriteFailed
from decaf.foundation.files import refusals_as
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.migrations import store_version, upgrade
from warehouse.commits.receipts import CommittedFile, Receipt
from warehouse.commits.seeds import write_missing_seeds
from warehouse.storage import Root, Storage, Write
from warehouse.tables.columns import SCHEMA_VERSION, Table
from warehouse.tables.declarations import TABLES

ROW_GROUP_ROWS = 122_880


def open_root(root: Root) -> Storage:
    """Open a warehouse for writing: create it, or bring an older one up to date.

    Raises WarehouseError when the folder or object store cannot be written, or holds a newer schema
    version, and AlreadyRunning when an older warehouse must be upgraded while a study of it is
    being audited.
    """
    store = storage.open(root)
    remedy = (
        "choose another folder with 'warehouse:' in the configuration, or change its permissions"
    )
    with refusals_as(WarehouseError, f"warehouse {store.address} cannot be written", remedy):
        store.prepare()
        if store.exists(layout.FORMAT):
            upgrade(store)
        else:
            store_version(store, SCHEMA_VERSION)
        write_missing_seeds(store)
    return store


def commit(
    store: Storage,
    kind: str,
    study: str,
    key: str,
    tables: Mapping[str, pa.Table | Iterable[pa.Table]],
    *,
    model_id: str | None = None,
    units: tuple[str, ...] = (),
    inputs: dict[str, str] | None = None,
    software: dict[str, str] | None = None,
    at: datetime | None = None,
) -> Receipt:
    """Write the tables of one commit, then its receipt.

    Raises WarehouseError when rows do not fit the declared schema or hold non-finite numbers, and
    WriteFailed when the storage refuses (full, read-only, away): readers see nothing of it then.

    Parameters
    ----------
    tables
        Rows by table name, with the columns of ``warehouse.tables.declarations`` in any order: a
        table, or several that are made and written one after the other. A table without rows leaves
        no file.
    units
        Keys of the units of work whose rows these are.
    inputs
        What was recorded, folded or withdrawn, by name.
    at
        Moment of the commit, where its rows tell it too; now if it is not given.
    """
    fitted = {name: _fitted(TABLES[name], rows) for name, rows in tables.items()}
    partition = {"study": study, "model_id": model_id or ""}
    counts: dict[str, list[int]] = {}

    def writes() -> Iterator[tuple[str, Write]]:
        for name, rows in fitted.items():
            if first := next(rows, None):
                path = layout.table_file(name, partition, key)
                counts[name] = []
                yield path, partial(_write_parquet, chain([first], rows), counts[name])

    try:
        contents = store.publish_all(writes())
        files = [
            CommittedFile(name, path, sum(counts[name]), *content)
            for name, (path, content) in zip(counts, contents.items(), strict=True)
        ]
        receipt = Receipt(
            kind=kind,
            study=study,
            key=key,
            model_id=model_id,
            committed_at=(at or datetime.now(UTC)).isoformat(),
            files=tuple(files),
            units=units,
            inputs=inputs or {},
            software=software or {},
        )
        text = receipt.to_json()
        store.publish(layout.receipt(kind, study, key), lambda file: file.write(text.encode()))
    except (OSError, OutOfReach) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise WriteFailed(
            f"commit {kind}/{study}/{key} in {store.address} failed: {reason}; nothing of it is "
            "visible. Free some space or repair the warehouse, then run the same command again"
        ) from error
    return receipt


def next_moment(store: Storage, kind: str, study: str) -> datetime:
    """Now, or just after the newest commit of a kind where the clock was set back since.

    For kinds whose newest commit is the one that counts: of runs and of re-audits.
    """
    newest, now = receipts.read_newest(store, kind, study), datetime.now(UTC)
    if newest is None:
        return now
    return max(now, datetime.fromisoformat(newest.committed_at) + timedelta(microseconds=1))


def remove_temporary_files(store: Storage, study: str) -> int:
    """Remove the temporary files that killed writers of a study left; returns how many.

    Call it while holding the study: a file that is being written would go too.
    """
    left = layout.study_files(store, study, (layout.TEMPORARY,))
    for entry in left:
        store.delete(entry.key)
    return len(left)


def _write_parquet(tables: Iterator[pa.Table], counts: list[int], file: BinaryIO) -> None:
    """Write tables one after the other, and note the rows of each."""
    first = next(tables)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        for rows in chain([first], tables):
            writer.write_table(rows, ROW_GROUP_ROWS)
            counts.append(rows.num_rows)


def _fitted(table: Table, rows: pa.Table | Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Tables that have rows, as :func:`_fit` makes them: one at once, several as they are read."""
    if isinstance(rows, pa.Table):
        fitted = _fit(table, rows)
        return iter([fitted] if fitted.num_rows else [])
    return (fitted for some in rows if (fitted := _fit(table, some)).num_rows)


def _fit(table: Table, rows: pa.Table) -> pa.Table:
    """Order and type the columns as declared; refuse strangers, NULLs and non-finite numbers."""
    expected, found = set(table.schema.names), set(rows.column_names)
    if expected != found:
        raise WarehouseError(
            f"table {table.name}: missing columns {sorted(expected - found)}, unknown columns "
            f"{sorted(found - expected)}"
        )
    try:
        fitted = rows.select(table.schema.names).cast(table.schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise WarehouseError(f"table {table.name}: {error}") from error
    for column in table.columns:
        flat = fitted[column.name].combine_chunks()
        flat = flat.flatten() if pa.types.is_list(flat.type) else flat
        if pa.types.is_floating(flat.type) and not _all_finite(flat):
            raise WarehouseError(f"table {table.name}: column {column.name} is not finite")
    return fitted


def _all_finite(values: pa.Array) -> bool:
    present = values.drop_null().to_numpy(zero_copy_only=False)
    return bool(np.isfinite(present).all())
