"""Commit tables under a key so that readers see all of them or none, and never twice.

Every file is written under a name that ends in ``.tmp``, flushed to disk and renamed; the receipt
goes last, the same way. The same key is the same set of files, so a shard that is computed twice
(after the death of a worker, say) leaves one copy.
"""

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from decaf.errors import WarehouseError, WriteFailed
from decaf.files import replace_file
from warehouse import layout
from warehouse.migrations import store_version, upgrade
from warehouse.receipts import CommittedFile, Receipt
from warehouse.schemas import SCHEMA_VERSION, TABLES, Table

ROW_GROUP_ROWS = 122_880


def open_root(root: Path) -> Path:
    """Create the warehouse, or bring an older one up to date, and return its absolute root.

    Raises
    ------
    WarehouseError
        When the folder cannot be written, or belongs to a newer schema version.
    AlreadyRunning
        When an older warehouse must be upgraded while a study of it is being audited.
    """
    root = root.absolute()
    try:
        root.mkdir(parents=True, exist_ok=True)
        if layout.format_file(root).exists():
            upgrade(root)
        else:
            store_version(root, SCHEMA_VERSION)
        for table in TABLES.values():
            seed = layout.seed_file(root, table.name)
            if not seed.exists():
                empty = _empty(table)
                replace_file(seed, lambda path, empty=empty: _write_parquet(empty, path))
        _probe(root)
    except OSError as error:
        raise WarehouseError(
            f"warehouse {root} cannot be written: {error.strerror}; choose another folder with "
            "'warehouse:' in the configuration, or change its permissions"
        ) from error
    return root


def commit(
    root: Path,
    kind: str,
    study: str,
    key: str,
    tables: dict[str, pa.Table],
    *,
    model_id: str | None = None,
    inputs: dict[str, str] | None = None,
    software: dict[str, str] | None = None,
) -> Receipt:
    """Write the tables of one commit, then its receipt.

    Parameters
    ----------
    tables
        Rows by table name, with the columns of ``warehouse.schemas`` in any order. A table
        without rows leaves no file.
    inputs
        Named fields that determined the key, kept for explaining a miss.

    Raises
    ------
    WarehouseError
        When rows do not fit the declared schema or hold non-finite numbers.
    WriteFailed
        When the disk refuses (full, read-only); nothing of the commit is visible then.
    """
    fitted = {name: _fit(TABLES[name], rows) for name, rows in tables.items()}
    partition = {"study": study, "model_id": model_id or ""}
    files = []
    try:
        for name, rows in fitted.items():
            if rows.num_rows:
                path = layout.table_file(root, name, partition, key)
                replace_file(path, lambda target, rows=rows: _write_parquet(rows, target))
                files.append(_describe(root, name, path, rows.num_rows))
        receipt = Receipt(
            kind=kind,
            study=study,
            key=key,
            model_id=model_id,
            committed_at=datetime.now(UTC).isoformat(),
            files=tuple(files),
            inputs=inputs or {},
            software=software or {},
        )
        text = receipt.to_json()
        replace_file(
            layout.receipt_file(root, kind, study, key), lambda path: path.write_text(text)
        )
    except OSError as error:
        raise WriteFailed(
            f"commit {kind}/{study}/{key} in {root} failed: {error.strerror}; nothing of it is "
            "visible. Free some space or repair the folder, then run the same command again"
        ) from error
    return receipt


def sweep(root: Path, study: str) -> int:
    """Remove the temporary files that killed writers of a study left; returns how many.

    Call it while holding the study: a file that is being written would go too.
    """
    left = [path for path in layout.study_files(root, study) if path.suffix == ".tmp"]
    for path in left:
        path.unlink(missing_ok=True)
    return len(left)


def _write_parquet(rows: pa.Table, path: Path) -> None:
    pq.write_table(rows, path, compression="zstd", row_group_size=ROW_GROUP_ROWS)


def _empty(table: Table) -> pa.Table:
    return table.schema.empty_table()


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


def _describe(root: Path, table: str, path: Path, row_count: int) -> CommittedFile:
    content = path.read_bytes()
    return CommittedFile(
        table=table,
        path=path.relative_to(root).as_posix(),
        row_count=row_count,
        byte_count=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


def _probe(root: Path) -> None:
    """Fail now rather than after the first shard when the folder takes no files."""
    probe = root / f".probe.{os.getpid()}.tmp"
    try:
        probe.write_text("writable\n")
    finally:
        probe.unlink(missing_ok=True)
