"""The operations that a warehouse needs of the place where it is kept."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:  # who stays on local folders does not load it
    from fsspec import AbstractFileSystem


Write = Callable[[BinaryIO], object]
"""Writes an object to the file that it is given."""


class Entry(NamedTuple):
    """One object of a listing."""

    key: str
    byte_count: int
    modified_at: datetime
    """Of the storage's own clock, UTC."""
    version: str | None = None
    """Another text for every content, where the storage lists one."""


class Content(NamedTuple):
    """What an object holds."""

    byte_count: int
    sha256: str


class Readable(NamedTuple):
    """Objects as DuckDB reads them."""

    places: dict[str, str]
    """What it opens, by key: a path, or an address of the file system. Each ends with its key."""
    folders: tuple[str, ...]
    """Where these lie and what :meth:`Storage.bring` gives, and nothing of other warehouses."""
    filesystem: "AbstractFileSystem | None"
    """Opens the addresses, where there are any."""


class Held(Exception):
    """Somebody else holds what was to be held; the text says who."""


class Storage(ABC):
    """A warehouse: objects by key, each there whole or not at all; pickles for other processes."""

    address: str
    """The root as messages and further processes call it."""
    folder: Path | None = None
    """Absolute folder of the warehouse on this machine; None for an object store."""

    def place(self, key: str) -> str:
        """Address of one object, for messages."""
        return f"{self.address.rstrip('/')}/{key}"

    @abstractmethod
    def prepare(self) -> None:
        """Make the root if that is possible, and fail now if it takes no objects."""

    @abstractmethod
    def publish(self, key: str, write: Write) -> Content:
        """Put what ``write`` writes under a key, whole or not at all.

        Raises OSError or OutOfReach when the storage refuses; the object is then as it was.
        """

    def publish_all(self, writes: Iterable[tuple[str, Write]]) -> dict[str, Content]:
        """Put several objects, by key; each is whole or not there, whatever stops the others.

        They are written one after the other, and the next is asked for when one is written.
        """
        return {key: self.publish(key, write) for key, write in writes}

    @abstractmethod
    def read(self, key: str) -> bytes:
        """Content of an object.

        Raises FileNotFoundError when there is none.
        """

    def read_many(self, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Objects in the sequence of their keys, without those that are not there."""
        for key in keys:
            with suppress(FileNotFoundError):
                yield key, self.read(key)

    def read_listed(self, entries: Iterable[Entry]) -> Iterator[tuple[str, bytes]]:
        """Objects of a listing, as :meth:`read_many`; what has not changed may be remembered."""
        return self.read_many(entry.key for entry in entries)

    @abstractmethod
    def exists(self, key: str) -> bool:
        """Whether there is an object of this key."""

    @abstractmethod
    def entries(self, folder: str, suffixes: tuple[str, ...]) -> list[Entry]:
        """Objects below a folder, at any depth, whose keys end so; sorted by key."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete an object; one that is not there is fine."""

    @abstractmethod
    def bring(self, keys: Iterable[str]) -> dict[str, Path]:
        """Local files of objects as they are now, by key; what is not there is left out."""

    @abstractmethod
    def readable(self, wanted: Mapping[str, Content]) -> Readable:
        """How DuckDB reads these objects, without the missing ones and those of another size."""

    @abstractmethod
    def hold(self, key: str) -> AbstractContextManager[None]:
        """Hold a lock for the length of the block.

        Raises Held when somebody else holds it.
        """

    @abstractmethod
    def is_held(self, key: str) -> bool:
        """Whether somebody holds a lock at this moment."""
