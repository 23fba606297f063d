"""Measure the time of a real command with all processes that it starts."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import NamedTuple

DECAF = str(Path(sys.executable).parent / "decaf")
RUN = (DECAF, "run", "study.yaml")
PR_SET_CHILD_SUBREAPER = 36


class Taken(NamedTuple):
    """Seconds of one command."""

    wall: float
    cpu: float


def command(folder: Path, words: tuple[str, ...] = RUN, code: int = 0) -> Taken:
    """Run a command in a folder, by default ``decaf run study.yaml``, and measure it.

    Its output goes to ``run.log`` in the folder. An unexpected exit code ends the benchmark. The
    processor time includes processes that end shortly after the command. The first command writes
    bytecode, as an installation does.
    """
    environment = {k: text for k, text in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    # Orphaned processes become children of this one, so that they are awaited and counted.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    before, started = _cpu(), time.perf_counter()
    with (folder / "run.log").open("w") as log:
        run = subprocess.Popen(words, cwd=folder, stdout=log, stderr=log, env=environment)
        run.wait()
        wall = time.perf_counter() - started
    if run.returncode != code:
        sys.exit((folder / "run.log").read_text())
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return Taken(wall, _cpu() - before)


def _cpu() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
