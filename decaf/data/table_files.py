"""Small tables that users supply: CSV with a header, Parquet, or JSON lines.

Rows are counted from 1, below the header. A CSV is UTF-8 with commas, with or without a byte order
mark; an empty cell is a missing value. pyarrow reads Parquet and Arrow files; this module has
nothing to do with the warehouse.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError, abridge, suggestion
from decaf.foundation.files import convert_os_errors, open_file
from decaf.foundation.names import quote

JSON_LINES = (".jsonl", ".ndjson")
EXPECTED = "expected a table with a header: .csv, .parquet, .jsonl or .ndjson"

Columns = dict[str, list[Any]]


class _OtherFormat(ValueError):
    """A file whose content is not of the format of its suffix."""


def read_table(path: Path) -> dict[str, list[str | None]]:
    """Columns of a table as texts, in which whole numbers have no point; else as read_columns."""
    return {name: [*map(as_text, cells)] for name, cells in read_columns(path).items()}


def read_columns(path: Path) -> Columns:
    """Columns of a table by name, in the order of the file; None for a missing value.

    A CSV has texts, other formats have their own types. Raises DataError if the file cannot be
    read, is not a table of these formats, or has no row.
    """
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise DataError(f"table {path} has the suffix {path.suffix!r}; {EXPECTED}")
    with (
        convert_os_errors(DataError, f"table {path} cannot be read", EXPECTED),
        open_file(path) as file,
    ):
        content = file.read()
    try:
        columns = read(content)
    except _OtherFormat as error:
        raise DataError(f"table {path}: {error}; {EXPECTED}") from error
    except ValueError as error:
        raise DataError(f"table {path}: {error}") from error
    count = max(map(len, columns.values()), default=0)
    if not count:
        raise DataError(f"table {path} has no rows; {EXPECTED}")
    return columns


def unused_columns(table: Iterable[str], used: Collection[str | None]) -> tuple[str, ...]:
    """Remark that lists the unused columns of a table; empty without any."""
    unused = [quote(name) for name in table if name not in used]
    return (f"columns that are not used: {abridge(unused)}",) if unused else ()


def arrow_column(path: Path, name: str) -> NDArray[Any]:
    """(n, …) column of an Arrow IPC file: tensors, nested lists of fixed sizes, numbers or texts.

    Numbers are mapped into memory if the file has one batch of rows and is not compressed.
    Raises DataError when there is no such column, or it has missing values.
    """
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
        table.validate(full=True)
        if name not in table.column_names:
            raise ValueError(f"it has no column {name!r}{suggestion(name, table.column_names)}")
        array = _dense(table[name], name)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be used: {error}; expected an Arrow IPC file with a column for each "
            "array, of numbers, texts, tensors or lists of a fixed size"
        ) from error
    array.flags.writeable = False
    return array


def _dense(chunks: Any, name: str) -> NDArray[Any]:
    """(n, …) array of a column of Arrow.

    Raises ValueError if the column has no rows, has missing values, or is not an array.
    """
    import pyarrow as pa

    kind = chunks.type
    parts = [getattr(part, "storage", part) for part in chunks.chunks]
    if not parts:
        raise ValueError("it has no rows")
    column = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
    shape = [len(column)]
    while pa.types.is_fixed_size_list(column.type) and not column.null_count:
        shape.append(column.type.list_size)
        column = column.flatten()
    if column.null_count:
        raise ValueError(f"column {name!r} has missing values; fill them in, or drop the rows")
    if isinstance(kind, pa.FixedShapeTensorType):
        if kind.permutation not in (None, [*range(len(kind.shape))]):
            raise ValueError(f"the axes of column {name!r} are permuted; store them in order")
        shape[1:] = kind.shape
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return np.array(column.to_pylist(), np.str_)
    return column.to_numpy(zero_copy_only=False).reshape(shape)


def _csv(content: bytes) -> Columns:
    rows = csv.reader(io.StringIO(_decode(content), newline=""), strict=True)
    try:
        _check_names(names := next(rows, []))
        check_header(names)
        table = []
        for number, cells in enumerate(filter(None, rows), 1):
            if len(cells) != len(names):
                raise ValueError(f"row {number} has {len(cells)} cells; expected {len(names)}")
            table.append([cell or None for cell in cells])
    except csv.Error as error:
        raise _OtherFormat(f"line {rows.line_num} is not CSV ({error})") from error
    return {name: [row[number] for row in table] for number, name in enumerate(names)}


def _json_lines(content: bytes) -> Columns:
    def constant(word: str) -> None:
        raise ValueError(f"{word} is not a JSON number")

    def columns_of(cells: list[tuple[str, Any]]) -> dict[str, Any]:
        refuse_equal_names(name for name, _ in cells)
        return dict(cells)

    table: list[dict[str, Any]] = []
    for number, line in enumerate(filter(str.strip, _decode(content).splitlines()), 1):
        try:
            row = json.loads(line, parse_constant=constant, object_pairs_hook=columns_of)
        except (ValueError, RecursionError) as error:
            raise _OtherFormat(f"row {number} cannot be read as JSON ({error})") from error
        if not isinstance(row, dict):
            raise ValueError(f"row {number} is {type(row).__name__}; expected an object of columns")
        table.append(row)
    names = list(dict.fromkeys(name for row in table for name in row))
    _check_names(names)
    return {name: [row.get(name) for row in table] for name in names}


def _parquet(content: bytes) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        _check_names(file.schema_arrow.names)
        return file.read().to_pydict()
    except (pa.ArrowException, OSError) as error:
        raise _OtherFormat(f"it is not a Parquet file ({error})") from error


def parquet_names(file: BinaryIO) -> list[str]:
    """Names of the columns of a Parquet file; pandas refuses duplicates without naming them."""
    import pyarrow.parquet as pq

    return pq.read_schema(file).names


READERS: dict[str, Callable[[bytes], Columns]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    **dict.fromkeys(JSON_LINES, _json_lines),
}


def _decode(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _OtherFormat(f"line {line} is not UTF-8 ({error.reason})") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _OtherFormat(f"line {line} has a NUL byte")
    return text


def _check_names(names: Sequence[str]) -> None:
    if not all(names):
        raise ValueError(f"column {list(names).index('') + 1} has no name; name every column")
    refuse_equal_names(names)


def refuse_equal_names(names: Iterable[str]) -> None:
    """Raise ValueError if two columns have the same name."""
    if twice := [quote(name) for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"it has {abridge(twice)} more than once; expected different names")


def check_header(header: Sequence[str]) -> None:
    """Raise ValueError for a CSV with another separator than commas, or with a name twice."""
    separator = (
        next((mark for mark in ";\t|" if mark in header[0]), None) if len(header) == 1 else None
    )
    if separator is not None:
        raise ValueError(
            f"its header is one column, {quote(header[0])}: the file seems to be separated by "
            f"{separator!r}; expected commas, and points in numbers"
        )
    refuse_equal_names(filter(None, header))


def as_text(value: Any) -> str | None:
    """Value as text; whole numbers have no point."""
    if value is None or isinstance(value, str):
        return value
    has_no_fraction = isinstance(value, float) and value.is_integer()
    return str(int(value) if has_no_fraction else value)
