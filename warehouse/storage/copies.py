"""Local copies of the files of an object store: got once, checked, and shared by all readers.

Files of a commit never change, so a copy is known by its digest and lies in a folder of that name;
a copy that is there is whole. Every warehouse has a folder of its own below ``DECAF_CACHE``, or
else below ``decaf`` in the user's cache folder.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from decaf.errors import WarehouseError
from decaf.files import replace_file
from warehouse.storage.base import Content

UNUSED_SECONDS = 7 * 24 * 3600
"""A copy that no reader has asked for so long is deleted."""
TOUCH_SECONDS = 3600


def cache_folder() -> Path:
    """Folder of all copies on this machine."""
    if chosen := os.environ.get("DECAF_CACHE"):
        return Path(chosen).absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "decaf"


class Copies:
    """Copies of the files of one warehouse."""

    def __init__(self, address: str) -> None:
        self._name = hashlib.sha256(address.encode()).hexdigest()[:16]

    @property
    def folder(self) -> Path:
        """Where they lie; nothing of another warehouse does."""
        return cache_folder() / "warehouses" / self._name

    def get(self, key: str, content: Content | None, read: Callable[[], bytes]) -> Path | None:
        """Copy of one object, read now if it is not there; none when it is missing or another.

        Parameters
        ----------
        content
            What the object must hold; whatever it holds if that is not known.
        """
        if content is not None:
            path = self._path(content.sha256, key)
            if path.exists() and path.stat().st_size == content.byte_count:
                _touch(self.folder / content.sha256)
                return path
        try:
            found = read()
        except FileNotFoundError:
            return None
        digest = hashlib.sha256(found).hexdigest()
        if content is not None and digest != content.sha256:
            return None
        path = self._path(digest, key)
        try:
            if content is not None or not path.exists():
                replace_file(path, lambda target: target.write_bytes(found))
        except OSError as error:
            raise WarehouseError(
                f"no copy of {key} can be kept in {self.folder}: {error.strerror}; free some "
                "space, or set DECAF_CACHE to another folder"
            ) from error
        _touch(self.folder / digest)
        return path

    def prune(self) -> int:
        """Delete copies that nobody has asked for in a week; returns how many."""
        before = time.time() - UNUSED_SECONDS
        unused = [path for path in self.folder.glob("*") if path.stat().st_mtime < before]
        for path in unused:
            # Another reader may be deleting it too.
            shutil.rmtree(path, ignore_errors=True)
        return len(unused)

    def _path(self, digest: str, key: str) -> Path:
        return self.folder / digest / key


def _touch(folder: Path) -> None:
    """Note that a copy is in use, not more often than that matters."""
    if folder.stat().st_mtime < time.time() - TOUCH_SECONDS:
        os.utime(folder)
