"""A warehouse in a folder: objects are files, replaced by rename; locks are the system's."""

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
from decaf.foundation.files import refusals_as, replace_files
from warehouse.storage.base import Content, Entry, Held, Readable, Storage, Write
from warehouse.storage.holder import described, this_process

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write_to(path: Path, write: Write) -> None:
    """Make a file of what ``write`` writes."""
    with path.open("wb") as file:
        write(file)


def _is_readable(path: Path, byte_count: int) -> bool:
    """Whether the file is there and whole; its footer is read only when the size is another."""
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
        """Make the folder and try a file."""
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

        A warehouse that was deleted or moved is not begun again behind the back of who did it.
        """
        if not self.folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "the folder of the warehouse is gone")
        keys: list[str] = []

        def files() -> Iterator[tuple[Path, Callable[[Path], object]]]:
            for key, write in writes:
                keys.append(key)
                yield self._own(key), partial(write_to, write=write)

        replaced = replace_files(files())
        return {key: self._content(key, path) for key, path in zip(keys, replaced, strict=True)}

    def _content(self, key: str, path: Path) -> Content:
        with self._explained(key), path.open("rb", buffering=0) as file:
            digest = hashlib.file_digest(file, "sha256")
            return Content(file.tell(), digest.hexdigest())

    def read(self, key: str) -> bytes:
        """Content of a file."""
        # A Path costs as much as to read the file, and a large audit has 100,000s of receipts.
        place = f"{self.address}/{key}"
        with self._explained(key), open(place, "rb", buffering=0) as file:  # noqa: PTH123
            return file.readall()

    def exists(self, key: str) -> bool:
        """Whether there is a file."""
        with self._explained(key):
            return (self.folder / key).exists()

    def entries(self, folder: str, suffixes: tuple[str, ...]) -> list[Entry]:
        """Files below a folder."""
        files, folders = [], [folder]
        while folders:
            above = folders.pop()
            # What is deleted between its listing and a look at it is not there.
            with (
                suppress(FileNotFoundError),
                self._explained(above),
                os.scandir(self._own(above)) as listing,
            ):
                for item in listing:
                    key = f"{above}/{item.name}" if above else item.name
                    if item.is_symlink():
                        self._own(key)
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
        with self._explained(key):
            self._own(key).unlink(missing_ok=True)

    def bring(self, keys: Iterable[str]) -> dict[str, Path]:
        """The files themselves."""
        return {key: self.folder / key for key in keys if self.exists(key)}

    def readable(self, wanted: Mapping[str, Content]) -> Readable:
        """The files themselves."""
        places = {
            key: str(self.folder / key)
            for key, content in wanted.items()
            if _is_readable(self.folder / key, content.byte_count)
        }
        return Readable(places, (str(self.folder / "seeds"), str(self.folder / "tables")), None)

    @contextmanager
    def hold(self, key: str) -> Iterator[None]:
        """Hold a file with ``flock``, which ends with the process, however that ends.

        Raises WarehouseError where the file system lets no file be made, or has no locks.
        """
        path = self._own(key)
        remedy = "use a folder that can be written, on a file system with locks (flock)"
        with ExitStack() as opened:
            with refusals_as(WarehouseError, f"{path} cannot be locked", remedy):
                path.parent.mkdir(parents=True, exist_ok=True)
                file = opened.enter_context(path.open("ab+", buffering=0))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise Held(described(path.read_bytes())) from None
            # Who holds it is for people: a disk that is full must not stop who makes room.
            with suppress(OSError):
                file.truncate(0)
                file.write(json.dumps(this_process()).encode())
            yield

    def is_held(self, key: str) -> bool:
        """Ask for a shared lock and let it go."""
        if not self.exists(key):
            return False
        with self._explained(key), self._own(key).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError as error:
                # Where there are no locks nobody holds one.
                if error.errno not in NO_LOCKS:
                    raise
        return False

    def _own(self, key: str) -> Path:
        """Path of what is listed, written, locked or deleted: no link leads there.

        Raises WarehouseError for a link, which may lead out of the warehouse, or back into it.
        """
        path = self.folder
        for part in key.split("/"):
            path /= part
            if path.is_symlink():
                raise WarehouseError(
                    f"{path} is a link, and nothing in a warehouse may be one; put in its place "
                    "what it leads to, or remove it (a link to the whole warehouse is fine)"
                )
        return path

    @contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        """Tell every refusal as an error of this warehouse, but for what is not there."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise OutOfReach(
                f"{self.place(key)} is out of reach: {error.strerror}; check its permissions and "
                "its disk, then give the same command again"
            ) from error
