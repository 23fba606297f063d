"""Random starts, made once for a study: every model and every worker reads the same draws.

The last bits of a matrix product depend on how many rows are in it and on the processor. A draw
that is made once has one value, whichever batch, block, worker or device it is used in.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError, WriteFailed
from decaf.foundation.arrays import mapped_array
from decaf.foundation.files import convert_os_errors, replace_file
from decaf.reveal.path import Start, Words

STARTS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class StoredStarts:
    """Starts of a study in a file that is mapped into memory."""

    path: Path
    words: Words
    """(n, words) names of the draws, sorted."""
    states: NDArray[np.floating]
    """(n, …) the starts, as models take inputs."""

    def rows(self, draw: Words) -> NDArray[np.int64]:
        """(n_draws,) rows of draws by their names; raises DataError if a draw is not stored."""
        draw_names = _names(draw)
        rows = np.searchsorted(self._stored_names, draw_names).clip(max=len(self._stored_names) - 1)
        is_missing = self._stored_names[rows] != draw_names
        if is_missing.any():
            raise DataError(
                f"{int(is_missing.sum())} of {len(rows)} random starts are not among the "
                f"{len(self._stored_names)} that are stored; delete {self.path} and run the same "
                "command again"
            )
        return rows

    @cached_property
    def _stored_names(self) -> NDArray[np.bytes_]:
        return _names(self.words)


def store_starts(path: Path, start: Start, draws: Iterable[Words], pattern: NDArray[Any]) -> None:
    """Make every start once and write the file, whole or not at all.

    ``draws`` are (n, words) names, which may repeat. ``pattern`` is one input (…) as models take
    it; starts have its shape and type. Raises WriteFailed if the workspace cannot be written.
    """
    words = np.unique(np.concatenate(list(draws)), axis=0)
    remedy = "free some space there, or set 'workspace:' to another folder"
    with convert_os_errors(WriteFailed, f"random starts cannot be stored in {path.parent}", remedy):
        replace_file(path, lambda temporary: _make_all(temporary, start, words, pattern))


def open_starts(path: Path) -> StoredStarts:
    """Stored starts, opened once per process.

    Raises DataError if the file is missing or is not a file of starts.
    """
    try:
        return _open(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"random starts cannot be read from {path}: {error}; run the same command again to "
            "create them"
        ) from error


@lru_cache
def _open(path: Path, modified: int) -> StoredStarts:
    rows = np.load(path, mmap_mode="r", allow_pickle=False)
    return StoredStarts(path, np.array(rows["words"]), rows["state"])


def _names(words: Words) -> NDArray[np.bytes_]:
    """(n,) one sortable value for each row: its words as bytes, the highest first."""
    return np.ascontiguousarray(words, ">u8").view(f"S{8 * words.shape[1]}").ravel()


def _make_all(path: Path, start: Start, words: Words, pattern: NDArray[Any]) -> None:
    row = np.dtype([("words", np.uint64, words.shape[1:]), ("state", pattern.dtype, pattern.shape)])
    store = mapped_array(path, row, (len(words),))
    for first in range(0, len(words), STARTS_AT_ONCE):
        some = words[first : first + STARTS_AT_ONCE]
        inputs = np.broadcast_to(pattern, (len(some), *pattern.shape))
        store["words"][first : first + len(some)] = some
        store["state"][first : first + len(some)] = start.states(inputs, inputs, some)
