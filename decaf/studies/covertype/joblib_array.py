"""Read an array that joblib stored, without unpickling.

``joblib.dump`` writes a short pickle that describes the array, then its bytes. Loading a pickle
calls what it names, so here its instructions are only looked at: a small machine follows the few
that describe an array of numbers, knows three names, and resolves none. Anything else is refused.
"""

import io
import math
import pickletools
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError

WRAPPER = "joblib.numpy_pickle NumpyArrayWrapper"
ARRAY = "numpy ndarray"
TYPE = "numpy dtype"
NUMBERS = re.compile(r"[iu][1248]|f[48]")
LONGEST_START = 1 << 16
"""Bytes in which the description ends; it has about 220."""
PLAIN = ("BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE", "SHORT_BINUNICODE")
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "MARK": object()}
TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class _Name(NamedTuple):
    """Module and name as they stand in the pickle."""

    text: str


@dataclass
class _Made:
    """What a pickle would make: by which name, of what, and with which state."""

    of: Any
    given: Any
    state: Any = None


class _Description(NamedTuple):
    dtype: np.dtype
    shape: tuple[int, ...]
    order: str
    has_padding: bool


def read_array(path: Path) -> NDArray[np.number]:
    """Read an array of numbers from a file of ``joblib.dump(array, path, compress=9)``.

    Returns
    -------
    The array in its own shape and type, read-only.

    Raises
    ------
    DataError
        When the file cannot be read, is cut short, or holds anything but one array of whole or
        floating-point numbers; nothing of it has been called then.
    """
    try:
        content = path.read_bytes()
        start = io.BytesIO(zlib.decompressobj().decompress(content, LONGEST_START))
        described = _described(_first_built(start))
        if described.has_padding:
            start.seek(start.read(1)[0], io.SEEK_CUR)
        count = math.prod(described.shape)
        first, last = start.tell(), start.tell() + count * described.dtype.itemsize
        unpacking = zlib.decompressobj()
        whole = unpacking.decompress(content, last + 2)
        if not unpacking.eof or whole[last:] != b".":
            raise ValueError("the file is cut short, or has more than one array")
        values = np.frombuffer(whole, described.dtype, count, first)
        return values.reshape(described.shape, order=described.order)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}; get the file again") from error
    # What a damaged or foreign pickle leads to is not known beforehand.
    except (
        *(ValueError, LookupError, TypeError, AttributeError, OverflowError),
        zlib.error,
    ) as error:
        raise DataError(
            f"{path} is no array of numbers as joblib.dump(array, path, compress=9) writes it "
            f"({error}), and nothing else is opened: it could run code. Get the file again"
        ) from error


def _first_built(stream: io.BytesIO) -> Any:
    """What the pickle builds first at the bottom of its stack; the stream is left behind it."""
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    for opcode, argument, _ in pickletools.genops(stream):
        match opcode.name:
            case "PROTO" | "FRAME":
                pass
            case "MEMOIZE":
                memo[len(memo)] = stack[-1]
            case "BINPUT" | "LONG_BINPUT":
                memo[argument] = stack[-1]
            case "SETITEMS":
                items = _since_mark(stack)
                stack[-1].update(zip(items[::2], items[1::2], strict=True))
            case "BUILD":
                (state,) = _taken(stack, 1)
                stack[-1].state = state
                if len(stack) == 1:
                    return stack[0]
            case name:
                stack.append(_pushed(name, argument, stack, memo))
    raise ValueError("it has no array")


def _pushed(name: str, argument: Any, stack: list[Any], memo: dict[int, Any]) -> Any:
    """What an instruction puts on the stack, in the place of what it takes off it."""
    if name in PLAIN:
        return argument
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in TUPLES:
        return tuple(_taken(stack, TUPLES[name]))
    match name:
        case "BINGET" | "LONG_BINGET":
            return memo[argument]
        case "GLOBAL":
            return _known(argument)
        case "STACK_GLOBAL":
            return _known(" ".join(_taken(stack, 2)))
        case "TUPLE":
            return tuple(_since_mark(stack))
        case "EMPTY_DICT":
            return {}
        case "NEWOBJ" | "REDUCE":
            return _Made(*_taken(stack, 2))
    raise ValueError(f"it has the instruction {name}")


def _known(text: str) -> _Name:
    if text not in (WRAPPER, ARRAY, TYPE):
        raise ValueError(f"it names {text}")
    return _Name(text)


def _taken(stack: list[Any], count: int) -> list[Any]:
    """The last so many of a stack, taken off it."""
    kept = len(stack) - count
    if kept < 0:
        raise IndexError("its stack is empty")
    found = stack[kept:]
    del stack[kept:]
    return found


def _since_mark(stack: list[Any]) -> list[Any]:
    """All behind the last mark, taken off the stack with it."""
    places = [place for place, one in enumerate(stack) if one is CONSTANTS["MARK"]]
    _, *found = _taken(stack, len(stack) - places[-1])
    return found


def _described(made: Any) -> _Description:
    state, dtype = made.state, made.state["dtype"]
    code, shape, order = dtype.given[0], state["shape"], state["order"]
    if (made.of, state["subclass"], dtype.of) != (_Name(WRAPPER), _Name(ARRAY), _Name(TYPE)):
        raise ValueError("it has no plain array")
    if not NUMBERS.fullmatch(code):
        raise ValueError(f"its elements are of type {code!r}, not numbers")
    if order not in ("C", "F") or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"it has the shape {shape} and the order {order!r}")
    byte_order = dtype.state[1]
    has_padding = state.get("numpy_array_alignment_bytes") is not None
    return _Description(np.dtype(f"{byte_order}{code}"), shape, order, has_padding)
