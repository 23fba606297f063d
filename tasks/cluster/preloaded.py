"""Import the modules of every worker once, in the fork server, and set up each worker.

:mod:`tasks.cluster.uncollected` has stopped garbage collection in the fork server before.
"""

import ctypes
import gc
import importlib
import multiprocessing
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Worker

NEEDED = ("distributed.nanny", "tasks.units.run_task", "torch", "pandas")
"""Modules that a worker needs at its first block; Arrow imports pandas if it is installed."""
PR_SET_PDEATHSIG = 1
"""Constant of Linux's prctl.h."""

gc.disable()
try:
    for module in NEEDED:
        importlib.import_module(module)
finally:
    gc.freeze()
    gc.enable()


def dask_setup(_worker: "Worker") -> None:
    """Unblock Ctrl-C in a worker, and end a fork together with its fork server.

    Without the server, nothing would report the exit status of a fork, and Dask would start another
    worker in its place.
    """
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
