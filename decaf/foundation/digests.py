"""Digests of files and of settings: the identity of everything that determines a score."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

from decaf.foundation.files import file_status


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file's content, computed once per process while the file stays the same."""
    status = file_status(path)
    return _file_sha256(path, status.st_size, status.st_mtime_ns)


@cache
def _file_sha256(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_sha256(value: Any) -> str:
    """Hex sha256 of a JSON value, independent of the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def hashed_word(text: str, byte_order: Literal["big", "little"] = "big") -> int:
    """Number that the first eight bytes of a text's sha256 stand for: a fixed draw, or a seed."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], byte_order)


def hashed_share(text: str) -> float:
    """The same as a number in [0, 1)."""
    return hashed_word(text) / 2**64


def short(digest: str) -> str:
    """First 32 hex digits (128 bits): unique in any warehouse, and short enough for a name."""
    return digest[:32]
