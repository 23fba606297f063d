"""A warehouse on an object store: no rename, no folders, every object put whole by one request.

What is listed is there: S3 and its like are consistent. Objects that stand for folders are passed
over. Readers get what they read (``warehouse.storage.stored_files``) and keep copies of it
(``warehouse.storage.copies``), and locks are leases (``warehouse.storage.lease``).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pyarrow.fs as arrow

from decaf.errors import OutOfReach, StoreAway
from warehouse.storage import lease
from warehouse.storage.base import Content, Entry, Readable, Storage, Write
from warehouse.storage.copies import SETTLED, Copies
from warehouse.storage.stored_files import Far, StoredFiles

REQUESTS_AT_ONCE = 16
OPEN_AT_MOST = 256
TABLE_LEVELS = 2
"""Parts of a key that name its table."""
BROKEN_OFF = "INTERNAL_FAILURE"
"""How Arrow calls a response of S3 that ended too soon: its object was put or deleted meanwhile."""
BROKEN_OFF_AT_MOST = 2
AWAY = "NETWORK_CONNECTION"
"""How Arrow calls that no connection is made, that one breaks, or that no answer comes in time."""
HINTS = {
    "NO_SUCH_BUCKET": "make the bucket first, or correct its name",
    "ACCESS_DENIED": "check the credentials in the environment and what they may do",
    "INVALID_ACCESS_KEY_ID": "check AWS_ACCESS_KEY_ID",
    "SIGNATURE": "check AWS_SECRET_ACCESS_KEY",
    AWAY: "check the address and whether its server runs",
    "HTTP status 301": "give the bucket's region: s3://bucket/prefix?region=…",
}
"""What to do, by a word in Arrow's message."""
NO_HINT = "check the address, the credentials in the environment, and the server"


class ObjectStore(Storage):
    """Objects below a path of an Arrow filesystem.

    The bucket must be there before anything can be put into it; none where that is not so.
    """

    settled_after = SETTLED

    def __init__(
        self, url: str, filesystem: arrow.FileSystem, root: str, bucket: str | None
    ) -> None:
        self.address = url
        self._files, self._root, self._bucket = filesystem, root, bucket
        self._copies = Copies(url)
        self._is_pruned = False
        # To open one asks for its size: a second request for every part, unless it stays open.
        self._opened = lru_cache(OPEN_AT_MOST)(
            lambda key: self._files.open_input_file(self._path(key))
        )

    def place(self, key: str) -> str:
        """Address of an object, the parameters of the root left out."""
        return f"{self.address.split('?')[0].rstrip('/')}/{key}"

    def prepare(self) -> None:
        """Put an object and delete it."""
        self._require_bucket()
        probe = f".probe.{uuid4().hex}.tmp"
        self.put(probe, b"writable\n")
        self.delete(probe)

    def publish(self, key: str, write: Write) -> Content:
        """Write it in memory, then put it: a worker whose disk is full can commit."""
        with BytesIO() as file:
            write(file)
            content = file.getvalue()
        self.put(key, content)
        return Content(len(content), hashlib.sha256(content).hexdigest())

    def put(self, key: str, content: bytes) -> None:
        """Put an object; it is visible at the end of the last request."""
        with self._explained():
            stream = self._files.open_output_stream(self._path(key))
            try:
                stream.write(content)
                stream.close()
            finally:
                # Arrow puts once more when it drops a stream that failed: let that be now, not
                # when a traceback is forgotten and another process may have put the object.
                del stream

    def read(self, key: str) -> bytes:
        """Get an object."""
        try:
            with self._explained():
                return self._received(key)
        except FileNotFoundError:
            self._require_bucket()
            raise

    def read_part(self, key: str, start: int, byte_count: int) -> bytes:
        """Get bytes of an object from a place on."""
        with self._explained():
            return self._opened(key).read_at(byte_count, start)

    def read_many(self, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Get several objects at once."""
        return _at_once(keys, self.read)

    def read_listed(self, entries: Iterable[Entry]) -> Iterator[tuple[str, bytes]]:
        """Get several objects at once, unless they are remembered as they were listed."""
        listed = {entry.key: entry for entry in entries}
        return _at_once(
            listed, lambda key: self._copies.remembered(listed[key], lambda: self.read(key))
        )

    def exists(self, key: str) -> bool:
        """Ask for one object."""
        with self._explained():
            is_there = self._files.get_file_info(self._path(key)).type == arrow.FileType.File
        if not is_there:
            self._require_bucket()
        return is_there

    def entries(self, folder: str, suffixes: tuple[str, ...]) -> list[Entry]:
        """List what begins so, in as few requests as the store allows."""
        base = self._path(folder)
        selector = arrow.FileSelector(base, allow_not_found=True, recursive=True)
        with self._explained():
            listed = self._files.get_file_info(selector)
        # Some filesystems put a slash before all paths, some do not.
        skipped = len(self._path("").strip("/")) + 1
        return sorted(
            Entry(info.path.strip("/")[skipped:], info.size, info.mtime or datetime.now(UTC))
            for info in listed
            if info.type == arrow.FileType.File and info.path.endswith(suffixes)
        )

    def delete(self, key: str) -> None:
        """Delete one object."""
        with self._explained(), suppress(FileNotFoundError):
            self._files.delete_file(self._path(key))

    def bring(self, keys: Iterable[str]) -> dict[str, Path]:
        """Local copies, got at once."""
        keys = list(keys)
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
            paths = pool.map(lambda key: self._copies.latest(key, partial(self.read, key)), keys)
            return {key: path for key, path in zip(keys, paths, strict=True) if path is not None}

    def readable(self, wanted: Mapping[str, Content]) -> Readable:
        """Copies of what was got before, and addresses of what is got when a query reads it."""
        if not self._is_pruned:
            self._is_pruned = True
            self._copies.prune()
        places, far = {}, {}
        for key, content in wanted.items():
            if path := self._copies.kept(key, content):
                places[key] = str(path)
            else:
                far[key] = content
        sizes = self._sizes(far)
        far = {key: one for key, one in far.items() if sizes.get(key) == one.byte_count}
        files = StoredFiles(self._copies, far, Far(self.read, self.read_part))
        places |= {key: files.address(key) for key in far}
        return Readable(places, (str(self._copies.folder), files.address("")), files)

    def hold(self, key: str) -> AbstractContextManager[None]:
        """Hold a lease."""
        return lease.hold(self, key)

    def is_held(self, key: str) -> bool:
        """Whether there is a lease that has not ended."""
        return lease.is_held(self, key)

    def _sizes(self, keys: Iterable[str]) -> dict[str, int]:
        """Sizes of objects that are there, by listing the tables that they are of."""
        tables = sorted({"/".join(key.split("/")[:TABLE_LEVELS]) for key in keys})
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
            listed = pool.map(lambda table: self.entries(table, ("",)), tables)
            return {entry.key: entry.byte_count for entries in listed for entry in entries}

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}".rstrip("/")

    def _require_bucket(self) -> None:
        """Tell a bucket that is not there from an object that is not there."""
        if self._bucket is None:
            return
        with self._explained():
            if self._files.get_file_info(self._bucket).type == arrow.FileType.NotFound:
                raise OSError("NO_SUCH_BUCKET: there is no such bucket")

    def _received(self, key: str) -> bytes:
        """Content of an object; asked again when it was replaced while it was being sent."""
        for _ in range(BROKEN_OFF_AT_MOST):
            try:
                with self._files.open_input_file(self._path(key)) as stream:
                    return stream.readall()
            except OSError as error:
                if BROKEN_OFF not in str(error):
                    raise
        with self._files.open_input_file(self._path(key)) as stream:
            return stream.readall()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Tell every failure as an error of this warehouse, but for what is not there."""
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:  # noqa: BLE001 - every package of fsspec raises its own types
            hint = next((hint for word, hint in HINTS.items() if word in str(error)), NO_HINT)
            kind = StoreAway if AWAY in str(error) else OutOfReach
            raise kind(f"warehouse {self.address}: {error}; {hint}") from error


def _at_once(keys: Iterable[str], read: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Read several objects in threads; those that are not there are passed over."""

    def content(key: str) -> bytes | None:
        with suppress(FileNotFoundError):
            return read(key)
        return None

    keys = list(keys)
    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
        for key, found in zip(keys, pool.map(content, keys), strict=True):
            if found is not None:
                yield key, found
