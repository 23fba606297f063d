"""Clean inputs, read once per data set into a memory-mapped file that all workers share."""

import math
import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.inputs import InputColumns
from decaf.data.pairs import Input, InputSet
from decaf.data.texts import parts_of
from decaf.errors import DataError, WriteFailed
from decaf.foundation.arrays import mapped_array
from decaf.foundation.digests import short
from decaf.foundation.files import convert_os_errors, replace_file

INPUTS_PER_ROUND = 256
"""Inputs that the threads read before they wait for each other."""
INPUTS_PER_CALL = 8192
"""Most inputs that one call reads, if the data set can read several."""
READERS = min(32, (os.cpu_count() or 1) + 4)
"""Threads that read inputs, each a share: one task per input would cost more than a small row."""
REPORTED_FAULTS = 10
Allocate = Callable[[tuple[int, ...], np.dtype[Any]], NDArray[Any]]
"""Function that makes an array of a shape and type, with unset values."""
ReadMany = Callable[[InputColumns], NDArray[Any] | None]
FIRST = np.arange(1)
"""Number of the first input."""
FOLDER = "inputs"
"""Folder in the workspace."""


def input_file(workspace: Path, inputs: InputSet) -> Path:
    """File of the clean inputs of a set; its name depends only on their content."""
    return workspace / FOLDER / f"{short(inputs.digest)}.npy"


def is_stored(workspace: Path, inputs: InputSet) -> bool:
    """True if the clean inputs of a set lie in a workspace.

    Raises WriteFailed when the workspace cannot be read.
    """
    remedy = "restore its permissions, or set 'workspace:' to another folder"
    with convert_os_errors(WriteFailed, f"workspace {workspace} cannot be used", remedy):
        return input_file(workspace, inputs).exists()


def open_inputs(path: Path) -> NDArray[Any]:
    """Open stored inputs as their data set gave them, memory-mapped, read-only.

    The file has (n, height, width, 3 or 1) uint8 images, or (n, …) float32 or float64 arrays. If
    inputs differ in shape, it has all their values one after the other, (values,).
    """
    return np.load(path, mmap_mode="r", allow_pickle=False)


def inputs_at(
    path: Path,
    places: NDArray[np.int64],
    shape: tuple[int, ...] | None = None,
    allocate: Allocate = np.empty,
) -> NDArray[Any]:
    """(n, …) stored inputs at :attr:`InputSet.places`.

    They must have one shape; give it as ``shape`` if the set has several. ``allocate`` makes the
    array of the result.
    """
    stored = open_inputs(path)
    if shape is None and allocate is np.empty:
        return stored[places]  # all at once, which is quicker for small rows
    row_shape, values = (stored.shape[1:], 1) if shape is None else (shape, math.prod(shape))
    inputs = allocate((len(places), *row_shape), stored.dtype)
    for row, place in zip(inputs, places, strict=True):
        row[...] = stored[place : place + values].reshape(row_shape)
    return inputs


def channels_first(stored: NDArray[Any]) -> NDArray[Any]:
    """Stored inputs in the order of axes that paths and models take; no copy is made.

    8-bit images (n, height, width, channels) become (n, channels, height, width); floats stay,
    in any shape. :func:`decaf.foundation.arrays.as_taken` scales them to [0, 1] where they are
    used.
    """
    return stored.transpose(0, 3, 1, 2) if stored.dtype == np.uint8 else stored


def store_inputs(
    workspace: Path,
    inputs: InputSet,
    read: Callable[[Input], NDArray[Any]],
    check: Callable[[Input, NDArray[Any]], None] | None = None,
    read_many: ReadMany | None = None,
) -> Path:
    """Read every input of the set into one file, unless it has been done before.

    ``read_many`` reads many inputs at once, (n, …), or returns None to have them read one by one.
    Raises DataError, naming the first few inputs, when inputs cannot be read, fail the check (by
    default :func:`check_kind`) or differ in type; inputs that state no shape must also have one
    shape. Raises WriteFailed when the workspace is full or cannot be written. After an error, no
    file is left.
    """
    target = input_file(workspace, inputs)
    if target.exists():
        return target
    remedy = "free some space there, or set 'workspace:' to another folder"
    write = _write_each
    if read_many is not None and (first := read_many(inputs.inputs.take(FIRST))) is not None:
        write = partial(_write_many, read_many, first)
    with convert_os_errors(WriteFailed, f"inputs cannot be stored in {target.parent}", remedy):
        replace_file(target, lambda path: write(path, inputs, read, check or check_kind))
    return target


def read_every_input(
    inputs: InputSet, read: Callable[[Input], NDArray[Any]], read_many: ReadMany | None = None
) -> None:
    """Read every input of the set as :func:`store_inputs` does, without storing any.

    Does nothing if ``read_many`` reads the inputs, as for a table, whose rows a data set reads to
    name them. Raises DataError as :func:`store_inputs` does.
    """
    if read_many is None or read_many(inputs.inputs.take(FIRST)) is None:
        _read_each(inputs, read, _read_first(inputs, read, check_kind))


def _write_many(
    read_many: ReadMany,
    first: NDArray[Any],
    path: Path,
    inputs: InputSet,
    read: Callable[[Input], NDArray[Any]],
    check: Callable[[Input, NDArray[Any]], None],
) -> None:
    """Write inputs many at a time, through a file handle.

    If they were written through the map, all of the file would stay in memory.
    """
    check(inputs.inputs[0], first[0])
    count = len(inputs.inputs)
    offset = mapped_array(path, first.dtype, (count, *first.shape[1:])).offset
    with path.open("r+b") as file:
        file.seek(offset)
        for numbers in parts_of(np.arange(count), INPUTS_PER_CALL):
            some = inputs.inputs.take(numbers)
            values = read_many(some)
            expected = first.dtype, (numbers.size, *first.shape[1:])
            if values is None or (values.dtype, values.shape) != expected:
                actual = "nothing" if values is None else f"{values.dtype} {values.shape}"
                raise DataError(
                    f"read_inputs() gives {actual} for {some.image_ids[0]} and the inputs after "
                    f"it; expected {expected[0]} {expected[1]}, as for the first input"
                )
            file.write(np.ascontiguousarray(values).data)


def unusable_error(faults: Collection[str], what: str, where_and_remedy: str = "") -> DataError:
    """Error that counts faults and names the first few."""
    named = [*faults][:REPORTED_FAULTS]
    if len(faults) > len(named):
        named.append(f"and {len(faults) - len(named)} more")
    return DataError(
        "\n  ".join([f"{what} that cannot be used: {len(faults)}{where_and_remedy}", *named])
    )


def _write_each(
    path: Path,
    inputs: InputSet,
    read: Callable[[Input], NDArray[Any]],
    check: Callable[[Input, NDArray[Any]], None],
) -> None:
    """Write inputs one by one, through a map of the file."""
    first = _read_first(inputs, read, check)
    count = sum(math.prod(image.shape or first.shape) for image in inputs.inputs)
    whole = (count,) if inputs.shapes else (len(inputs.inputs), *first.shape)
    store = mapped_array(path, first.dtype, whole)
    values, unit = store.reshape(-1), 1 if inputs.shapes else first.size

    def write(position: int, array: NDArray[Any]) -> None:
        place = inputs.places[position] * unit
        values[place : place + array.size] = array.ravel()

    _read_each(inputs, read, first, write)
    store.flush()


def _read_first(
    inputs: InputSet,
    read: Callable[[Input], NDArray[Any]],
    check: Callable[[Input, NDArray[Any]], None],
) -> NDArray[Any]:
    """Read and check the first input that can be read; raises DataError if none can."""
    faults = []
    for image in inputs.inputs:
        try:
            array = read(image)
        except DataError as error:
            faults.append(str(error))
            continue
        check(image, array)
        return array
    raise unusable_error(faults, "inputs", f" of {len(inputs.inputs)}")


def _read_each(
    inputs: InputSet,
    read: Callable[[Input], NDArray[Any]],
    first: NDArray[Any],
    write: Callable[[int, NDArray[Any]], None] | None = None,
) -> None:
    """Read all inputs, and pass each with its position to ``write``, from several threads.

    Raises DataError, naming the first few, for inputs that cannot be read, or that have another
    type than ``first`` or another shape than they state, by default that of ``first``.
    """
    images, faults = inputs.inputs, dict[int, str]()

    def read_some(positions: range) -> None:
        for position in positions:
            image = images[position]
            try:
                array = read(image)
            except DataError as error:
                faults[position] = str(error)
                continue
            shape = image.shape or first.shape
            if (array.shape, array.dtype) != (shape, first.dtype):
                like = "" if inputs.shapes else " like the first input"
                faults[position] = (
                    f"{image.image_id} is {array.dtype} {array.shape}; expected "
                    f"{first.dtype} {shape}{like}"
                )
            elif write is not None:
                write(position, array)

    with ThreadPoolExecutor(READERS) as pool:
        for start in range(0, len(images), INPUTS_PER_ROUND):
            positions = range(start, min(start + INPUTS_PER_ROUND, len(images)))
            list(pool.map(read_some, (positions[share::READERS] for share in range(READERS))))
    if faults:
        named = [faults[position] for position in sorted(faults)]
        raise unusable_error(named, "inputs", f" of {len(images)}")


def check_kind(image: Input, array: NDArray[Any]) -> None:
    """Check that an input is an image in bytes, or floats with at least one axis and one value.

    Raises DataError, with its type and shape, when it is neither.
    """
    is_image = array.dtype == np.uint8 and array.ndim == 3 and array.shape[2] in (1, 3)
    is_float = array.dtype in (np.float32, np.float64) and array.size > 0 and array.ndim > 0
    if not (is_image or is_float):
        raise DataError(
            f"{image.image_id} is {array.dtype} {array.shape}; expected an image, uint8 (height, "
            "width, 3) or (height, width, 1), or float32 or float64 with at least one axis and one "
            "value, such as a row (features,) or a signal (channels, length)"
        )


def check_mask(mask: Input, array: NDArray[Any]) -> None:
    """Check that a mask is an unsigned integer array of one or two axes.

    Raises DataError, with its type and shape, when it is not.
    """
    if array.dtype.kind != "u" or array.ndim not in (1, 2):
        raise DataError(
            f"the mask {mask.image_id} is {array.dtype} {array.shape}; expected unsigned whole "
            "numbers (height, width), or (features,), of which each bit is a feature"
        )
