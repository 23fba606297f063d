"""Signals that end a command like Ctrl-C, and the end of its process."""

import _thread
import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from warehouse.query.scratch import remove_scratch

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 128 + signal.SIGINT
PATIENCE_SECONDS, FLOW_PATIENCE_SECONDS = 2.0, 10.0
"""Time from a signal to a forced end: libraries such as DuckDB may swallow its exception."""
GRACE_SECONDS, STOPPED_GRACE_SECONDS = 20.0, 1.0
"""Time for other threads to finish at the end; the process ends in any case."""
SHOW_CURSOR = "\x1b[?25h"

_received: list[int] = []
"""Received signals; libraries such as DuckDB may replace the exception of a handler."""


class Stopped(SystemExit):
    """A signal ended the flow; ``code`` is 128 plus the signal's number, as in shells."""


def heed_interrupts() -> None:
    """Make Ctrl-C raise KeyboardInterrupt; a second Ctrl-C ends the process at once."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def heed_signals() -> None:
    """Make SIGTERM, and SIGHUP when the terminal closes, raise :class:`Stopped`."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, _stop)


def has_signal() -> bool:
    """True after a signal that ends the command."""
    return bool(_received)


def code() -> int:
    """Exit code of a command that a signal stopped."""
    return 128 + _received[0] if _received else INTERRUPTED


def say_stopped() -> None:
    """Print that the command stopped, and its progress if it counted any."""
    progress = sys.modules.get("tasks.progress")  # None before any work begins
    done = progress.count_done() if progress else ""
    resumes = f"the same command resumes: {done} done" if done else "give the same command again"
    before = f"{SHOW_CURSOR}\n" if sys.stderr.isatty() else ""  # the terminal has echoed ^C
    # The console has a lock, which the interrupted thread may hold.
    with suppress(OSError):
        os.write(sys.stderr.fileno(), f"{before}stopped; {resumes}\n".encode())


def end(code: int) -> NoReturn:
    """End the process after its threads, within the grace period; print nothing more."""
    for number in (signal.SIGINT, *SIGNALS):
        signal.signal(number, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 128 + signal.SIGPIPE
        _send_nowhere(stream.fileno())
    grace = STOPPED_GRACE_SECONDS if _received else GRACE_SECONDS
    last = threading.Timer(grace, os._exit, [code])
    last.daemon = True
    last.start()
    # It runs after all handlers that are registered later. An interpreter that frees every object
    # takes seconds, and DuckDB's binding prints pages about objects of running threads.
    atexit.register(os._exit, code)
    atexit.register(remove_scratch)
    sys.exit(code)


def open_streams() -> None:
    """Open closed standard streams, so that no file of a warehouse gets their descriptors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    if _received:
        say_stopped()
        os._exit(INTERRUPTED)
    _received.append(number)
    is_flow = signal.getsignal(signal.SIGTERM) == _stop
    _end_after(FLOW_PATIENCE_SECONDS if is_flow else PATIENCE_SECONDS)
    raise KeyboardInterrupt


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    for later in SIGNALS:
        signal.signal(later, signal.SIG_IGN)  # the command is already ending
    _received.append(number)
    if number == signal.SIGHUP:
        _let_go_of_terminal()
    _end_after(FLOW_PATIENCE_SECONDS)
    raise Stopped(128 + number)


def _end_after(seconds: float) -> None:
    """End the process after these seconds, unless it has ended."""

    def wait() -> None:
        time.sleep(seconds)
        say_stopped()
        os._exit(128 + _received[0])

    # A Thread would take a lock that the interrupted code may hold.
    _thread.start_new_thread(wait, ())


def _let_go_of_terminal() -> None:
    """Discard output to a closed terminal; output to files stays."""
    for stream in (sys.stdout, sys.stderr):
        try:
            os.write(stream.fileno(), b"")
        except OSError:
            _send_nowhere(stream.fileno())


def _send_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
