"""What a real command takes, with all processes that it waits for."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

DECAF = str(Path(sys.executable).parent / "decaf")
RUN = (DECAF, "run", "study.yaml")


class Taken(NamedTuple):
    """Seconds of one command."""

    wall: float
    cpu: float


def command(folder: Path, words: tuple[str, ...] = RUN) -> Taken:
    """Run a command in a folder, ``decaf run study.yaml`` unless said otherwise.

    What it prints goes to ``run.log`` there; one that fails ends the benchmark with it.
    """
    started = time.perf_counter()
    with (folder / "run.log").open("w") as log:
        run = subprocess.Popen(words, cwd=folder, stdout=log, stderr=log)
        _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        sys.exit((folder / "run.log").read_text())
    return Taken(time.perf_counter() - started, usage.ru_utime + usage.ru_stime)
