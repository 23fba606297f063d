"""Progress of units of work: a bar where there is a terminal, plain lines elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 5.0


class WorkProgress(Protocol):
    """Told of finished work, by any thread."""

    def advance(self, label: str, rows: int, count: int = 1) -> None:
        """``count`` more are done, with so many forward rows."""


class _Bar:
    def __init__(self, progress: Progress, count: int) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=count, rate="")
        self._started, self._rows = time.monotonic(), 0
        self._lock = threading.Lock()

    def advance(self, label: str, rows: int, count: int = 1) -> None:
        with self._lock:
            self._rows += rows
        rate = f"{self._rows / (time.monotonic() - self._started):,.0f} rows/s"
        self._progress.update(
            self._task,
            advance=count,
            description=label,
            rate=rate if self._rows else "",
            refresh=True,
        )


class _Lines:
    def __init__(self, console: Console, count: int, unit: str) -> None:
        self._console, self._total, self._unit = console, count, unit
        self._started = self._printed = time.monotonic()
        self._done = self._rows = 0
        self._lock = threading.Lock()

    def advance(self, label: str, rows: int, count: int = 1) -> None:
        with self._lock:
            self._done, self._rows = self._done + count, self._rows + rows
            now = time.monotonic()
            if now - self._printed < SECONDS_BETWEEN_LINES and self._done < self._total:
                return
            self._printed = now
            elapsed = now - self._started
            left = elapsed / self._done * (self._total - self._done)
            rate = f"{self._rows / elapsed:,.0f} rows/s, " if self._rows else ""
            self._console.print(
                f"{label}: {self._done} of {self._total} {self._unit}, {rate}{clock(left)} left",
                highlight=False,
            )


@contextmanager
def progress_of(count: int, unit: str) -> Iterator[WorkProgress]:
    """Show progress over ``count`` units on standard error until the block ends."""
    console = Console(stderr=True)
    if not (console.is_terminal and sys.stderr.isatty()):
        yield _Lines(console, count, unit)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit + "  {task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        yield _Bar(progress, count)


def announce(text: str) -> None:
    """Say on standard error what begins now, where nothing else would show for a while."""
    Console(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)


def clock(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
