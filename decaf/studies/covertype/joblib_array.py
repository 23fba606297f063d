"""Read an array that joblib stored, without running its pickle.

``joblib.dump`` writes a short pickle that describes the array, then its bytes. A pickle names the
functions to call. Three names are allowed here; each stands for a class of this module that only
stores its arguments. Every other name ends the reading.
"""

import io
import math
import pickle
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError
from decaf.foundation.files import refusals_as

NUMBERS = re.compile(r"[iu][1248]|f[48]")
BYTE_ORDERS = ("<", ">", "|")
LONGEST_DESCRIPTION = 1 << 16
"""Bytes in which the description ends; it has about 220."""


class _Described(Exception):
    """The description is complete; the bytes of the array follow in the stream."""


class _Wrapper:
    """Stands for joblib's description of an array."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        raise _Described(state)


class _Type:
    """Stands for numpy's type of elements."""

    def __init__(self, code: str, *_: bool) -> None:
        self.code = code

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.byte_order = state[1]

    def check(self) -> np.dtype:
        if not NUMBERS.fullmatch(self.code):
            raise ValueError(f"its elements are of type {self.code!r}, not numbers")
        if self.byte_order not in BYTE_ORDERS:
            raise ValueError(f"its bytes have the order {self.byte_order!r}")
        return np.dtype(self.byte_order + self.code)


ARRAY = "numpy ndarray"
STAND_INS: dict[str, type | str] = {
    "joblib.numpy_pickle NumpyArrayWrapper": _Wrapper,
    ARRAY: ARRAY,
    "numpy dtype": _Type,
}


# The one written in Python: it reads no byte beyond the description, and a large number in a
# damaged file makes it allocate nothing.
class _Reader(pickle._Unpickler):
    def find_class(self, module: str, name: str) -> type | str:
        if f"{module} {name}" not in STAND_INS:
            raise ValueError(f"it names {module} {name}")
        return STAND_INS[f"{module} {name}"]


def read_array(path: Path) -> NDArray[np.number]:
    """Read an array of numbers from a file of ``joblib.dump(array, path, compress=9)``; read-only.

    Raises DataError when the file cannot be read, is cut short, or holds anything but one array of
    whole or floating-point numbers; nothing of it has been called then.
    """
    with refusals_as(DataError, f"{path} cannot be read", "get the file again"):
        content = path.read_bytes()
    try:
        return _array(content)
    # A damaged or foreign pickle can raise any error.
    except (
        *(ValueError, LookupError, TypeError, AttributeError, OverflowError, EOFError),
        *(pickle.UnpicklingError, struct.error, zlib.error),
    ) as error:
        raise DataError(
            f"{path} is no array of numbers as joblib.dump(array, path, compress=9) writes it "
            f"({error}), and nothing else is opened: it could run code. Get the file again"
        ) from error


def _array(content: bytes) -> NDArray[np.number]:
    start = io.BytesIO(zlib.decompressobj().decompress(content, LONGEST_DESCRIPTION))
    state = _description(start)
    dtype, shape, order = state["dtype"].check(), state["shape"], state["order"]
    if state["subclass"] is not ARRAY:
        raise ValueError("it has no plain array")
    if order not in ("C", "F") or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"it has the shape {shape} and the order {order!r}")
    if state.get("numpy_array_alignment_bytes") is not None:
        padding = start.read(1)[0]
        start.seek(padding, io.SEEK_CUR)
    count = math.prod(shape)
    first, last = start.tell(), start.tell() + count * dtype.itemsize
    unpacking = zlib.decompressobj()
    whole = unpacking.decompress(content, last + 2)
    if not unpacking.eof or whole[last:] != pickle.STOP:
        raise ValueError("the file is cut short, or has more than one array")
    return np.frombuffer(whole, dtype, count, first).reshape(shape, order=order)


def _description(stream: io.BytesIO) -> dict[str, Any]:
    """Description of the array in the pickle; leaves the stream after the pickle."""
    try:
        _Reader(stream).load()
    except _Described as described:
        return described.args[0]
    raise ValueError("it has no array")
