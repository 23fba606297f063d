"""Local copies of small objects, which all readers on a machine share.

Files of a commit never change, so the digest of the content identifies a copy. A receipt can be
replaced, so the version in the store's listing identifies its copy. Every warehouse has a separate
folder in ``warehouse.storage.cache``.
"""

import hashlib
import os
from pathlib import Path
from uuid import uuid4

from decaf.errors import WarehouseError
from decaf.foundation.files import convert_os_errors
from warehouse.storage.base import Entry
from warehouse.storage.cache import cache_folder, note_use, prune_unused

REMEDY = "free some space, or set DECAF_CACHE to another folder"


class Copies:
    """Copies of the objects of one warehouse."""

    def __init__(self, address: str) -> None:
        self._name = hashlib.sha256(address.encode()).hexdigest()[:16]

    @property
    def folder(self) -> Path:
        """Folder of the copies; it holds nothing of another warehouse."""
        return cache_folder() / "warehouses" / self._name

    def find(self, digest: str, key: str, byte_count: int) -> Path | None:
        """Find a complete copy of an object, or None; updates its time of last use."""
        path = self.folder / digest / key
        if not (path.exists() and path.stat().st_size == byte_count):
            return None
        note_use(self.folder / digest)
        return path

    def keep(self, digest: str, key: str, content: bytes) -> Path:
        """Write a complete copy; other processes may write the same copy at the same time.

        Raises WarehouseError when the cache folder cannot be written.
        """
        path = self.folder / digest / key
        temporary = path.with_name(f"{uuid4().hex}.tmp")
        refused = f"a copy of {key} cannot be written to {self.folder}"
        with convert_os_errors(WarehouseError, refused, REMEDY):
            if not self.find(digest, key, len(content)):
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.write_bytes(content)
                temporary.replace(path)
                os.utime(self.folder / digest)  # the time of an earlier copy may be old
        return path

    def prune(self) -> int:
        """Delete copies that are unused for a week; returns their number."""
        return prune_unused(self.folder)


def version_digest(entry: Entry) -> str:
    """Digest of a listed version of an object, which changes when the object is replaced."""
    moment = entry.modified_at.isoformat()
    identity = f"{entry.key} {entry.byte_count} {moment} {entry.version}"
    return hashlib.sha256(identity.encode()).hexdigest()
