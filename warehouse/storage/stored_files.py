"""Files of an object store as DuckDB opens them: it gets what a query reads, and nothing else.

It gets a small file whole, and others of its folder with it, since a query that reads one reads
most of them. Of a large file it gets the parts that the query reads. Both stay as local copies.
"""

import errno
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import fsspec

from decaf.errors import WarehouseError
from warehouse.storage.base import Content
from warehouse.storage.copies import Copies
from warehouse.storage.partial import read_at

PROTOCOL = "store"
SMALL_BYTES = 2**20
"""Up to this size one request for the whole takes no longer than one for its end."""
AT_ONCE = 16
"""Small files of a folder that are got together."""
NEVER_CHANGED = datetime.fromtimestamp(0, UTC)
"""What DuckDB is told of every file, so that it need not read one again."""


class Far(NamedTuple):
    """How objects are got: the whole of a key, or bytes from a place on."""

    whole: Callable[[str], bytes]
    part: Callable[[str, int, int], bytes]


class StoredFiles(fsspec.AbstractFileSystem):
    """Files of a store that a connection may read, by address.

    Parameters
    ----------
    copies
        Where they are kept.
    contents
        Sizes and digests by key, in the sequence in which neighbours are got.
    far
        How they are got.
    """

    protocol = PROTOCOL
    cachable = False

    def __init__(self, copies: Copies, contents: Mapping[str, Content], far: Far) -> None:
        super().__init__()
        self._copies, self._contents, self._far = copies, contents, far
        self._coming: dict[str, Future[Path | None]] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(AT_ONCE)

    @staticmethod
    def address(key: str) -> str:
        """What DuckDB opens."""
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
        one that is missing or is not what its receipt says, or of which no copy can be kept.
        """
        key, content = _key(path), self._content(path)
        if content.byte_count <= SMALL_BYTES:
            return OpenedFile(partial(read_at, self._small(key)))
        if kept := self._copies.kept(key, content):  # its last part was read meanwhile
            return OpenedFile(partial(read_at, kept))
        return OpenedFile(self._copies.partial(key, content, partial(self._part, key)).read)

    def _content(self, path: str) -> Content:
        key = _key(path)
        if key not in self._contents:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self._contents[key]

    def _small(self, key: str) -> Path:
        """Copy of a small file, got now with those that follow it in its folder."""
        with self._lock:
            if key not in self._coming:
                files, place = self._small_files[_folder(key)], self._places[key]
                following = (files[other] for other in range(place, len(files)))
                wanted = (one for one in following if one not in self._coming)
                for one in islice(wanted, AT_ONCE):
                    self._coming[one] = self._pool.submit(self._copy, one)
            coming = self._coming[key]
        try:
            path = coming.result()
        except Exception:
            with self._lock:
                self._coming.pop(key, None)  # the store may be back when it is asked again
            raise
        if path is None:
            raise WarehouseError(f"{key} is missing, or is not what its receipt says")
        return path

    def _part(self, key: str, start: int, byte_count: int) -> bytes:
        try:
            return self._far.part(key, start, byte_count)
        except FileNotFoundError as error:
            raise WarehouseError(f"{key} is missing") from error

    def _copy(self, key: str) -> Path | None:
        return self._copies.get(key, self._contents[key], partial(self._far.whole, key))

    @cached_property
    def _small_files(self) -> dict[str, list[str]]:
        """Small files of every folder, in their sequence."""
        found = defaultdict(list)
        for key, content in self._contents.items():
            if content.byte_count <= SMALL_BYTES:
                found[_folder(key)].append(key)
        return found

    @cached_property
    def _places(self) -> dict[str, int]:
        """Place of every small file in its folder."""
        return {key: n for own in self._small_files.values() for n, key in enumerate(own)}


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


def _folder(key: str) -> str:
    return key.rpartition("/")[0]
