"""Open files of an object store for DuckDB, which then gets only the bytes that a query reads.

A small file is read whole, compared with its digest, and kept as a local copy. Of a large file,
DuckDB reads only the bytes that it needs.

obstore's own files for fsspec have one position for all threads. DuckDB seeks and reads in several
threads at once, so a file here has one position for each thread.
"""

import errno
import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import fsspec

from decaf.errors import WarehouseError
from warehouse.storage.base import Content
from warehouse.storage.copies import Copies
from warehouse.storage.objects import Objects

PROTOCOL = "store"
SMALL_BYTES = 2**20
"""Size up to which reading a whole file takes no longer than reading its end."""
NEVER_CHANGED = datetime.fromtimestamp(0, UTC)
"""Time of the last change of every file for DuckDB, which then caches all parts."""


class StoredFiles(fsspec.AbstractFileSystem):
    """File system of the files of a store that a connection may read, by address.

    Parameters
    ----------
    objects
        The store.
    copies
        Local copies of small files.
    contents
        Sizes and digests by key.
    """

    protocol = PROTOCOL
    cachable = False

    def __init__(self, objects: Objects, copies: Copies, contents: Mapping[str, Content]) -> None:
        super().__init__()
        self._objects, self._copies, self._contents = objects, copies, contents

    @staticmethod
    def address(key: str) -> str:
        """Address that DuckDB opens."""
        return f"{PROTOCOL}://{key}"

    def glob(self, path: str) -> list[str]:
        """Return the address itself if there is a file at it."""
        return [path] if _key(path) in self._contents else []

    def size(self, path: str) -> int:
        """Size of a file in bytes."""
        return self._content(path).byte_count

    def modified(self, path: str) -> datetime:
        """Return one time for all files: a file of a commit never changes."""
        return NEVER_CHANGED

    def open(self, path: str, mode: str) -> "OpenedFile":
        """Open a file for reading.

        Raises FileNotFoundError for a file that the connection may not read. Raises WarehouseError
        for a missing file, for a small file that differs from its receipt, and when a copy cannot
        be written.
        """
        key, content = _key(path), self._content(path)
        if content.byte_count <= SMALL_BYTES:
            return OpenedFile(partial(_read_at, self._copy(key, content)))
        return OpenedFile(partial(self._part, key, content.byte_count))

    def _content(self, path: str) -> Content:
        key = _key(path)
        if key not in self._contents:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self._contents[key]

    def _copy(self, key: str, content: Content) -> Path:
        """Return the copy of a small file; gets it if there is none."""
        if path := self._copies.find(content.sha256, key, content.byte_count):
            return path
        try:
            data = self._objects.read(key)
        except FileNotFoundError as error:
            raise WarehouseError(f"{key} is missing") from error
        if hashlib.sha256(data).hexdigest() != content.sha256:
            raise WarehouseError(
                f"the content of {key} differs from its receipt; run decaf check --repair"
            )
        return self._copies.keep(content.sha256, key, data)

    def _part(self, key: str, size: int, start: int, byte_count: int) -> bytes:
        length = min(byte_count, size - start)
        if length <= 0:
            return b""
        try:
            return self._objects.read_part(key, start, length)
        except FileNotFoundError as error:
            raise WarehouseError(f"{key} is missing") from error


class OpenedFile:
    """A file as DuckDB reads it: several threads at once, each of which seeks and then reads.

    Every thread therefore has its own position. DuckDB does not close files, so none stays open
    between two reads.

    Parameters
    ----------
    read
        Function of a position and a number of bytes, which returns at most that number.
    """

    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        self._read = read
        self._place = threading.local()

    def seek(self, place: int) -> int:
        """Set the position of this thread's next read."""
        self._place.next = place
        return place

    def tell(self) -> int:
        """Position of this thread's next read."""
        return getattr(self._place, "next", 0)

    def read(self, byte_count: int) -> bytes:
        """Read at most ``byte_count`` bytes from this thread's position."""
        start = self.tell()
        content = self._read(start, byte_count)
        self._place.next = start + len(content)
        return content

    def close(self) -> None:
        """Do nothing: no file is open."""


def _key(path: str) -> str:
    return path.removeprefix(f"{PROTOCOL}://")


def _read_at(path: Path, start: int, byte_count: int) -> bytes:
    """Read at most ``byte_count`` bytes of a file from ``start`` on."""
    with path.open("rb", buffering=0) as file:
        return os.pread(file.fileno(), byte_count, start)
