"""Where a machine keeps what it can make again at any time."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Folder of the user's own: ``DECAF_CACHE``, or else ``decaf`` in the user's cache folder."""
    if chosen := os.environ.get("DECAF_CACHE"):
        return Path(chosen).absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "decaf"
