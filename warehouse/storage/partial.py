"""A large object of which only what is read is got: chunks of it, kept in a sparse file.

After the bytes of the object the file has one more for every chunk: 1 once the chunk is there.
Threads and processes may read one object at once; what two of them get, they write alike. When the
last chunk is there, the whole is compared with its digest and becomes a copy like any other.
"""

import errno
import hashlib
import os
import re
from collections.abc import Callable
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
    """What is known of one object; keeps its file open.

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
        self._file = os.open(self._part, os.O_RDWR | os.O_CREAT, 0o666)
        # What was not written yet is zeros.
        os.ftruncate(self._file, content.byte_count + self._chunk_count)

    def read(self, start: int, byte_count: int) -> bytes:
        """Bytes from a place on, as many as there are; what is not here yet is got.

        Raises WarehouseError when the object is not what its digest says or no copy of it can be
        kept, and what ``get`` raises.
        """
        end = min(start + byte_count, self._content.byte_count)
        if end <= start:
            return b""
        first, stop = start // CHUNK_BYTES, -(-end // CHUNK_BYTES)
        for gap in GAP.finditer(self._there(first, stop)):
            self._fetch(first + gap.start(), first + gap.end())
        return os.pread(self._file, end - start, start)

    def close(self) -> None:
        """Close the file; what it has stays."""
        os.close(self._file)

    def _there(self, first: int, stop: int) -> bytes:
        """A byte for each of these chunks, 1 for those that are there."""
        return os.pread(self._file, stop - first, self._content.byte_count + first)

    def _fetch(self, first: int, stop: int) -> None:
        """Get neighbouring chunks by one request."""
        start, end = first * CHUNK_BYTES, min(stop * CHUNK_BYTES, self._content.byte_count)
        found = self._get(start, end - start)
        if len(found) != end - start:
            raise self._another("it is shorter")
        with refusals_as(WarehouseError, f"{self._part} cannot be written", REMEDY):
            self._write(found, start)
            # A chunk that is said to be there must be so even after a power failure.
            os.fsync(self._file)
            self._write(b"\1" * (stop - first), self._content.byte_count + first)
            if b"\0" not in self._there(0, self._chunk_count):
                self._finish()

    def _write(self, content: bytes, start: int) -> None:
        if os.pwrite(self._file, content, start) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _finish(self) -> None:
        """Copy the whole to its own name if its digest is right.

        It is not renamed: another process may be about to write what it got, too.
        """
        whole = self._target.with_name(f"{uuid4().hex}.tmp")
        digest = hashlib.sha256()
        try:
            with whole.open("wb") as file:
                for start in range(0, self._content.byte_count, COPIED_BYTES):
                    end = min(start + COPIED_BYTES, self._content.byte_count)
                    part = os.pread(self._file, end - start, start)
                    digest.update(part)
                    file.write(part)
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
