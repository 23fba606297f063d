"""Digests of files and of settings: the identity of everything that determines a score."""

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any, Literal

from decaf.errors import DecafError
from decaf.foundation.files import convert_os_errors, file_status, is_inside

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file's content, computed once per process while the file stays the same."""
    status = file_status(path)
    return _file_sha256(path, status.st_size, status.st_mtime_ns)


@cache
def _file_sha256(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_sha256(folder: Path, kind: type[DecafError]) -> str:
    """Digest of all files below a folder and of their names.

    Files behind a link that leaves the folder are not read. Raises an error of the kind when a file
    cannot be read, or its name is not UTF-8.
    """
    with convert_os_errors(kind, f"{folder} cannot be read", "make its files readable"):
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        names = [os.fsencode(path.relative_to(folder)) for path in files]
        try:
            return json_sha256(
                {
                    name.decode(): file_sha256(path) if is_inside(path, folder) else "elsewhere"
                    for name, path in zip(names, files, strict=True)
                }
            )
        except UnicodeDecodeError as error:
            raise kind(
                f"{folder} has a file whose name is not UTF-8: {error.object!r}; rename it"
            ) from error


def json_sha256(value: Any) -> str:
    """Hex sha256 of a JSON value, independent of the order of its keys."""
    return text_sha256(json_text(value))


def json_text(value: Any) -> str:
    """JSON of a value, without spaces, its keys sorted."""
    return _ENCODER.encode(value)


def text_sha256(text: str) -> str:
    """Hex sha256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def hashed_word(text: str, byte_order: Literal["big", "little"] = "big") -> int:
    """First eight bytes of the sha256 of a text as a number, for a fixed draw or a seed."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], byte_order)


def hashed_share(text: str) -> float:
    """The number of :func:`hashed_word`, scaled to [0, 1)."""
    return hashed_word(text) / 2**64


def short(digest: str) -> str:
    """First 32 hex digits (128 bits): unique in any warehouse, and short enough for a name."""
    return digest[:32]
