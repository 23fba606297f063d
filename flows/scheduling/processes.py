"""Start and end the processes of ``decaf serve``, so that none outlives it.

They have a mark in their environment, which children inherit, Dask's workers included. So
``decaf serve`` finds the children of a killed parent without a file that could be wrong.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

import psutil

SERVE = "DECAF_SERVE"
"""Folder of the service that a process belongs to."""
RUN = "PREFECT__FLOW_RUN_ID"
"""Flow run of a process; Prefect's worker sets it."""
GRACE_SECONDS = 10
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def python(*arguments: str) -> list[str]:
    """Command that runs a module of this project, even if the folder has a module of that name."""
    return [sys.executable, "-P", "-m", *arguments]


def start(
    command: list[str],
    variables: Mapping[str, str],
    folder: Path | None = None,
    output: IO[bytes] | int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process in its own session, so that Ctrl-C reaches only its parent.

    On Linux the process gets SIGTERM when its parent ends. Elsewhere, the next start finds it by
    its mark. Without ``output``, only its error stream is passed on.

    Raises OSError if the folder does not exist.
    """
    return subprocess.Popen(
        command,
        env={**os.environ, **variables},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if output is None else output,
        stderr=None if output is None else subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_bound_to(os.getpid()),
    )


def end(marks: Mapping[str, str | None], grace_seconds: float = GRACE_SECONDS) -> int:
    """End all processes with these variables (None: any value); returns how many there were.

    Sends SIGTERM, then SIGKILL to the processes that still run after the grace period.
    """
    marked = [process for process in psutil.process_iter() if _is_marked(process, marks)]
    for process in marked:
        _signal(process, signal.SIGTERM)
    _, alive = psutil.wait_procs(marked, timeout=grace_seconds)
    for process in alive:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=grace_seconds)
    return len(marked)


def stop(process: subprocess.Popen[bytes], grace_seconds: float) -> int:
    """Terminate a process, kill it after the grace period; returns its exit status."""
    if process.poll() is None:
        process.terminate()
    try:
        return process.wait(grace_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _bound_to(parent: int) -> Callable[[], None] | None:
    if _libc is None:
        return None

    def bind() -> None:  # in the child, before it becomes the command
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it ended before the line above
            os._exit(1)

    return bind


def _is_marked(process: psutil.Process, marks: Mapping[str, str | None]) -> bool:
    try:
        if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
            return False
        variables = process.environ()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return all(
        name in variables and value in (None, variables[name]) for name, value in marks.items()
    )


def _signal(process: psutil.Process, number: int) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
