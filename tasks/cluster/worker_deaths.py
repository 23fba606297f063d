"""Find out why a worker's process ended, from its notes.

A dead process cannot report an error. So a file names the work that it started, and
``faulthandler`` adds the fatal error or timeout. ``faulthandler`` runs in C, so it also ends code
that never returns to the interpreter.
"""

import faulthandler
import logging
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from decaf.errors import WorkerEnded
from decaf.foundation.digests import json_sha256, short
from decaf.models.card import Model

MOST_DEATHS = 3
"""Processes that may end during one piece of work, since some are killed from outside."""
BEGUN = "begun by thread"
TIMED_OUT, FATAL = "Timeout (", "Fatal Python error: "
"""First words of ``faulthandler``'s texts."""
SHOWN = 2
"""Most frames in a message: the running code, and its caller."""
FRAME = re.compile(r'  File "(.+)", line (\d+) in (.+)')
LOGGER = logging.getLogger("distributed.worker")


_notes: list[TextIO] = []
"""Files for notes of the current work, the newest work last."""


@contextmanager
def note_work(work: str) -> Iterator[None]:
    """Note the start of work with a unique name, until it ends.

    Raises WorkerEnded instead if the work already ended a process of this machine by a fatal error
    or a timeout, or MOST_DEATHS processes without a note.
    """
    path = Path(tempfile.gettempdir()) / f"decaf-{short(json_sha256(work))}.notes"
    with _open_notes(path) as notes:
        notes.seek(0)
        earlier = notes.read()
        deaths = earlier.count(BEGUN)
        try:
            if TIMED_OUT in earlier:
                raise WorkerEnded(
                    "loading the model or one forward pass exceeded 'timeout:' of the model's "
                    f"card; its worker was stopped{_place(earlier)}: repair the model, or raise "
                    "'timeout:'"
                )
            if FATAL in earlier or deaths >= MOST_DEATHS:
                ended = "its worker" if deaths == 1 else f"{deaths} workers, the last one"
                raise WorkerEnded(
                    f"ended {ended} {_reason(earlier)}: to see why, load and call the model in a "
                    "separate Python process"
                )
            notes.write(f"{BEGUN} {threading.get_ident():x}\n")
            notes.flush()
            with _watch_faults(notes):
                yield
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def _watch_faults(notes: TextIO) -> Iterator[None]:
    """Note fatal errors of this work; afterwards, those of the work before it."""
    _notes.append(notes)
    faulthandler.enable(notes)
    try:
        yield
    finally:
        _notes.remove(notes)
        if _notes:
            faulthandler.enable(_notes[-1])
        else:
            faulthandler.disable()


def _open_notes(path: Path) -> TextIO:
    """Open a file for notes; on a full disk, one that discards them, since work can go on."""
    try:
        with path.open("ab", buffering=0) as room:
            room.write(b"\n")
    except OSError as error:
        LOGGER.warning("this worker cannot note its work, to explain a later crash: %s", error)
        return Path(os.devnull).open("a+")
    return path.open("a+")


@contextmanager
def limit_seconds(seconds: float | None) -> Iterator[None]:
    """End this process if the block takes longer, after a note.

    There is no limit without ``seconds``, and none in the process of the flow, which has no notes.
    """
    if not (_notes and seconds):
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True, file=_notes[-1])
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


class LimitedModel:
    """Wrapper of a model that limits the seconds of each forward pass."""

    def __init__(self, model: Model, seconds: float | None) -> None:
        self._model, self._seconds = model, seconds

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)
        return limit_seconds(self._seconds)(value) if name.endswith("outputs") else value


def _reason(notes: str) -> str:
    """Cause of the last death, for a message."""
    *_, last = notes.split(BEGUN)
    if FATAL in last:
        fatal = last.partition(FATAL)[2].partition("\n")[0]
        return f"by a fatal error ({fatal}{_place(last)})"
    return "without an error (killed, for example for lack of memory, or by os._exit)"


def _place(notes: str) -> str:
    """Frames of the work's thread, as ``, in f (file.py:3) of g (file.py:9)``; empty if unknown."""
    *_, last = notes.split(BEGUN)
    thread = last.split("\n", 1)[0].strip()
    frames = FRAME.findall(last.partition(f"{int(thread, 16):016x}")[2])[:SHOWN]
    return ", in " * bool(frames) + " of ".join(
        f"{function} ({Path(file).name}:{line})" for file, line, function in frames
    )
