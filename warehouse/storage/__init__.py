"""Storage of a warehouse: a local folder or an object store. Other modules do not know which.

A root is a path, or a URL as in ``s3://bucket/prefix``. Every object in it has a key, a relative
path with ``/``. An object is published whole or not at all, and never renamed.
"""

from functools import cache
from pathlib import Path

from warehouse.storage.base import Content, Entry, LockHeld, Storage, Write
from warehouse.storage.local import LocalStorage

__all__ = ["Content", "Entry", "LockHeld", "Root", "Storage", "Write", "open"]

Root = Path | str
"""Path or URL of a warehouse."""
LOCAL = "file://"


def open(root: Root) -> Storage:  # noqa: A001 - read as storage.open
    """Open the storage at a root, without creating anything or sending a request.

    Raises WarehouseError for a URL whose protocol or parts are wrong; MissingPackage for a URL if
    obstore is not installed.
    """
    if isinstance(root, str):
        if "://" in root and not root.startswith(LOCAL):
            return _object_store(root)
        root = Path(root.removeprefix(LOCAL))
    return LocalStorage(root.absolute())


@cache
def _object_store(url: str) -> Storage:
    # Cached: a client keeps its connections. Imported here: local folders do not need it.
    from warehouse.storage.urls import open_store

    store = open_store(url)  # raises MissingPackage without obstore
    from warehouse.storage.object_store import ObjectStore

    return ObjectStore(url, store)
