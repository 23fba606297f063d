"""A warehouse on an object store: no rename, no folders, every object put whole.

Readers get what they read (``warehouse.storage.stored_files``) and keep copies of small objects
(``warehouse.storage.copies``), and locks are leases (``warehouse.storage.lease``).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from io import BytesIO
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import obstore

from decaf.errors import OutOfReach
from warehouse import storage
from warehouse.storage import lease
from warehouse.storage.base import Content, Entry, Readable, Storage, Write
from warehouse.storage.copies import Copies, version_digest
from warehouse.storage.objects import Objects
from warehouse.storage.stored_files import StoredFiles

REQUESTS_AT_ONCE = 16
TABLE_LEVELS = 2
"""Parts of a key that name its table."""
Result = TypeVar("Result")


class ObjectStore(Objects, Storage):
    """Objects below the path of an URL; a bucket must be there before anything is put into it."""

    def __init__(self, url: str, store: obstore.store.ObjectStore) -> None:
        super().__init__(url, store)
        self._copies = Copies(url)
        self._is_pruned = False

    def __reduce__(self) -> tuple[Callable[[str], Storage], tuple[str]]:
        """Pickle the address alone: credentials and connections are each process's own."""
        return storage.open, (self.address,)

    def place(self, key: str) -> str:
        """Address of an object, the parameters of the root left out."""
        return f"{self.address.split('?')[0].rstrip('/')}/{key}"

    def prepare(self) -> None:
        """Put an object, try to put another one in its place as a lease does, and delete it.

        Raises OutOfReach where two writers could hold the same lease.
        """
        probe = f".probe.{uuid4().hex}.tmp"
        self.put_new(probe, b"writable\n")
        is_replaced = self.put_new(probe, b"replaced\n")
        self.delete(probe)
        if is_replaced:
            raise OutOfReach(
                f"warehouse {self.address}: its server ignores conditions of a put "
                "(If-None-Match), so two runs could hold one study; use another server, or a newer "
                "release of it"
            )

    def publish(self, key: str, write: Write) -> Content:
        """Write it in memory, then put it: a worker whose disk is full can commit."""
        with BytesIO() as file:
            write(file)
            content = file.getvalue()
        self.put(key, content)
        return Content(len(content), hashlib.sha256(content).hexdigest())

    def read_many(self, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Get several objects at once."""
        return _at_once(self.read, keys)

    def read_listed(self, entries: Iterable[Entry]) -> Iterator[tuple[str, bytes]]:
        """Get several objects at once, except for versions of which there are copies."""
        listed = {entry.key: entry for entry in entries}
        return _at_once(lambda key: self._read_version(listed[key]), listed)

    def bring(self, keys: Iterable[str]) -> dict[str, Path]:
        """Local copies of the objects as they are now."""

        def copy(key: str) -> Path:
            content = self.read(key)
            return self._copies.keep(hashlib.sha256(content).hexdigest(), key, content)

        return dict(_at_once(copy, keys))

    def readable(self, wanted: Mapping[str, Content]) -> Readable:
        """Copies of what was got before, and addresses of what is got when a query reads it."""
        if not self._is_pruned:
            self._is_pruned = True
            self._copies.prune()
        places, remote = {}, {}
        for key, content in wanted.items():
            if path := self._copies.find(content.sha256, key, content.byte_count):
                places[key] = str(path)
            else:
                remote[key] = content
        sizes = self._sizes(remote)
        remote = {key: c for key, c in remote.items() if sizes.get(key) == c.byte_count}
        files = StoredFiles(self, self._copies, remote)
        places |= {key: files.address(key) for key in remote}
        return Readable(places, (str(self._copies.folder), files.address("")), files)

    def hold(self, key: str) -> AbstractContextManager[None]:
        """Hold a lease."""
        return lease.hold(self, key)

    def is_held(self, key: str) -> bool:
        """Whether there is a lease that has not ended."""
        return lease.is_held(self, key)

    def _read_version(self, entry: Entry) -> bytes:
        """Content of an object as it was listed, or newer."""
        digest = version_digest(entry)
        if path := self._copies.find(digest, entry.key, entry.byte_count):
            return path.read_bytes()
        content = self.read(entry.key)
        if entry.version and len(content) == entry.byte_count:
            self._copies.keep(digest, entry.key, content)
        return content

    def _sizes(self, keys: Iterable[str]) -> dict[str, int]:
        """Sizes of objects that are there, by listing the tables that they are of."""
        tables = sorted({"/".join(key.split("/")[:TABLE_LEVELS]) for key in keys})
        listed = _at_once(lambda table: self.entries(table, ("",)), tables)
        return {entry.key: entry.byte_count for _, entries in listed for entry in entries}


def _at_once(ask: Callable[[str], Result], keys: Iterable[str]) -> Iterator[tuple[str, Result]]:
    """Ask for several keys in threads; objects that are not there are passed over."""

    def answer(key: str) -> list[tuple[str, Result]]:
        with suppress(FileNotFoundError):
            return [(key, ask(key))]
        return []

    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
        for answers in pool.map(answer, keys):
            yield from answers
