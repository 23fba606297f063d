"""Storage on an object store: no renames, no folders, every object put whole.

Readers get parts of objects on demand (``warehouse.storage.stored_files``) and keep copies of small
objects (``warehouse.storage.copies``). Locks are leases (``warehouse.storage.lease``).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from io import BytesIO
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
"""Number of leading parts of a key that name its table."""
Result = TypeVar("Result")


class ObjectStore(Objects, Storage):
    """Objects below the path of a URL; the bucket must exist."""

    def __init__(self, url: str, store: obstore.store.ObjectStore) -> None:
        super().__init__(url, store)
        self._copies = Copies(url)
        self._is_pruned = False

    def __reduce__(self) -> tuple[Callable[[str], Storage], tuple[str]]:
        """Pickle only the address: every process makes connections and reads credentials itself."""
        return storage.open, (self.address,)

    def place(self, key: str) -> str:
        """Address of an object, without the parameters of the root."""
        return f"{self.address.split('?')[0].rstrip('/')}/{key}"

    def prepare(self) -> None:
        """Put an object, try to replace it on a condition as a lease does, and delete it.

        Raises OutOfReach if two writers could hold the same lease.
        """
        probe = f".probe.{uuid4().hex}.tmp"
        self.put_new(probe, b"writable\n")
        is_replaced = self.put_new(probe, b"replaced\n")
        self.delete(probe)
        if is_replaced:
            raise OutOfReach(
                f"warehouse {self.address}: its server ignores the condition of a put "
                "(If-None-Match), so two runs could hold one study; use another server, or a newer "
                "release of it"
            )

    def publish(self, key: str, write: Write) -> Content:
        """Write the object in memory, then put it: a worker with a full disk can commit."""
        with BytesIO() as file:
            write(file)
            content = file.getvalue()
        self.put(key, content)
        return Content(len(content), hashlib.sha256(content).hexdigest())

    def read_many(self, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Get several objects at once."""
        return _at_once(self.read, keys)

    def read_listed(self, entries: Iterable[Entry]) -> Iterator[tuple[str, bytes]]:
        """Get several objects at once; reads copies of unchanged versions."""
        listed = {entry.key: entry for entry in entries}
        return _at_once(lambda key: self._read_version(listed[key]), listed)

    def find_readable(self, wanted: Mapping[str, Content]) -> Readable:
        """Return paths of existing copies, and addresses of objects that queries get on demand."""
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
        """True if there is a lease that has not ended."""
        return lease.is_held(self, key)

    def _read_version(self, entry: Entry) -> bytes:
        """Read an object as it was listed, or newer."""
        digest = version_digest(entry)
        if path := self._copies.find(digest, entry.key, entry.byte_count):
            return path.read_bytes()
        content = self.read(entry.key)
        if entry.version and len(content) == entry.byte_count:
            self._copies.keep(digest, entry.key, content)
        return content

    def _sizes(self, keys: Iterable[str]) -> dict[str, int]:
        """Sizes of existing objects by key, from listings of their tables."""
        tables = sorted({"/".join(key.split("/")[:TABLE_LEVELS]) for key in keys})
        listed = _at_once(lambda table: self.entries(table, ("",)), tables)
        return {entry.key: entry.byte_count for _, entries in listed for entry in entries}


def _at_once(ask: Callable[[str], Result], keys: Iterable[str]) -> Iterator[tuple[str, Result]]:
    """Call a function for several keys in threads; passes over missing objects."""

    def answer(key: str) -> list[tuple[str, Result]]:
        with suppress(FileNotFoundError):
            return [(key, ask(key))]
        return []

    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
        for answers in pool.map(answer, keys):
            yield from answers
