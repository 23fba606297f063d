"""Interface of the storage of a warehouse."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:  # local folders do not need it
    from fsspec import AbstractFileSystem


Write = Callable[[BinaryIO], object]
"""Function that writes the content of an object to a file."""


class Entry(NamedTuple):
    """One object of a listing."""

    key: str
    byte_count: int
    modified_at: datetime
    """Time of the last change by the storage's clock, UTC."""
    version: str | None = None
    """Text that changes with the content; None if listings have no such text."""


class Content(NamedTuple):
    """Size and digest of an object."""

    byte_count: int
    sha256: str


class Readable(NamedTuple):
    """Objects as DuckDB reads them."""

    places: dict[str, str]
    """Path or file-system address that DuckDB opens, by key; it ends with the key."""
    folders: tuple[str, ...]
    """Folders of these places, without files of other warehouses."""
    filesystem: "AbstractFileSystem | None"
    """File system that opens the addresses; None if all places are paths."""


class LockHeld(Exception):
    """Another process holds the lock; the text describes it."""


class Storage(ABC):
    """Objects of a warehouse by key, each whole or missing; can be pickled for other processes."""

    address: str
    """The root, for messages and other processes."""
    folder: Path | None = None
    """Absolute folder of the warehouse on this machine; None for an object store."""

    def place(self, key: str) -> str:
        """Address of one object, for messages."""
        return f"{self.address.rstrip('/')}/{key}"

    @abstractmethod
    def prepare(self) -> None:
        """Make the root if possible; raises an error if it cannot be written."""

    @abstractmethod
    def publish(self, key: str, write: Write) -> Content:
        """Publish the object that ``write`` writes under a key, whole or not at all.

        Raises OSError or OutOfReach when the storage cannot be written; the old object then stays.
        """

    def publish_all(self, writes: Iterable[tuple[str, Write]]) -> dict[str, Content]:
        """Publish several objects, each whole or not at all, even if another one fails.

        Objects are written one after the other; ``writes`` is read lazily. Returns their contents
        by key.
        """
        return {key: self.publish(key, write) for key, write in writes}

    @abstractmethod
    def read(self, key: str) -> bytes:
        """Read an object.

        Raises FileNotFoundError when there is none.
        """

    def read_many(self, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Read objects in the sequence of their keys; passes over missing ones."""
        for key in keys:
            with suppress(FileNotFoundError):
                yield key, self.read(key)

    def read_listed(self, entries: Iterable[Entry]) -> Iterator[tuple[str, bytes]]:
        """Read objects of a listing as :meth:`read_many`; may cache unchanged objects."""
        return self.read_many(entry.key for entry in entries)

    @abstractmethod
    def exists(self, key: str) -> bool:
        """True if there is an object of this key."""

    @abstractmethod
    def entries(self, folder: str, suffixes: tuple[str, ...]) -> list[Entry]:
        """List objects below a folder, at any depth, whose keys have a suffix; sorted by key."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete an object if it exists."""

    @abstractmethod
    def find_readable(self, wanted: Mapping[str, Content]) -> Readable:
        """Find the places where DuckDB reads objects; leaves out missing and changed ones."""

    @abstractmethod
    def hold(self, key: str) -> AbstractContextManager[None]:
        """Hold a lock inside the block.

        Raises LockHeld when another process holds it.
        """

    @abstractmethod
    def is_held(self, key: str) -> bool:
        """True if a process holds the lock now."""
