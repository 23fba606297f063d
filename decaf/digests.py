"""Digests of files and of settings: the identity of everything that determines a score."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file's content, computed once per process while the file stays the same."""
    status = path.stat()
    return _file_sha256(path, status.st_size, status.st_mtime_ns)


@cache
def _file_sha256(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_sha256(value: Any) -> str:
    """Hex sha256 of a JSON value, independent of the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def short(digest: str) -> str:
    """First 32 hex digits (128 bits): unique in any warehouse, and short enough for a name."""
    return digest[:32]
