"""Arrow's memory as NumPy's and back, without a copy.

Arrow's own conversions load pandas, which takes longer than to open a warehouse.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import ResponseError


def positions(places: pa.Array) -> NDArray[np.int32]:
    """Positions of clusters as they are, none of them missing or negative."""
    if places.null_count or np.from_dlpack(places).min(initial=0) < 0:
        raise ResponseError(
            "bootstrap: found a position that is NULL or negative; expected the places of "
            "clusters, from 0"
        )
    return np.from_dlpack(places)


def numbers(values: pa.Array) -> NDArray[np.float64]:
    """Numbers in which NaN stands for NULL."""
    return filled(values, np.float64(np.nan))


def lengths(lists: pa.ListArray) -> NDArray[np.int32]:
    """Length of every list; that of NULL is 0."""
    return filled(lists.value_lengths(), np.int32(0))


def stored(values: pa.Array) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Arrow's memory as numbers, and which of them are there: what NULL stands on is anything."""
    if not values.null_count:
        return np.from_dlpack(values), np.ones(len(values), bool)
    numbers = [None, values.buffers()[1]]
    whole = pa.Array.from_buffers(values.type, len(values), numbers, offset=values.offset)
    valid = values.is_valid()  # may begin within a byte
    bits = np.frombuffer(valid.buffers()[1], np.uint8)[valid.offset // 8 :]
    before = valid.offset % 8
    is_there = np.unpackbits(bits, count=before + len(values), bitorder="little")[before:]
    return np.from_dlpack(whole), is_there.view(bool)


def filled(values: pa.Array, missing: np.generic) -> NDArray[Any]:
    """Arrow's memory as an array, of the type of ``missing``, which stands for NULL.

    Arrow's own ``to_numpy`` would load pandas, which takes longer than to open a warehouse; so
    would its ``array`` and ``scalar``.
    """
    if values.null_count:
        values = values.fill_null(given(np.full(1, missing))[0])
    return np.from_dlpack(values)


def given(values: NDArray[Any], known: NDArray[np.bool_] | None = None) -> pa.Array:
    """The memory of an array as Arrow's, NULL where it is not known."""
    bits = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    type_ = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(type_, len(values), [bits, pa.py_buffer(values)])


def doubles(values: NDArray[np.float64]) -> pa.Array:
    """Numbers as ``DOUBLE``, in which NULL stands for NaN."""
    return given(values, ~np.isnan(values))


def texts(values: Sequence[str | None]) -> pa.Array:
    """Texts as Arrow has them."""
    encoded = [b"" if value is None else value.encode() for value in values]
    known = np.packbits([value is not None for value in values], bitorder="little")
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [pa.py_buffer(part) for part in (known, offsets, b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def lists(values: pa.Array, lengths: list[int]) -> pa.ListArray:
    """Cut values into lists of these lengths."""
    return pa.ListArray.from_arrays(given(np.cumsum([0, *lengths], dtype=np.int32)), values)


def nested(results: list[NDArray[np.float64]]) -> pa.ListArray:
    """Arrays of three axes, one for each row, as lists of lists of lists."""
    values = doubles(np.concatenate([np.empty(0), *(result.ravel() for result in results)]))
    shapes = [result.shape for result in results]
    innermost = lists(values, [n for groups, rows, n in shapes for _ in range(groups * rows)])
    inner = lists(innermost, [rows for groups, rows, _ in shapes for _ in range(groups)])
    return lists(inner, [groups for groups, _, _ in shapes])
