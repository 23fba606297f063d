"""Progress of units of work: a bar where there is a terminal, plain lines elsewhere."""

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
"""Has what is announced, too, for whoever adds a handler: a flow of a Prefect server's worker."""
LOG.propagate = False
LOG.setLevel(logging.INFO)


class WorkProgress(Protocol):
    """Told of finished work, by any thread."""

    def advance(self, label: str, rows: int, count: int = 1) -> None:
        """``count`` more are done, with so many forward rows."""


class _Counted:
    """What is done of some work, how fast, and how long the rest takes."""

    def __init__(self, count: int, unit: str, seconds_left: Callable[[], float | None]) -> None:
        self.total, self.unit, self.done, self.rows = count, unit, 0, 0
        self._seconds_left = seconds_left
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def add(self, rows: int, count: int) -> None:
        """``count`` more are done, with so many forward rows."""
        with self._lock:
            self.done, self.rows = self.done + count, self.rows + rows

    @property
    def rate(self) -> str:
        """Forward rows per second, where there are any."""
        return f"{self.rows / (time.monotonic() - self._began):,.0f} rows/s" if self.rows else ""

    @property
    def left(self) -> str:
        """Time until the end: as estimated, or as long for each as those of this run took."""
        seconds = self._seconds_left()
        if seconds is None and self.done:
            elapsed = time.monotonic() - self._began
            seconds = elapsed / self.done * (self.total - self.done)
        return "" if seconds is None else f"{clock(seconds)} left"


class _Bar:
    def __init__(self, progress: Progress, counted: _Counted) -> None:
        self._progress, self._counted = progress, counted
        self._task = progress.add_task("", total=counted.total, rate="", left=counted.left)

    def advance(self, label: str, rows: int, count: int = 1) -> None:
        self._counted.add(rows, count)
        _spoken[0] = time.monotonic()
        self._progress.update(
            self._task,
            completed=self._counted.done,
            description=label,
            rate=self._counted.rate,
            left=self._counted.left,
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
        announce(", ".join(filter(None, (done, counted.rate, counted.left))))


_spoken = [0.0]
"""When anything was last shown."""
_latest: list[_Counted] = []
"""The work that is counted at this moment, or was last; told when the command is stopped."""


def count_done() -> str:
    """``12 of 40 units of work`` of what was counted last; empty where nothing was."""
    return "".join(f"{own.done} of {own.total} {own.unit}" for own in _latest)


@contextmanager
def progress_of(
    count: int, unit: str, seconds_left: Callable[[], float | None] = lambda: None
) -> Iterator[WorkProgress]:
    """Show progress over ``count`` units on standard error until the block ends.

    ``seconds_left`` estimates the time until then; without an estimate it is that of what is done.
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
        TextColumn("{task.fields[left]}", style="cyan"),
    )
    with Progress(*columns, console=console) as progress:
        yield _Bar(progress, counted)


def announce(text: str) -> None:
    """Say on standard error what begins now, where nothing else would show for a while."""
    _spoken[0] = time.monotonic()
    Terminal(stderr=True).print(text, soft_wrap=True)
    LOG.info("%s", text)


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Say every 20 s that the block is under way, unless something else was shown meanwhile."""
    began, is_over = time.monotonic(), threading.Event()

    def tell() -> None:
        while not is_over.wait(SILENT_SECONDS):
            if time.monotonic() - max(began, _spoken[0]) >= SILENT_SECONDS:
                announce(f"{what} is under way, for {clock(time.monotonic() - began)} so far")

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def clock(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
