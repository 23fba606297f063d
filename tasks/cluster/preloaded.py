"""Imports of every worker, which the fork server does once, and the start of each worker.

The fork server has stopped the collection of garbage before (:mod:`tasks.cluster.uncollected`).
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
"""Modules that a worker needs at its first block. Arrow asks for pandas where it is installed."""
PR_SET_PDEATHSIG = 1
"""Of Linux's prctl.h."""

gc.disable()
try:
    for module in NEEDED:
        importlib.import_module(module)
finally:
    gc.freeze()
    gc.enable()


def dask_setup(_worker: "Worker") -> None:
    """Have a worker heed Ctrl-C, and end with the fork server if it is a fork.

    Nobody would know how a fork without its server ends, and Dask would start another worker in its
    place.
    """
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
