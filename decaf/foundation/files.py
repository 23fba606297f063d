"""Write a file whole or not at all."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from decaf.errors import DecafError

NO_FLUSH = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def refusals_as(kind: type[DecafError], what: str, remedy: str) -> Iterator[None]:
    """Turn what the disk refuses in the block into an error for people.

    It says what cannot be done, why, and what to do next.
    """
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror}; {remedy}") from error


def replace_file(target: Path, write: Callable[[Path], object]) -> None:
    """Write under a temporary name, flush to disk, rename, flush the folder.

    The temporary name ends in ``.tmp``, so that no pattern for the target's kind matches it, and is
    removed whatever happens. Who may read the file is as for any other of this process, also where
    a library would leave that to its owner (safetensors). Raises OSError when the disk refuses, or
    the target is a folder, a device or a pipe; it is then as it was.
    """
    if target.exists() and not target.is_file():
        raise FileExistsError(errno.EEXIST, "a folder, a device or a pipe is there")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        temporary.touch()
        usual = temporary.stat().st_mode
        temporary.unlink()
        write(temporary)
        temporary.chmod(usual)
        flush(temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    flush(target.parent)


def mapped_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[np.generic]:
    """Make an ``.npy`` file of zeros that is mapped into memory, with all its blocks on the disk.

    Raises OSError when the disk is full: found while writing to the map, it would be a SIGBUS.
    """
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def flush(path: Path) -> None:
    """Force a file, or the names in a folder, to the disk, where its file system knows how to.

    One that does not flushes when it likes: a kill loses nothing there, a power failure may.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FLUSH:
            raise
    finally:
        os.close(descriptor)
