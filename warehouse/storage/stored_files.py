"""Files of an object store as DuckDB opens them: it gets what a query reads, and nothing else.

A small file is got whole, compared with its digest, and stays as a local copy. Of a large file
DuckDB gets the bytes that it asks for.

obstore's own files for fsspec have one place for all threads. DuckDB seeks and reads in several
threads at once, so a file has a place for each of them here.
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
"""Up to this size one request for the whole takes no longer than one for its end."""
NEVER_CHANGED = datetime.fromtimestamp(0, UTC)
"""Moment of change of every file for DuckDB, which then reads no part twice."""


class StoredFiles(fsspec.AbstractFileSystem):
    """Files of a store that a connection may read, by address.

    Parameters
    ----------
    objects
        The store.
    copies
        Where small files are kept.
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
        """The address itself, where there is such a file."""
        return [path] if _key(path) in self._contents else []

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return self._content(path).byte_count

    def modified(self, path: str) -> datetime:
        """The same moment for all: a file of a commit never changes."""
        return NEVER_CHANGED

    def open(self, path: str, mode: str) -> "OpenedFile":
        """Open a file for reading.

        Raises FileNotFoundError for one that the connection may not read, and WarehouseError for
        one that is missing or of which no copy can be kept, or a small one that is not what its
        receipt says.
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
        """Copy of a small file, got now if there is none."""
        if path := self._copies.find(content.sha256, key, content.byte_count):
            return path
        try:
            data = self._objects.read(key)
        except FileNotFoundError as error:
            raise WarehouseError(f"{key} is missing") from error
        if hashlib.sha256(data).hexdigest() != content.sha256:
            raise WarehouseError(f"{key} is not what its receipt says")
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

    So every thread has a place of its own. DuckDB does not close what it has opened: nothing is
    held open between two reads.

    Parameters
    ----------
    read
        Gives bytes from a place on (first number), as many as there are (at most the second).
    """

    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        self._read = read
        self._place = threading.local()

    def seek(self, place: int) -> int:
        """Where the next read of this thread begins."""
        self._place.next = place
        return place

    def tell(self) -> int:
        """Where the next read of this thread begins."""
        return getattr(self._place, "next", 0)

    def read(self, byte_count: int) -> bytes:
        """Bytes from there on, as many as there are."""
        start = self.tell()
        found = self._read(start, byte_count)
        self._place.next = start + len(found)
        return found

    def close(self) -> None:
        """Nothing is open."""


def _key(path: str) -> str:
    return path.removeprefix(f"{PROTOCOL}://")


def _read_at(path: Path, start: int, byte_count: int) -> bytes:
    """Bytes of a file from a place on, as many as there are."""
    with path.open("rb", buffering=0) as file:
        return os.pread(file.fileno(), byte_count, start)
