"""Where a warehouse is kept: a local folder or an object store. Nothing else knows which.

A root is a path, or an URL as in ``s3://bucket/prefix``. Everything in it has a key, a relative
path with ``/``; a key is published whole or not at all, and is never renamed.
"""

from functools import cache
from pathlib import Path

from warehouse.storage.base import Content, Entry, Held, Storage, Write
from warehouse.storage.local import LocalStorage

__all__ = ["Content", "Entry", "Held", "Root", "Storage", "Write", "open"]

Root = Path | str
"""Place of a warehouse as people give it."""
LOCAL = "file://"


def open(root: Root) -> Storage:  # noqa: A001 - read as storage.open
    """Storage at a root, the same in every process; makes nothing and asks nobody.

    Raises WarehouseError for an URL that cannot be used: its protocol or its parts; MissingPackage
    for an URL where obstore is not installed.
    """
    if isinstance(root, str):
        if "://" in root and not root.startswith(LOCAL):
            return _object_store(root)
        root = Path(root.removeprefix(LOCAL))
    return LocalStorage(root.absolute())


@cache
def _object_store(url: str) -> Storage:
    # One client keeps its connections; and who stays on local folders loads none of this.
    from warehouse.storage.urls import open_store

    store = open_store(url)  # says what to install where obstore is missing
    from warehouse.storage.object_store import ObjectStore

    return ObjectStore(url, store)
