"""Show the progress of units of work: a bar on a terminal, plain lines elsewhere."""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tasks.terminal import Terminal

SECONDS_BETWEEN_LINES, SILENT_SECONDS = 5.0, 20.0
LOG = logging.getLogger("decaf.announced")
"""Logger of all announcements, for handlers such as that of a Prefect worker's flow."""
LOG.propagate = False
LOG.setLevel(logging.INFO)


class WorkProgress(Protocol):
    """Counter of finished work; safe for threads."""

    def advance(self, label: str, rows: int, count: int = 1) -> None:
        """Count ``count`` more units, and their forward rows."""


class _Counted:
    """Finished part of some work, its speed, and its remaining time."""

    def __init__(self, count: int, unit: str, seconds_left: Callable[[], float | None]) -> None:
        self.total, self.unit, self.done, self.rows = count, unit, 0, 0
        self._seconds_left = seconds_left
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def add(self, rows: int, count: int) -> None:
        """Count ``count`` more units, and their forward rows."""
        with self._lock:
            self.done, self.rows = self.done + count, self.rows + rows

    @property
    def rate(self) -> str:
        """Forward rows per second; empty without rows."""
        return f"{self.rows / (time.monotonic() - self._began):,.0f} rows/s" if self.rows else ""

    @property
    def time_left(self) -> str:
        """Time until the end, from the estimate or from the mean time of finished units."""
        seconds = self._seconds_left()
        if seconds is None and self.done:
            elapsed = time.monotonic() - self._began
            seconds = elapsed / self.done * (self.total - self.done)
        return "" if seconds is None else f"{duration_text(seconds)} left"


class _Bar:
    def __init__(self, progress: Progress, counted: _Counted) -> None:
        self._progress, self._counted = progress, counted
        self._task = progress.add_task(
            "", total=counted.total, rate="", time_left=counted.time_left
        )

    def advance(self, label: str, rows: int, count: int = 1) -> None:
        self._counted.add(rows, count)
        _spoken[0] = time.monotonic()
        self._progress.update(
            self._task,
            completed=self._counted.done,
            description=label,
            rate=self._counted.rate,
            time_left=self._counted.time_left,
            refresh=True,
        )


class _Lines:
    def __init__(self, counted: _Counted) -> None:
        self._counted = counted
        self._printed = time.monotonic()

    def advance(self, label: str, rows: int, count: int = 1) -> None:
        counted, now = self._counted, time.monotonic()
        counted.add(rows, count)
        if now - self._printed < SECONDS_BETWEEN_LINES and counted.done < counted.total:
            return
        self._printed = now
        done = f"{label}: {counted.done} of {counted.total} {counted.unit}"
        announce(", ".join(filter(None, (done, counted.rate, counted.time_left))))


_spoken = [0.0]
"""Time of the last output."""
_latest: list[_Counted] = []
"""The last counted work, for the message of a stopped command."""


def count_done() -> str:
    """Progress of the last counted work, as ``12 of 40 units of work``; empty without any."""
    return "".join(f"{work.done} of {work.total} {work.unit}" for work in _latest)


@contextmanager
def progress_of(
    count: int, unit: str, seconds_left: Callable[[], float | None] = lambda: None
) -> Iterator[WorkProgress]:
    """Show progress over ``count`` units on standard error until the block ends.

    ``seconds_left`` estimates the remaining time; if it returns None, finished units determine it.
    """
    counted = _Counted(count, unit, seconds_left)
    _latest[:] = [counted]
    console = Terminal(stderr=True)
    if not (console.is_terminal and sys.stderr.isatty()):
        yield _Lines(counted)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit + "  {task.fields[rate]}"),
        TextColumn("{task.fields[time_left]}", style="cyan"),
    )
    with Progress(*columns, console=console) as progress:
        yield _Bar(progress, counted)


def announce(text: str) -> None:
    """Print a line on standard error, and log it."""
    _spoken[0] = time.monotonic()
    Terminal(stderr=True).print(text, soft_wrap=True)
    LOG.info("%s", text)


@contextmanager
def announce_while_running(what: str) -> Iterator[None]:
    """Print every 20 s that the block still runs, unless there was other output."""
    began, is_over = time.monotonic(), threading.Event()

    def tell() -> None:
        while not is_over.wait(SILENT_SECONDS):
            if time.monotonic() - max(began, _spoken[0]) >= SILENT_SECONDS:
                announce(f"{what} has been running for {duration_text(time.monotonic() - began)}")

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def duration_text(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    minutes, rest_seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest_seconds:02d}"
