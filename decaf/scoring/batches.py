"""Choose how many rows go through a model at once, from bytes of a row and seconds of a call.

A table is scored hundreds of times faster in batches of thousands of rows than in batches of 64.
Photos on a processor gain nothing beyond a few dozen. :func:`largest_batch` bounds a batch by its
bytes, so the bound is the same in every run. A model stays below that bound where its calls take
long: an audit tries batches of growing size before it scores (:func:`choose_batch`), and the
library grows them while it scores (:class:`GrowingLimit`).
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.memory import halve_batch_size

LEAST_ROWS, MOST_ROWS = 64, 16_384
HOST_BYTES, GPU_BYTES = 8 * 2**20, 2**29
"""Inputs of a batch on a processor, whose caches they should fit, and on a GPU."""
GROWTH = 16
"""Factor from one batch size that is tried to the next one."""
LONG_SECONDS = 0.25
"""No batch is larger than the first whose rows take as long as this."""
SLOWER = 1.25
"""Ratio of seconds per row from which the smaller of two batches is chosen."""


class BatchWarning(UserWarning):
    """A batch did not fit in the memory, so later batches are smaller."""


class Call(NamedTuple):
    """One call of a scorer."""

    rows: int
    seconds: float

    @property
    def seconds_per_row(self) -> float:
        """Mean seconds of a row."""
        return self.seconds / self.rows


class TimedScorer:
    """A scorer that notes rows and seconds of every call that it answers."""

    def __init__(self, score: Callable[[NDArray[np.int64]], NDArray[np.float64]]) -> None:
        self._score = score
        self.calls: list[Call] = []

    def __call__(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Score (n,) numbers of inputs."""
        started = time.perf_counter()
        scores = self._score(rows)
        self.calls.append(Call(len(rows), time.perf_counter() - started))
        return scores

    @property
    def largest(self) -> Call:
        """Fastest of the calls with most rows."""
        return max(self.calls, key=lambda call: (call.rows, -call.seconds))

    @property
    def is_long(self) -> bool:
        """True if the rows of the largest call take long.

        The seconds that any call takes, as the fastest call of fewer rows shows them, do not count:
        larger batches save them.
        """
        largest = self.largest
        smaller = (call.seconds for call in self.calls if call.rows < largest.rows)
        return largest.seconds - min(smaller, default=0.0) > LONG_SECONDS


def largest_batch(row_bytes: int, *, is_on_gpu: bool = False) -> int:
    """Bound the rows of a batch by the bytes of a row: a power of two from 64 to 16,384."""
    rows = (GPU_BYTES if is_on_gpu else HOST_BYTES) // max(row_bytes, 1)
    return min(max(1 << max(rows, 1).bit_length() - 1, LEAST_ROWS), MOST_ROWS)


def growing_sizes(most: int) -> Iterator[int]:
    """Batch sizes to try, in turn: 64, 1,024, … and ``most`` at the end."""
    size = LEAST_ROWS
    while size < most:
        yield size
        size *= GROWTH
    yield most


def choose_batch(calls: Sequence[Call]) -> Call:
    """Choose the call of the largest batch, or a smaller one that is clearly faster for each row.

    ``calls`` are one for each batch size that was tried, the smallest first.
    """
    best = calls[0]
    for call in calls[1:]:
        if call.seconds_per_row < SLOWER * best.seconds_per_row:
            best = call
    return best


class GrowingLimit:
    """Limit of the rows of a batch that grows while calls are short, up to ``most`` rows."""

    def __init__(self, most: int) -> None:
        self.rows, self._most = min(LEAST_ROWS, most), most

    def grow(self, call: Call) -> None:
        """Allow larger batches after a call of nearly as many rows as allowed that was short."""
        if 2 * call.rows > self.rows and call.seconds <= LONG_SECONDS:
            self.rows = min(self.rows * GROWTH, self._most)

    def halve(self, rows: int, error: Exception) -> None:
        """Allow no more than half of a batch that did not fit in the memory, with a BatchWarning.

        Raises ScoringFailed when even one row does not fit.
        """
        self.rows = self._most = halve_batch_size(rows, error)
        warnings.warn(
            f"a batch of {rows} rows does not fit in memory; later ones have at most {self.rows}",
            BatchWarning,
            stacklevel=2,
        )


class FixedLimit(GrowingLimit):
    """Limit of the rows of a batch that only shrinks, where the memory does not suffice."""

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self.rows = rows
