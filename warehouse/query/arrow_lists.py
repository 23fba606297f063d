"""Lists of DuckDB as NumPy arrays, and arrays as lists."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import ResponseError


def positions(places: pa.Array) -> NDArray[np.int32]:
    """(n,) positions of clusters; raises ResponseError for NULL and for a negative position."""
    if places.null_count or places.to_numpy().min(initial=0) < 0:
        raise ResponseError(
            "bootstrap: found a position that is NULL or negative; expected the places of "
            "clusters, from 0"
        )
    return places.to_numpy()


def numbers(values: pa.Array) -> NDArray[np.float64]:
    """(n,) numbers, NaN for NULL."""
    return values.to_numpy(zero_copy_only=False)


def lengths(lists: pa.ListArray) -> NDArray[np.int32]:
    """Length of every list; that of NULL is 0."""
    return lists.value_lengths().fill_null(0).to_numpy()


def doubles(values: NDArray[np.float64]) -> pa.Array:
    """Numbers as ``DOUBLE``, NULL for NaN."""
    return pa.array(values, from_pandas=True)


def lists(values: pa.Array, lengths: list[int]) -> pa.ListArray:
    """Cut values into lists of these lengths."""
    return pa.ListArray.from_arrays(np.cumsum([0, *lengths], dtype=np.int32), values)


def nested(results: list[NDArray[np.float64]]) -> pa.ListArray:
    """Arrays of three axes, one for each row, as lists of lists of lists."""
    values = doubles(np.concatenate([np.empty(0), *(result.ravel() for result in results)]))
    shapes = [result.shape for result in results]
    innermost = lists(values, [n for groups, rows, n in shapes for _ in range(groups * rows)])
    inner = lists(innermost, [rows for groups, rows, _ in shapes for _ in range(groups)])
    return lists(inner, [groups for groups, _, _ in shapes])
