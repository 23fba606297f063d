"""Cache folder of a machine, whose files can be deleted at any time."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

UNUSED_SECONDS = 7 * 24 * 3600
"""Time after which an unused file is deleted."""
TOUCH_SECONDS = 3600


def cache_folder() -> Path:
    """Cache folder: ``DECAF_CACHE``, or else ``decaf`` in the user's cache folder."""
    if chosen := os.environ.get("DECAF_CACHE"):
        return Path(chosen).absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "decaf"


def note_use(path: Path) -> None:
    """Update the time of last use of a file or folder, at most once an hour."""
    if path.stat().st_mtime < time.time() - TOUCH_SECONDS:
        os.utime(path)


def prune_unused(folder: Path) -> int:
    """Delete files and folders in a folder that are unused for a week; returns their number."""
    before, count = time.time() - UNUSED_SECONDS, 0
    for path in folder.glob("*"):
        with suppress(FileNotFoundError):  # another process may be renaming or deleting it
            if path.stat().st_mtime >= before:
                continue
            count += 1
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
    return count
