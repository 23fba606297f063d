"""Local copies of the files of an object store: got once, checked, and shared by all readers.

Files of a commit never change, so a copy is known by its digest and lies in a folder of that name;
a copy that is there with its size is whole. Receipts may change, so theirs are known by when they
did. Every warehouse has a folder of its own in ``warehouse.storage.cache``.
"""

import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from decaf.errors import WarehouseError
from decaf.foundation.files import refusals_as
from warehouse.storage.base import Content, Entry
from warehouse.storage.cache import cache_folder, note_use, prune_unused
from warehouse.storage.partial import REMEDY, Get, PartialCopy

SETTLED = timedelta(minutes=10)
"""Age at which an object's moment of change tells it from every later one; more than clocks err."""


class Copies:
    """Copies of the files of one warehouse."""

    def __init__(self, address: str) -> None:
        self._name = hashlib.sha256(address.encode()).hexdigest()[:16]

    @property
    def folder(self) -> Path:
        """Where they lie; nothing of another warehouse does."""
        return cache_folder() / "warehouses" / self._name

    def kept(self, key: str, content: Content) -> Path | None:
        """Copy of one object, if it is there."""
        return self._kept(content.sha256, key, content.byte_count)

    def partial(self, key: str, content: Content, get: Get) -> PartialCopy:
        """What is there of one object; reading it gets what is not."""
        path = self._path(content.sha256, key)
        with refusals_as(WarehouseError, self._refused(key), REMEDY):
            path.parent.mkdir(parents=True, exist_ok=True)
            note_use(self.folder / content.sha256)
        return PartialCopy(path, content, get)

    def get(self, key: str, content: Content, read: Callable[[], bytes]) -> Path | None:
        """Copy of one object, read now if it is not there; none when it is missing or another."""
        return self.kept(key, content) or self.latest(key, read, content.sha256)

    def latest(self, key: str, read: Callable[[], bytes], sha256: str | None = None) -> Path | None:
        """Copy of an object as it is now; none when it is missing, or not of the digest."""
        try:
            found = read()
        except FileNotFoundError:
            return None
        digest = hashlib.sha256(found).hexdigest()
        return self._keep(digest, key, found) if sha256 in (None, digest) else None

    def remembered(self, entry: Entry, read: Callable[[], bytes]) -> bytes:
        """Content of an object that may be replaced, as it was when it was listed or newer.

        It is known by its size and the moment of its last change. Moments may be whole seconds, so
        an object is kept only when the last change is long past.

        Raises FileNotFoundError when it is not there any more.
        """
        identity = f"{entry.key} {entry.byte_count} {entry.modified_at.isoformat()}"
        digest = hashlib.sha256(identity.encode()).hexdigest()
        if path := self._kept(digest, entry.key, entry.byte_count):
            return path.read_bytes()
        content = read()
        is_settled = datetime.now(UTC) - entry.modified_at > SETTLED
        if is_settled and len(content) == entry.byte_count:
            self._keep(digest, entry.key, content)
        return content

    def prune(self) -> int:
        """Delete copies that nobody has asked for in a week; returns how many."""
        return prune_unused(self.folder)

    def _keep(self, digest: str, key: str, content: bytes) -> Path:
        """Write a copy under its name when it is complete; other processes may do the same."""
        path = self._path(digest, key)
        temporary = path.with_name(f"{uuid4().hex}.tmp")
        with refusals_as(WarehouseError, self._refused(key), REMEDY):
            if not self._kept(digest, key, len(content)):
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.write_bytes(content)
                temporary.replace(path)
                os.utime(self.folder / digest)  # that of an earlier copy may be old
        return path

    def _kept(self, digest: str, key: str, byte_count: int) -> Path | None:
        """The copy that is there; that it is in use is noted, not more often than that matters."""
        path = self._path(digest, key)
        if not (path.exists() and path.stat().st_size == byte_count):
            return None
        note_use(self.folder / digest)
        return path

    def _path(self, digest: str, key: str) -> Path:
        return self.folder / digest / key

    def _refused(self, key: str) -> str:
        return f"no copy of {key} can be kept in {self.folder}"
