"""One running flow per study and warehouse."""

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from decaf.errors import AlreadyRunning
from warehouse import layout


@contextmanager
def study_lock(root: Path, study: str) -> Iterator[None]:
    """Hold the study for the length of the block.

    The lock is the operating system's (``flock``), so it ends with the process that holds it,
    however that process ends.

    Raises
    ------
    AlreadyRunning
        When another process holds it.
    """
    path = layout.lock_file(root, study)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning(
                f"study {study!r} is already being audited in {root} ({_holder(path)}); wait for "
                "it (decaf status), or give the second run another 'study:' or 'warehouse:'"
            ) from None
        file.truncate(0)
        holder = {
            "process": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        file.write(json.dumps(holder))
        file.flush()
        yield


def is_held(root: Path, study: str) -> bool:
    """Whether a flow is running on the study at this moment."""
    path = layout.lock_file(root, study)
    if not path.exists():
        return False
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def held_studies(root: Path) -> list[str]:
    """Studies on which a flow is running at this moment, sorted."""
    return [path.stem for path in layout.lock_files(root) if is_held(root, path.stem)]


def _holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_text())
        return f"process {holder['process']} on {holder['host']} since {holder['since']}"
    except (OSError, ValueError, KeyError):
        return "by a process that has just started"
