"""Convert DuckDB lists to NumPy arrays, and arrays to lists."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import ResponseError


def positions(places: pa.Array) -> NDArray[np.int32]:
    """(n,) positions of sources; raises ResponseError for NULL and for a negative position."""
    if places.null_count or places.to_numpy().min(initial=0) < 0:
        raise ResponseError(
            "bootstrap: found a position that is NULL or negative; expected positions of sources, "
            "from 0"
        )
    return places.to_numpy()


def numbers(values: pa.Array) -> NDArray[np.float64]:
    """(n,) numbers, NaN for NULL."""
    return values.to_numpy(zero_copy_only=False)


def lengths(lists: pa.ListArray) -> NDArray[np.int32]:
    """(n,) length of every list, 0 for NULL."""
    return lists.value_lengths().fill_null(0).to_numpy()


def doubles(values: NDArray[np.float64]) -> pa.Array:
    """Convert numbers to ``DOUBLE``, NULL for NaN."""
    return pa.array(values, from_pandas=True)


def lists(values: pa.Array, lengths: list[int]) -> pa.ListArray:
    """Cut values into lists of these lengths."""
    return pa.ListArray.from_arrays(np.cumsum([0, *lengths], dtype=np.int32), values)


def nest_arrays(results: list[NDArray[np.float64]]) -> pa.ListArray:
    """Convert arrays of three axes, one for each row, to lists of lists of lists."""
    values = doubles(np.concatenate([np.empty(0), *(result.ravel() for result in results)]))
    shapes = [result.shape for result in results]
    innermost = lists(values, [n for groups, rows, n in shapes for _ in range(groups * rows)])
    inner = lists(innermost, [rows for groups, rows, _ in shapes for _ in range(groups)])
    return lists(inner, [groups for groups, _, _ in shapes])
