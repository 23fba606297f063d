"""Arrays in stores of zarr, read a chunk of rows at a time."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError, abridge, suggestion
from decaf.foundation.extras import optional

CODECS = {
    *("blosc", "bytes", "bz2", "crc32c", "delta", "gzip", "lz4", "lzma", "sharding_indexed"),
    *("shuffle", "transpose", "zlib", "zstd"),
}
"""Allowed codecs of chunks; other codecs (pickle above all) could run untrusted code."""
EXPECTED = "expected a folder that zarr wrote, of an array or of a group of arrays"


class ChunkedRows:
    """(n, …) array in a store; two chunks of its rows are held in memory at a time."""

    def __init__(self, array: Any, where: str) -> None:
        self._array, self._where = array, where
        self.shape: tuple[int, ...] = array.shape
        self.dtype = np.dtype(array.dtype)
        self.ndim = len(self.shape)
        self._rows_at_once = (array.shards or array.chunks or (1,))[0]
        self._chunk = lru_cache(maxsize=2)(self._read)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, row: int) -> Any:
        """One row, (…); raises DataError if its chunk cannot be read."""
        number, place = divmod(range(len(self))[row], self._rows_at_once)
        return self._chunk(number)[place]

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def _read(self, number: int) -> NDArray[Any]:
        start = number * self._rows_at_once
        try:
            return np.asarray(self._array[start : start + self._rows_at_once])
        except Exception as error:  # noqa: BLE001 - a codec may raise any error
            raise DataError(f"{self._where} cannot be read: {error}; store it again") from error


def newest_file(folder: Path) -> int:
    """Time of the last change of any file of a store, ns.

    Raises DataError if it contains a link: an untrusted store must not show files elsewhere on this
    machine.
    """
    files = [folder, *folder.rglob("*")]
    if link := next((file for file in files[1:] if file.is_symlink()), None):
        raise DataError(f"store {folder} has a link, {link}; put the file itself there")
    return max(file.stat().st_mtime_ns for file in files)


def zarr_rows(folder: Path, name: str) -> ChunkedRows:
    """The array of a store, or the array ``name`` if the store is a group.

    Raises DataError when there is no such array, or its chunks have a codec that is not
    in :data:`CODECS`, and MissingPackage without zarr.
    """
    with optional():
        import zarr
    newest_file(folder)
    try:
        node: Any = zarr.open(zarr.storage.LocalStore(folder, read_only=True), mode="r")
        if isinstance(node, zarr.Group):
            names = sorted(key for key, _ in node.arrays())
            if name not in names:
                raise ValueError(f"it has no array {name!r}{suggestion(name, names)}")
            node = node[name]
        described = node.metadata.to_dict()
    except Exception as error:  # noqa: BLE001 - untrusted metadata
        raise DataError(f"store {folder} cannot be used: {error}; {EXPECTED}") from error
    codecs = [described.get(key) for key in ("codecs", "compressor", "filters")]
    if strange := sorted(set(_names(codecs)) - CODECS):
        raise DataError(
            f"array {name!r} of {folder} uses the codec {abridge(strange)}; expected "
            f"{', '.join(sorted(CODECS))}: save the array with one of these"
        )
    return ChunkedRows(node, f"array {name!r} of {folder}")


def _names(codecs: Any) -> Iterator[str]:
    """Names of codecs and of codecs nested in them."""
    if isinstance(codecs, dict):
        yield from (str(codecs[key]) for key in ("name", "id") if key in codecs)
        codecs = codecs.get("configuration", {}).values()
    if not isinstance(codecs, str | bytes | int | float | None):
        for codec in codecs:
            yield from _names(codec)
