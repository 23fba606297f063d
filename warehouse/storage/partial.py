"""The chunks of a large object that somebody has read, kept in a sparse file.

Behind the bytes of the object this file has one byte for each chunk: 1 once the chunk is there.
Several threads and processes may read an object at the same time; two that get the same chunk write
the same bytes. Whoever gets the last chunk compares the whole with its digest and makes it a copy
like any other.
"""

import errno
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from decaf.errors import WarehouseError
from decaf.foundation.files import refusals_as
from warehouse.storage.base import Content

CHUNK_BYTES = 128 * 1024
"""DuckDB asks for the last 256 KiB of a file first, and then for whole columns."""
COPIED_BYTES = 2**24
REMEDY = "free some space, or set DECAF_CACHE to another folder"
GAP = re.compile(rb"\0+")

Get = Callable[[int, int], bytes]
"""Gives bytes of an object, of which the first number says where they begin, the second how many
they are."""


class PartialCopy:
    """What is there of one object.

    Each read opens the file and closes it, since DuckDB does not say when it has finished.

    Parameters
    ----------
    target
        Where the object lies once all of it is there; its folder must be there.
    content
        Size and digest of the whole.
    get
        Gets what is not there.
    """

    def __init__(self, target: Path, content: Content, get: Get) -> None:
        self._target, self._content, self._get = target, content, get
        self._part = target.with_suffix(".part")
        self._chunk_count = -(-content.byte_count // CHUNK_BYTES)

    def read(self, start: int, byte_count: int) -> bytes:
        """Bytes from a place on, as many as there are; what is not here yet is got.

        Raises WarehouseError when the object is not what its digest says or no copy of it can be
        kept, and what ``get`` raises.
        """
        end = min(start + byte_count, self._content.byte_count)
        if end <= start:
            return b""
        if self._is_whole():
            return read_at(self._target, start, end - start)
        first, stop = start // CHUNK_BYTES, -(-end // CHUNK_BYTES)
        with self._opened() as file:
            there = os.pread(file, stop - first, self._content.byte_count + first)
            for gap in GAP.finditer(there):
                self._fetch(file, first + gap.start(), first + gap.end())
            return os.pread(file, end - start, start)

    def _is_whole(self) -> bool:
        with suppress(FileNotFoundError):
            return self._target.stat().st_size == self._content.byte_count
        return False

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The file of parts; what was not written yet is zeros."""
        with self._refusals():
            file = os.open(self._part, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            with self._refusals():
                os.ftruncate(file, self._content.byte_count + self._chunk_count)
            yield file
        finally:
            os.close(file)

    def _refusals(self) -> AbstractContextManager[None]:
        return refusals_as(WarehouseError, f"{self._part} cannot be written", REMEDY)

    def _fetch(self, file: int, first: int, stop: int) -> None:
        """Get neighbouring chunks by one request."""
        size = self._content.byte_count
        start, end = first * CHUNK_BYTES, min(stop * CHUNK_BYTES, size)
        found = self._get(start, end - start)
        if len(found) != end - start:
            raise self._another("it is shorter")
        with self._refusals():
            _write(file, found, start)
            # Before its byte says that it is there: a power failure must not leave zeros.
            os.fsync(file)
            _write(file, b"\1" * (stop - first), size + first)
            if b"\0" not in os.pread(file, self._chunk_count, size):
                self._finish(file)

    def _finish(self, file: int) -> None:
        """Copy the whole to its own name if its digest is right.

        The file itself is not renamed: another process may still write to it.
        """
        whole = self._target.with_name(f"{uuid4().hex}.tmp")
        digest = hashlib.sha256()
        try:
            with whole.open("wb") as copy:
                for start in range(0, self._content.byte_count, COPIED_BYTES):
                    end = min(start + COPIED_BYTES, self._content.byte_count)
                    part = os.pread(file, end - start, start)
                    digest.update(part)
                    copy.write(part)
            is_right = digest.hexdigest() == self._content.sha256
            if is_right:
                whole.replace(self._target)
        finally:
            whole.unlink(missing_ok=True)
        self._part.unlink(missing_ok=True)
        if not is_right:
            raise self._another(f"its sha256 is {digest.hexdigest()[:12]}…")

    def _another(self, found: str) -> WarehouseError:
        return WarehouseError(f"{self._target.name} is not what its receipt says: {found}")


def read_at(path: Path, start: int, byte_count: int) -> bytes:
    """Bytes of a file from a place on, as many as there are."""
    with path.open("rb", buffering=0) as file:
        return os.pread(file.fileno(), byte_count, start)


def _write(file: int, content: bytes, start: int) -> None:
    if os.pwrite(file, content, start) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
