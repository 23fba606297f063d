"""Signals that end a flow as Ctrl-C does: nothing that it started outlives it."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Stopped(SystemExit):
    """A signal ended the flow; ``code`` is 128 and the signal's number, as shells have it."""


def heed_signals() -> None:
    """From here on SIGTERM, and SIGHUP when the terminal closes, raise :class:`Stopped`."""
    for number in SIGNALS:
        if signal.getsignal(number) == signal.SIG_DFL:  # what nohup ignores stays ignored
            signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    for later in SIGNALS:
        signal.signal(later, signal.SIG_IGN)  # the end is under way
    if number == signal.SIGHUP:
        _let_go_of_terminal()
    raise Stopped(128 + number)


def _let_go_of_terminal() -> None:
    """Send to nowhere what would be printed on a terminal that is gone; files stay."""
    for stream in (sys.stdout, sys.stderr):
        try:
            os.write(stream.fileno(), b"")
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
