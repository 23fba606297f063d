"""Why a worker's process ended, as far as its notes say.

A process that has died cannot say why. So a file notes which work it began, and ``faulthandler``
adds what ended it: from C, so that code which never gives the interpreter back is ended as well.
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
"""Processes that one piece of work may end: some are killed from outside, and not by it."""
BEGUN = "begun by thread"
TIMED_OUT, FATAL = "Timeout (", "Fatal Python error: "
"""How ``faulthandler`` begins."""
SHOWN = 2
"""Frames that a message has: the code that was running, and what called it."""
FRAME = re.compile(r'  File "(.+)", line (\d+) in (.+)')
LOGGER = logging.getLogger("distributed.worker")


_notes: list[TextIO] = []
"""Files for notes of the work under way, the work that was begun last at the end."""


@contextmanager
def note_work(work: str) -> Iterator[None]:
    """Note that work of a unique name has begun, until it ends.

    Raises WorkerEnded instead when it has ended one process of this machine before, by a fatal
    error or a forward pass that took too long, or MOST_DEATHS without a word.
    """
    path = Path(tempfile.gettempdir()) / f"decaf-{short(json_sha256(work))}.notes"
    with _open_notes(path) as notes:
        notes.seek(0)
        earlier = notes.read()
        deaths = earlier.count(BEGUN)
        try:
            if TIMED_OUT in earlier:
                raise WorkerEnded(
                    "took longer than its card's 'timeout:' to load, or for one forward pass; its "
                    f"worker was ended{_place(earlier)}: repair the model, or give it more seconds"
                )
            if FATAL in earlier or deaths >= MOST_DEATHS:
                ended = "its worker" if deaths == 1 else f"{deaths} workers, the last one"
                raise WorkerEnded(
                    f"ended {ended} {_reason(earlier)}: load and call the model in a Python "
                    "process of your own to see why"
                )
            notes.write(f"{BEGUN} {threading.get_ident():x}\n")
            notes.flush()
            with _watch_faults(notes):
                yield
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def _watch_faults(notes: TextIO) -> Iterator[None]:
    """Have a fatal error noted of this work, and then again of the work that was begun before."""
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
    """A file for notes; one that keeps none where the disk has no room: the work needs none."""
    try:
        with path.open("ab", buffering=0) as room:
            room.write(b"\n")
    except OSError as error:
        LOGGER.warning("this worker cannot note which work it does, should one end it: %s", error)
        return Path(os.devnull).open("a+")
    return path.open("a+")


@contextmanager
def limit_seconds(seconds: float | None) -> Iterator[None]:
    """End this process when the block takes longer, which its notes then say.

    No limit without seconds, and where no work is noted: beside the flow.
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
    """A model whose forward passes have a limit; apart from that it is the model."""

    def __init__(self, model: Model, seconds: float | None) -> None:
        self._model, self._seconds = model, seconds

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)
        return limit_seconds(self._seconds)(value) if name.endswith("outputs") else value


def _reason(notes: str) -> str:
    """What is known of the last death."""
    *_, last = notes.split(BEGUN)
    if FATAL in last:
        fatal = last.partition(FATAL)[2].partition("\n")[0]
        return f"by a fatal error ({fatal}{_place(last)})"
    return "without a word (killed, as for want of memory, or by os._exit)"


def _place(notes: str) -> str:
    """Where the thread of the work was, if it is known: ``, in f (file.py:3) of g (file.py:9)``."""
    *_, last = notes.split(BEGUN)
    thread = last.split("\n", 1)[0].strip()
    frames = FRAME.findall(last.partition(f"{int(thread, 16):016x}")[2])[:SHOWN]
    return ", in " * bool(frames) + " of ".join(
        f"{function} ({Path(file).name}:{line})" for file, line, function in frames
    )
