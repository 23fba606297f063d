"""Commit tables under a key, so that readers see all of them at once, or none.

Every file is published whole (``warehouse.storage``), and the receipt last. Equal keys have equal
sets of files, so that a unit that is computed twice leaves one copy.
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
from decaf.foundation.files import convert_os_errors
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.receipts import CommittedFile, Receipt
from warehouse.commits.version import check_version, write_version
from warehouse.storage import Root, Storage, Write
from warehouse.tables.columns import SCHEMA_VERSION, Table
from warehouse.tables.declarations import TABLES

ROW_GROUP_ROWS = 122_880


def open_root(root: Root) -> Storage:
    """Open a warehouse for writing; creates it if there is none.

    Raises WarehouseError when the folder or object store cannot be written, or holds another schema
    version.
    """
    store = storage.open(root)
    remedy = (
        "choose another folder with 'warehouse:' in the configuration, or change its permissions"
    )
    with convert_os_errors(WarehouseError, f"warehouse {store.address} cannot be written", remedy):
        store.prepare()
        if store.exists(layout.FORMAT):
            check_version(store)
        else:
            write_version(store, SCHEMA_VERSION)
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
    WriteFailed when the storage cannot be written (full, read-only, unreachable). Readers then see
    nothing of the commit.

    Parameters
    ----------
    tables
        Rows by table name, with the columns of ``warehouse.tables.declarations`` in any order: a
        table, or an iterable of tables that are written one after the other. A table without rows
        leaves no file.
    units
        Keys of the units whose rows the commit holds.
    inputs
        Values that belong to the kind of commit, by name (:class:`Receipt`).
    at
        Moment of the commit, by default now; needed if the rows state this moment.
    """
    conformed_tables = {name: _conform_all(TABLES[name], rows) for name, rows in tables.items()}
    partition = {"study": study, "model_id": model_id or ""}
    counts: dict[str, list[int]] = {}

    def writes() -> Iterator[tuple[str, Write]]:
        for name, rows in conformed_tables.items():
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
            f"commit {kind}/{study}/{key} in {store.address} failed: {reason}; readers see nothing "
            "of it. Free some space or repair the warehouse, then run the same command again"
        ) from error
    return receipt


def next_moment(store: Storage, kind: str, study: str) -> datetime:
    """Now, or just after the newest commit of a kind if the clock was set back since.

    For kinds whose newest commit counts: runs and re-audits.
    """
    newest, now = receipts.read_newest(store, kind, study), datetime.now(UTC)
    if newest is None:
        return now
    return max(now, datetime.fromisoformat(newest.committed_at) + timedelta(microseconds=1))


def remove_temporary_files(store: Storage, study: str) -> int:
    """Remove temporary files of killed writers of a study; returns their number.

    Call it while holding the study's lock: it also removes files that are being written.
    """
    entries = layout.study_files(store, study, (layout.TEMPORARY,))
    for entry in entries:
        store.delete(entry.key)
    return len(entries)


def _write_parquet(tables: Iterator[pa.Table], counts: list[int], file: BinaryIO) -> None:
    """Write tables one after the other, and append the number of rows of each to ``counts``."""
    first = next(tables)
    encoded = _dictionary_columns(first.schema)
    with pq.ParquetWriter(file, first.schema, compression="zstd", use_dictionary=encoded) as writer:
        for rows in chain([first], tables):
            writer.write_table(rows, ROW_GROUP_ROWS)
            counts.append(rows.num_rows)


def _dictionary_columns(schema: pa.Schema) -> list[str]:
    """Parquet names of the columns without floats.

    Floats seldom repeat: with a dictionary they take more time and more room.
    """
    columns = []
    for field in schema:
        name, values = field.name, field.type
        while pa.types.is_list(values):
            name, values = f"{name}.list.element", values.value_type
        if not pa.types.is_floating(values):
            columns.append(name)
    return columns


def _conform_all(table: Table, rows: pa.Table | Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Conform one table at once, or several as they are read; leaves out tables without rows."""
    if isinstance(rows, pa.Table):
        conformed = _conform(table, rows)
        return iter([conformed] if conformed.num_rows else [])
    return (conformed for part in rows if (conformed := _conform(table, part)).num_rows)


def _conform(table: Table, rows: pa.Table) -> pa.Table:
    """Order and type the columns as declared.

    Raises WarehouseError for missing or unknown columns, NULLs and non-finite numbers.
    """
    expected, actual = set(table.schema.names), set(rows.column_names)
    if expected != actual:
        raise WarehouseError(
            f"table {table.name}: missing columns {sorted(expected - actual)}, unknown columns "
            f"{sorted(actual - expected)}"
        )
    try:
        conformed = rows.select(table.schema.names).cast(table.schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise WarehouseError(f"table {table.name}: {error}") from error
    for column in table.columns:
        flat = conformed[column.name].combine_chunks()
        flat = flat.flatten() if pa.types.is_list(flat.type) else flat
        if pa.types.is_floating(flat.type) and not _all_finite(flat):
            raise WarehouseError(f"table {table.name}: {column.name} has non-finite numbers")
    return conformed


def _all_finite(values: pa.Array) -> bool:
    present = values.drop_null().to_numpy(zero_copy_only=False)
    return bool(np.isfinite(present).all())
