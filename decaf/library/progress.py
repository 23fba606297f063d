"""One line on standard error that counts forward rows while an audit scores them."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_BETWEEN = {"\r": 0.2, "\n": 10.0}
"""Seconds between updates, by the end of the line: ``\\r`` overwrites it, ``\\n`` adds a line."""
WIDTH = 79


@contextmanager
def progress_line(total: int, is_shown: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of rows of each scored batch, of ``total`` rows.

    A terminal and a notebook show one line, which each update overwrites; elsewhere each update is
    a new line.
    """
    if not is_shown:
        yield lambda rows: None
        return
    # Jupyter's standard error is not a terminal, but obeys carriage returns.
    end = "\r" if sys.stderr.isatty() or "ipykernel" in sys.modules else "\n"
    started = last_time = time.monotonic()
    done = 0

    def say(last: str) -> None:
        seconds = time.monotonic() - started
        time_left = f", {seconds * (total - done) / done:.0f} s left" if 0 < done < total else ""
        line = (
            f"{done:,} of {total:,} forward rows ({done / total:.0%}), {seconds:.0f} s{time_left}"
        )
        sys.stderr.write(line.ljust(WIDTH) + last)
        sys.stderr.flush()

    def count(rows: int) -> None:
        nonlocal done, last_time
        done += rows
        if time.monotonic() - last_time >= SECONDS_BETWEEN[end]:
            last_time = time.monotonic()
            say(end)

    try:
        yield count
    finally:
        say("\n")
