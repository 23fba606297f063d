"""Temporary files of a process that none of its ends leaves behind, not even SIGKILL.

Their folder is locked by its process. The lock ends with the process, however that ends, and the
next one that opens a warehouse removes what nobody holds.
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
from decaf.foundation.files import refusals_as

PREFIX = "decaf-scratch-"


@cache
def scratch_folder() -> Path:
    """A folder in the temporary folder for this process alone, made at the first call.

    Raises WarehouseError when there is no room for it.
    """
    place = Path(tempfile.gettempdir())
    for left in place.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or another process removes it now
            descriptor = _opened(left)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left)
            finally:
                os.close(descriptor)
    remedy = "set TMPDIR to a folder that can be written"
    with refusals_as(WarehouseError, f"no temporary folder can be made in {place}", remedy):
        made = Path(tempfile.mkdtemp(prefix="decaf-"))
        made.chmod(0o700)  # whatever the umask says
    # Where nothing can be locked, nobody removes it. It has its name once it is held.
    with suppress(OSError):
        fcntl.flock(_opened(made), fcntl.LOCK_EX)  # open for as long as the process is there
    folder = made.rename(place / f"{PREFIX}{uuid4().hex}")
    _made.append((os.getpid(), folder))
    return folder


def remove_scratch() -> None:
    """Remove the folder of this process, which begins nothing else in it."""
    for process, folder in _made:
        if process == os.getpid():
            shutil.rmtree(folder, ignore_errors=True)


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


_made: list[tuple[int, Path]] = []
atexit.register(remove_scratch)
os.register_at_fork(after_in_child=scratch_folder.cache_clear)
