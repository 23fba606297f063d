"""Temporary folder of a process, removed even if the process is killed.

The process locks its folder, and the lock ends with the process. The next process that opens a
warehouse removes folders without a lock.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

from decaf.errors import WarehouseError
from decaf.foundation.files import convert_os_errors

PREFIX = "decaf-scratch-"


@cache
def scratch_folder() -> Path:
    """Return the private temporary folder of this process; the first call makes it.

    Raises WarehouseError when it cannot be made.
    """
    place = Path(tempfile.gettempdir())
    for old_folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):  # it is in use, or another process is removing it
            descriptor = _open_folder(old_folder)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old_folder)
            finally:
                os.close(descriptor)
    remedy = "set TMPDIR to a folder that can be written"
    with convert_os_errors(WarehouseError, f"no temporary folder can be made in {place}", remedy):
        new_folder = Path(tempfile.mkdtemp(prefix="decaf-"))
        new_folder.chmod(0o700)  # for any umask
    # It gets its final name after it is locked. Without locks, no process removes it.
    with suppress(OSError):
        fcntl.flock(_open_folder(new_folder), fcntl.LOCK_EX)  # stays open until the process ends
    folder = new_folder.rename(place / f"{PREFIX}{uuid4().hex}")
    _folders.append((os.getpid(), folder))
    return folder


def remove_scratch() -> None:
    """Remove the folder of this process; call it last."""
    for process, folder in _folders:
        if process == os.getpid():
            shutil.rmtree(folder, ignore_errors=True)


def _open_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


_folders: list[tuple[int, Path]] = []
atexit.register(remove_scratch)
os.register_at_fork(after_in_child=scratch_folder.cache_clear)
