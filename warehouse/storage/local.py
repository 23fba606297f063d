"""Storage in a folder: objects are files, replaced by rename; locks are the operating system's."""

import errno
import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from decaf.errors import OutOfReach, WarehouseError
from decaf.foundation.files import convert_os_errors, replace_files
from warehouse.storage.base import Content, Entry, LockHeld, Readable, Storage, Write
from warehouse.storage.holder import describe_holder, this_process

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write_to(path: Path, write: Write) -> None:
    """Write a file with ``write``."""
    with path.open("wb") as file:
        write(file)


def _is_readable(path: Path, byte_count: int) -> bool:
    """True if the file is whole; reads its footer only if the size differs from ``byte_count``."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return False
        return status.st_size == byte_count or bool(pq.read_metadata(path))
    except (OSError, ValueError, pa.ArrowException):
        return False


class LocalStorage(Storage):
    """Files below an absolute folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = str(folder)

    def prepare(self) -> None:
        """Make the folder and write a test file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        probe = self.folder / f".probe.{os.getpid()}.tmp"
        try:
            probe.write_text("writable\n")
        finally:
            probe.unlink(missing_ok=True)

    def publish(self, key: str, write: Write) -> Content:
        """Write a temporary file, flush it, rename it, flush its folder."""
        return self.publish_all([(key, write)])[key]

    def publish_all(self, writes: Iterable[tuple[str, Write]]) -> dict[str, Content]:
        """Write all temporary files before the first is flushed.

        Raises FileNotFoundError, instead of making a new folder, if the warehouse was deleted or
        moved.
        """
        if not self.folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "the folder of the warehouse no longer exists")
        keys: list[str] = []

        def files() -> Iterator[tuple[Path, Callable[[Path], object]]]:
            for key, write in writes:
                keys.append(key)
                yield self._path_without_links(key), partial(write_to, write=write)

        replaced = replace_files(files())
        return {key: self._content(key, path) for key, path in zip(keys, replaced, strict=True)}

    def _content(self, key: str, path: Path) -> Content:
        with self._convert_errors(key), path.open("rb", buffering=0) as file:
            digest = hashlib.file_digest(file, "sha256")
            return Content(file.tell(), digest.hexdigest())

    def read(self, key: str) -> bytes:
        """Read a file."""
        # Making a Path takes as long as reading the file; a large audit has 100,000s of receipts.
        place = f"{self.address}/{key}"
        with self._convert_errors(key), open(place, "rb", buffering=0) as file:  # noqa: PTH123
            return file.readall()

    def exists(self, key: str) -> bool:
        """True if there is a file."""
        with self._convert_errors(key):
            return (self.folder / key).exists()

    def entries(self, folder: str, suffixes: tuple[str, ...]) -> list[Entry]:
        """List files below a folder."""
        files, folders = [], [folder]
        while folders:
            parent = folders.pop()
            # A file or folder can be deleted after it was listed.
            with (
                suppress(FileNotFoundError),
                self._convert_errors(parent),
                os.scandir(self._path_without_links(parent)) as listing,
            ):
                for item in listing:
                    key = f"{parent}/{item.name}" if parent else item.name
                    if item.is_symlink():
                        self._path_without_links(key)
                    elif item.is_dir():
                        folders.append(key)
                    elif item.name.endswith(suffixes) and item.is_file():
                        with suppress(FileNotFoundError):
                            status = item.stat()
                            changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
                            files.append(Entry(key, status.st_size, changed_at))
        return sorted(files)

    def delete(self, key: str) -> None:
        """Unlink a file."""
        with self._convert_errors(key):
            self._path_without_links(key).unlink(missing_ok=True)

    def find_readable(self, wanted: Mapping[str, Content]) -> Readable:
        """Return the paths of the files themselves."""
        places = {
            key: str(self.folder / key)
            for key, content in wanted.items()
            if _is_readable(self.folder / key, content.byte_count)
        }
        return Readable(places, (str(self.folder / "tables"),), None)

    @contextmanager
    def hold(self, key: str) -> Iterator[None]:
        """Lock a file with ``flock``; the lock ends with the process, even if that is killed.

        Raises WarehouseError if the file system cannot be written, or has no locks.
        """
        path = self._path_without_links(key)
        remedy = "use a folder that can be written, on a file system with locks (flock)"
        with ExitStack() as opened:
            with convert_os_errors(WarehouseError, f"{path} cannot be locked", remedy):
                path.parent.mkdir(parents=True, exist_ok=True)
                file = opened.enter_context(path.open("ab+", buffering=0))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise LockHeld(describe_holder(path.read_bytes())) from None
            # The holder is only for messages: a full disk must not stop commands that free space.
            with suppress(OSError):
                file.truncate(0)
                file.write(json.dumps(this_process()).encode())
            yield

    def is_held(self, key: str) -> bool:
        """Try to get a shared lock, and release it."""
        if not self.exists(key):
            return False
        with self._convert_errors(key), self._path_without_links(key).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError as error:
                # A file system without locks has no holder.
                if error.errno not in NO_LOCKS:
                    raise
        return False

    def _path_without_links(self, key: str) -> Path:
        """Path of a key to list, write, lock or delete.

        Raises WarehouseError for a link, which can lead out of the warehouse, or back into it.
        """
        path = self.folder
        for part in key.split("/"):
            path /= part
            if path.is_symlink():
                raise WarehouseError(
                    f"{path} is a link, and a warehouse must not contain links; replace it with "
                    "its target, or remove it (a link to the whole warehouse is allowed)"
                )
        return path

    @contextmanager
    def _convert_errors(self, key: str) -> Iterator[None]:
        """Raise OSError inside the block as OutOfReach, except for a missing file."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise OutOfReach(
                f"{self.place(key)} is out of reach: {error.strerror}; check its permissions and "
                "its disk, then run the same command again"
            ) from error
