"""Write rows as CSV, JSON, LaTeX or Parquet while they are read: memory does not grow with them.

In CSV, NULL is an empty field, an empty text is ``""``, and lists and structures are JSON text.
JSON has no NaN and no infinity: they are written as DuckDB's text.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from decaf.errors import BadInput, QueryError, WriteFailed
from decaf.foundation.files import replace_file
from warehouse.query.catalog import Rows
from warehouse.query.latex import write_latex
from warehouse.query.values import json_ready

Result = TypeVar("Result")
SPREADSHEET = "spreadsheet"
"""CSV with an apostrophe before every text that a spreadsheet would compute."""
LATEX = "latex"
EXTENSIONS = {SPREADSHEET: "csv", LATEX: "tex"}
"""File extensions of formats whose name is not the extension."""
FORMULA = re.compile(r"\A([=+\-@\t\r\n＝＋－＠])")  # noqa: RUF001


def write_rows(rows: Rows, file_format: str, sink: IO[bytes]) -> int:
    """Write all rows to an open file in one of :data:`FORMATS`; return their number.

    Raises QueryError when the query fails on a row, or two columns have the same name in a format
    that needs distinct names.
    """
    return FORMATS[file_format](rows, sink)


def file_extension(file_format: str) -> str:
    """Extension of files of a format, without the dot."""
    return EXTENSIONS.get(file_format, file_format)


def write_file(target: Path, write: Callable[[IO[bytes]], int]) -> int:
    """Write a file as :func:`write_file_at` does; ``write`` gets an open file."""

    def write_opened(temporary: Path) -> int:
        with temporary.open("wb") as sink:
            return write(sink)

    return write_file_at(target, write_opened)


def write_file_at(target: Path, write: Callable[[Path], Result]) -> Result:
    """Write a file that a user named, whole or not at all.

    Raises BadInput when the target is a folder, or its parent is not a folder; WriteFailed when the
    disk cannot be written.
    """
    results: list[Result] = []
    if target.is_dir():
        raise BadInput(
            f"{target} is a folder; expected the name of a file, as in {target}/rows.csv"
        )
    try:
        replace_file(target, lambda temporary: results.append(write(temporary)))
    except (NotADirectoryError, FileExistsError, PermissionError) as error:
        raise BadInput(f"{target} cannot be written: {error.strerror}; choose another") from error
    except OSError as error:
        raise WriteFailed(
            f"{target} could not be written: {error.strerror}; an existing file is unchanged; free "
            "some space, or choose another place"
        ) from error
    return results[0]


def records(rows: Rows) -> Iterator[str]:
    """Format every row as one line of JSON, an object by column name."""
    names = _require_distinct_names(rows.schema)
    for batch in rows.batches:
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield to_json(dict(zip(names, values, strict=True)))


def _write_csv(rows: Rows, sink: IO[bytes], *, is_for_spreadsheet: bool = False) -> int:
    names = rows.schema.names
    if is_for_spreadsheet:
        names = [FORMULA.sub(r"'\1", name) for name in names]
    types = [pa.string() if _is_unsupported_by_csv(kind) else kind for kind in rows.schema.types]
    schema = pa.schema(zip(names, types, strict=True))

    def text(column: pa.Array) -> pa.Array:
        flat = _flatten(column)
        if is_for_spreadsheet and pa.types.is_string(flat.type):
            from pyarrow import compute  # slow to import, and only spreadsheets need it

            return compute.replace_substring_regex(flat, FORMULA.pattern, r"'\1")
        return flat

    flat = (
        pa.record_batch([text(column) for column in batch.columns], schema=schema)
        for batch in rows.batches
    )
    return _write_batches(csv.CSVWriter(sink, schema), flat)


def _write_jsonl(rows: Rows, sink: IO[bytes]) -> int:
    count = 0
    for line in records(rows):
        sink.write(f"{line}\n".encode())
        count += 1
    return count


def _write_json(rows: Rows, sink: IO[bytes]) -> int:
    count = 0
    for line in records(rows):
        sink.write(f"{',' if count else '['}\n{line}".encode())
        count += 1
    sink.write(b"\n]\n" if count else b"[]\n")
    return count


def _write_parquet(rows: Rows, sink: IO[bytes]) -> int:
    _require_distinct_names(rows.schema)
    return _write_batches(pq.ParquetWriter(sink, rows.schema, compression="zstd"), rows.batches)


def _write_batches(
    writer: csv.CSVWriter | pq.ParquetWriter, batches: Iterable[pa.RecordBatch]
) -> int:
    count = 0
    with writer:
        for batch in batches:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


FORMATS: dict[str, Callable[[Rows, IO[bytes]], int]] = {
    "csv": _write_csv,
    "json": _write_json,
    "jsonl": _write_jsonl,
    LATEX: write_latex,
    "parquet": _write_parquet,
    SPREADSHEET: partial(_write_csv, is_for_spreadsheet=True),
}
"""Writers by format; names are file extensions, except those in :data:`EXTENSIONS`."""


def _is_unsupported_by_csv(kind: pa.DataType) -> bool:
    """True if pyarrow's CSV writer cannot write the type."""
    has_numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    is_plain = has_numbers or pa.types.is_decimal(kind) or pa.types.is_boolean(kind)
    return not (is_plain or pa.types.is_string(kind) or pa.types.is_temporal(kind)) or (
        pa.types.is_interval(kind) or pa.types.is_duration(kind)
    )


def _flatten(column: pa.Array) -> pa.Array:
    if not _is_unsupported_by_csv(column.type):
        return column
    ready = (json_ready(value) for value in column.to_pylist())
    texts = (
        value if value is None or isinstance(value, str) else to_json(value) for value in ready
    )
    return pa.array(texts, pa.string())


def to_json(value: object) -> str:
    """Write a value as one line of JSON."""
    return json.dumps(json_ready(value), ensure_ascii=False, allow_nan=False)


def _require_distinct_names(schema: pa.Schema) -> list[str]:
    repeated = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if repeated:
        raise QueryError(
            f"found several columns named {', '.join(repeated)}; rename one of them, as in "
            f"SELECT a.{repeated[0]} AS other_{repeated[0]}"
        )
    return schema.names
