"""Workers of this machine as forks of one process that has imported what each of them needs.

To import torch and the rest takes a worker seconds of a core. Python's fork server does so once,
while the flow still starts: a fork of it is ready at once, and one that ended is replaced as soon.
It has one thread and no context of CUDA, which no fork could use; a fork that needs a GPU makes its
own. Where no such process can be had, each worker imports for itself.
"""

import ctypes
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver, get_context
from pathlib import Path

import numpy as np

from decaf.plan.cluster import Cluster, CudaWorkers, LocalWorkers
from decaf.plan.study import Study
from tasks.machine import NVIDIA_DRIVER
from tasks.progress import announce
from warehouse import storage
from warehouse.commits.layout import lock

METHOD = "distributed.worker.multiprocessing-method"
FORKING, FRESH = "forkserver", "spawn"
"""What Dask's setting is called, and how Python calls the two ways to start a process."""
PRELOADED = (__name__, "distributed.nanny", "tasks.units.orders", "torch", "pandas")
"""What a worker needs at its first block. Arrow asks for pandas where that is installed."""
PATIENCE_SECONDS = 120.0
"""For the first fork; a machine with other work to do takes long to import torch."""
SLOWER = "workers start more slowly: each imports torch for itself"
QUIET = "ignore::UserWarning:multiprocessing.resource_tracker"
"""Of a command that is stopped, Python's tracker frees the semaphores, and warns that it did."""
WORKER_MEMORY = {
    # glibc gives freed activations back to the kernel, which faults them in again at the next
    # layer; a worker that keeps them does about twice the rows per second on a CPU. One arena,
    # since a task runs in a thread and the arenas of threads ignore the other three
    # (benchmarks/allocator.py).
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(4 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}
FORKING_ALONE = {
    # The folder that a command is called in may have a torch.py, or packages of our names.
    "PYTHONSAFEPATH": "1",
    # Arrow's library starts a thread of its own otherwise.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}
LIBRARY, PR_SET_PDEATHSIG = ctypes.CDLL(None), 1
FLAGS_FIELD, PF_EXITING = 6, 0x4
"""Of proc_pid_stat(5), counted from what follows the name, and of Linux's sched.h."""

_begun: list[LocalWorkers] = []
"""Whose variables the process was started with: they cannot be others afterwards."""


def variables(settings: LocalWorkers | CudaWorkers) -> dict[str, str]:
    """Variables of the environment that a worker is started with."""
    threads = str(settings.threads if isinstance(settings, LocalWorkers) else 1)
    return {**WORKER_MEMORY, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}


def begin(settings: Cluster) -> None:
    """Start the process that forks workers of this machine; does not wait until it is ready.

    Nothing happens where it is there already, or on another system than Linux: Apple's libraries
    promise nothing in a fork. Says so where it cannot be started.
    """
    if QUIET not in sys.warnoptions:
        sys.warnoptions.append(QUIET)  # which the tracker's process is started with
    if not isinstance(settings, LocalWorkers) or sys.platform != "linux" or _begun:
        return
    context = get_context(FORKING)
    context.set_forkserver_preload([*PRELOADED])
    with _environment(variables(settings) | FORKING_ALONE), _without_interrupts():
        try:
            forkserver.ensure_running()
        except OSError as error:  # no file can be made where it would listen, or no process
            announce(f"{SLOWER} ({error})")
            return
    _begun.append(settings)


def begin_if_new(study: Study) -> None:
    """Start that process before planning, for a study that the folder of its warehouse never had.

    Any other study may have nothing left to compute, and its plan says so. A warehouse on an object
    store is first asked where its failures are handled.
    """
    if study.cluster is None and NVIDIA_DRIVER.exists():
        return
    root = storage.resolved(study.warehouse)
    if (
        study.registry is None
        and isinstance(root, Path)
        and not (root / lock(study.study)).exists()
    ):
        # Workers of a study without `cluster:` mostly have one thread; planning says so later.
        begin(study.cluster or LocalWorkers())


def method(settings: LocalWorkers | CudaWorkers) -> str:
    """How Dask is to start such workers: FORKING if a fork has come and gone, else FRESH.

    Says so where there should be forks, and none comes within PATIENCE_SECONDS.
    """
    is_local = isinstance(settings, LocalWorkers)
    if not (is_local and _begun) or is_lost() or variables(_begun[0]) != variables(settings):
        return FRESH
    trial = get_context(FORKING).Process(target=os.getpid, daemon=True)

    def run() -> None:
        try:
            trial.start()
            trial.join()
        except (OSError, EOFError):  # it ended at its start
            return

    thread = threading.Thread(target=run, name="first fork", daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    if not thread.is_alive() and trial.exitcode == 0:
        return FORKING
    announce(f"{SLOWER} (the process that was to fork them does not)")
    return FRESH


def is_lost() -> bool:
    """Whether the process that forks was ended by something else, or is ending.

    Python would start another one, but without the variables of the first.
    """
    return bool(_begun) and _is_ending(forkserver._forkserver._forkserver_pid)


def _is_ending(process: int) -> bool:
    """Whether a process has ended or begun to: its files close before it counts as a zombie.

    Its workers are told to end, and what waits for them hears so, while Linux still takes it down.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    flags = fields.rpartition(")")[2].split()[FLAGS_FIELD]  # its name may have spaces
    return bool(int(flags) & PF_EXITING)


def _apart() -> None:
    """Give a fork what is its own: its end, garbage, random numbers, and that it heeds Ctrl-C."""
    if os.getppid() != _SERVER:  # a fork of a fork
        return
    # Nobody would know any more how it ends, and another worker would be started in its place.
    LIBRARY.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    gc.enable()
    np.random.seed()  # noqa: NPY002 - users' functions may draw from NumPy's global generator
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _freeze() -> None:
    """Spare a fork looking for garbage among what was imported before it."""
    if os.getpid() == _SERVER:
        gc.freeze()


if any("multiprocessing.forkserver" in word for word in sys.orig_argv):
    _SERVER = os.getpid()
    gc.disable()  # what is imported stays, and to look through it takes a fifth of the time
    os.register_at_fork(before=_freeze, after_in_child=_apart)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name)
            if name in before:
                os.environ[name] = before[name]


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start a process that Ctrl-C is not for: it would print where it was when that came."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
