"""Arrays in untrusted files, mapped into memory and never unpickled."""

import struct
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.table_files import arrow_column
from decaf.data.zarr_stores import ChunkedRows, newest_file, zarr_rows
from decaf.errors import DataError, suggestion
from decaf.foundation.files import convert_os_errors, open_file

NPY, NPZ, ARROW, ZARR = ".npy", ".npz", ".arrow", ".zarr"
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""Header of a file in a zip archive; its name and its extra field follow."""
HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
Rows = NDArray[Any] | ChunkedRows
READERS: dict[str, Callable[[Path, str], Rows]] = {ARROW: arrow_column, ZARR: zarr_rows}
KINDS = "biufU"
"""Kinds of numbers, truth values and texts, in NumPy's letters."""
EXPECTED = "expected .npy, .npz as numpy.savez writes it, .arrow with tensors, or a folder .zarr"


def map_array(path: Path, name: str) -> Rows:
    """Map an array of a file into memory, read-only; an unchanged file is opened only once.

    Arrays of a zarr store, which is a folder, are read by chunks instead. ``name`` is the array of
    an ``.npz`` file, which must not be compressed, or the column of an ``.arrow`` file. Raises
    DataError if the file cannot be read, is cut short, or holds anything but numbers, truth values
    or texts (such as Python objects).
    """
    with convert_os_errors(DataError, f"array {path} cannot be read", EXPECTED):
        if path.suffix.lower() != ZARR or not path.is_dir():
            open_file(path).close()
        return _map_rows(path, name, path.stat().st_mtime_ns)


def opened_again(path: Path, name: str) -> Rows:
    """Open the rows again, in their present state: chunks may change while the folder does not."""
    _map_rows.cache_clear()
    return map_array(path, name)


def modified_at(path: Path) -> int:
    """Time of the last change of a file, or of any file of a store, ns; raises DataError."""
    with convert_os_errors(DataError, f"array {path} cannot be read", EXPECTED):
        return newest_file(path) if path.is_dir() else path.stat().st_mtime_ns


@lru_cache(maxsize=16)
def _map_rows(path: Path, name: str, modified: int) -> Rows:
    suffix = path.suffix.lower()
    if suffix in READERS:
        array, where = READERS[suffix](path, name), f"array {name!r} of {path}"
        _check_kind(array.dtype, array.shape, where)
        return array
    if suffix not in (NPY, NPZ):
        raise DataError(f"array {path} has the suffix {path.suffix!r}; {EXPECTED}")
    try:
        with open_file(path) as file:
            if suffix == NPZ:
                file.seek(_place(path, name))
            version = np.lib.format.read_magic(file)
            if version not in HEADERS:
                raise ValueError(f"it has the unknown version {version}")
            shape, is_fortran, dtype = HEADERS[version](file)
            start = file.tell()
    except (ValueError, KeyError, EOFError, struct.error, zipfile.BadZipFile) as error:
        raise DataError(f"array {path} cannot be read: {error}; {EXPECTED}") from error
    where = f"array {path}" if suffix == NPY else f"array {name!r} of {path}"
    _check_kind(dtype, shape, where)
    needed = start + dtype.itemsize * int(np.prod(shape, dtype=object))
    if (size := path.stat().st_size) < needed:
        raise DataError(f"{where} is cut short: {size:,} of {needed:,} bytes; copy it again")
    return np.asarray(np.memmap(path, dtype, "r", start, shape, "F" if is_fortran else "C"))


def _check_kind(dtype: np.dtype[Any], shape: tuple[int, ...], where: str) -> None:
    if dtype.kind not in KINDS:
        what = "objects, which need unpickling" if dtype.hasobject else f"{dtype}"
        raise DataError(f"{where} holds {what}; expected numbers, or texts of a fixed length")
    if not shape or min(*shape, dtype.itemsize) < 1:
        raise DataError(f"{where} is {dtype} {shape}; expected (n, …), with no axis of length 0")


def _place(path: Path, name: str) -> int:
    """Start of an array in an archive, bytes."""
    with zipfile.ZipFile(path) as archive:
        names = [file_name.removesuffix(NPY) for file_name in archive.namelist()]
        if name not in names:
            raise DataError(f"{path} has no array {name!r}{suggestion(name, names)}")
        entry = archive.infolist()[names.index(name)]
    if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
        raise DataError(
            f"array {name!r} of {path} is compressed, so it cannot be mapped into memory; write it "
            "with numpy.savez or numpy.save"
        )
    with path.open("rb") as file:
        file.seek(entry.header_offset)
        *_, name_size, extra_size = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
    return entry.header_offset + LOCAL_HEADER.size + name_size + extra_size
