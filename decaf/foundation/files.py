"""Read only regular files; write files whole or not at all."""

import errno
import os
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from decaf.errors import BadInput, DecafError
from decaf.foundation.names import printable

KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
"""Name of a thing that is not a file, for messages."""
NO_FLUSH = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors of file systems without fsync."""


@contextmanager
def convert_os_errors(kind: type[DecafError], what: str, remedy: str) -> Iterator[None]:
    """Raise ``kind`` for an OSError in the block.

    The message is ``what``, the cause and ``remedy``; for a missing path of the user's, also the
    folder where relative paths start.
    """
    try:
        yield
    except FileNotFoundError as error:
        start = start_of(Path(error.filename or "/")) if issubclass(kind, BadInput) else ""
        raise kind(f"{what}: {error.strerror}; {remedy}{start}") from error
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}; {remedy}") from error


def start_of(path: Path) -> str:
    """Clause that names the current directory, for an absolute path below it.

    The user may have written such a path as a relative one. The clause is empty for any other path,
    and if the current directory was deleted.
    """
    with suppress(FileNotFoundError):
        here = Path.cwd()
        if path.is_relative_to(here):
            return f" (relative paths start from the current directory, {here})"
    return ""


def file_status(path: Path) -> os.stat_result:
    """Size and times of a regular file; reading a pipe or a device might never end.

    Raises OSError when the path does not exist or is not a regular file.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        kind = KINDS.get(stat.S_IFMT(status.st_mode), "a device")
        raise OSError(f"it is {kind}, not a file")
    return status


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading; errors are those of :func:`file_status`."""
    file_status(path)
    return path.open("rb")


def is_inside(path: Path, folder: Path) -> bool:
    """True if a path, with links followed, lies in a folder; False for a loop of links."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except RuntimeError:
        return False


def describe_link(path: Path, folder: Path) -> str:
    """Clause of a message about the first link on a path that leads out of a folder.

    It names the link, its target and what to do; it is empty where the path has no such link.
    """
    parts = [part for part in reversed([path, *path.parents]) if folder in part.parents]
    link = next((str(p) for p in parts if p.is_symlink() and not is_inside(p, folder)), None)
    if link is None:
        return ""
    target, remedy = os.path.realpath(link), "put a file in its place"
    if Path(target).is_file() or Path(target).is_dir():
        copy, source = shlex.quote(link), shlex.quote(target)
        remedy = f"if that is meant, put a copy in its place: rm {copy} && cp -rL {source} {copy}"
    return printable(
        f"{link} is a link to {target}, and decaf follows no link out of {folder}; {remedy}"
    )


def replace_file(target: Path, write: Callable[[Path], object]) -> None:
    """Write under a temporary name, flush to disk, rename, flush the folder.

    ``write`` gets an empty file, and fills it or replaces it. The temporary name ends in ``.tmp``,
    so that ``*.parquet`` and the like do not match it; it is removed in every case. The file gets
    the mode that the umask gives, even if the writing library sets a stricter one (safetensors).
    Raises OSError when the disk cannot be written, or the target is a folder, a device or a
    pipe; the target is then unchanged.
    """
    replace_files([(target, write)])


def replace_files(writes: Iterable[tuple[Path, Callable[[Path], object]]]) -> list[Path]:
    """Replace several files as :func:`replace_file` does; return their paths.

    Each file is then complete and new, or unchanged. The files are written one after the other,
    then all are flushed, then all renamed, so that a file system with a journal can write it once
    for all.
    """
    temporaries: dict[Path, Path] = {}
    with ExitStack() as after:
        for target, write in writes:
            if target.exists() and not target.is_file():
                raise FileExistsError(errno.EEXIST, "a folder, a device or a pipe is there")
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
            temporaries[target] = temporary
            after.callback(temporary.unlink, missing_ok=True)
            temporary.touch()
            usual = temporary.stat().st_mode
            write(temporary)
            temporary.chmod(usual)
        for temporary in temporaries.values():
            flush(temporary)
        for target, temporary in temporaries.items():
            temporary.replace(target)
    for folder in {target.parent for target in temporaries}:
        flush(folder)
    return [*temporaries]


def flush(path: Path) -> None:
    """Flush a file, or a folder's names, to the disk.

    Does nothing on a file system without fsync; there, a power failure may lose data, a killed
    process does not.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FLUSH:
            raise
    finally:
        os.close(descriptor)
