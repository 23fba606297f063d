"""Start the fork server, from which Dask forks the workers of this machine.

Importing torch and other libraries takes seconds of a core. The standard library's fork server
imports them once (:mod:`tasks.cluster.preloaded`), while the flow still starts; a fork is ready at
once. The server has one thread and no CUDA context, which forks could not use; a fork on a GPU
makes its own context.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, get_context

from decaf.models.card import ModelCard
from decaf.plan.cluster import Cluster, CudaWorkers, LocalWorkers
from decaf.plan.study import Study
from tasks.machine import NVIDIA_DRIVER
from tasks.progress import announce
from warehouse import storage
from warehouse.commits.layout import lock

FORKING, FRESH = "forkserver", "spawn"
"""Python's names of the two ways to start a process."""
PRELOADED, UNCOLLECTED = "tasks.cluster.preloaded", "tasks.cluster.uncollected"
ATTEMPTS, PAUSE_SECONDS = 20, 0.5
SLOWER = "workers start more slowly: each imports torch for itself"
QUIET = "ignore::UserWarning:multiprocessing.resource_tracker"
"""Filter of the warnings of Python's tracker, which frees the semaphores of a stopped command."""
WORKER_MEMORY = {
    # glibc gives freed activations back to the kernel, which faults them in again at the next
    # layer; a worker that keeps them does about twice the rows per second on a CPU. One arena,
    # since a task runs in a thread, and arenas of threads ignore the other settings.
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(4 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}
SERVER_VARIABLES = {
    # The current directory may have a torch.py, or packages with decaf's names.
    "PYTHONSAFEPATH": "1",
    # Without this, Arrow's library starts a thread.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}

_begun: list[dict[str, str]] = []
"""Variables of the fork server and of its forks; empty before its start."""
_libraries: list[str] = []
"""Modules that the fork server imports for the models of the study."""
_environment_lock = threading.Lock()
"""Lock of the process's environment, since nannies start workers in threads."""


def variables(settings: LocalWorkers | CudaWorkers) -> dict[str, str]:
    """Environment variables of a worker process."""
    threads = str(settings.threads if isinstance(settings, LocalWorkers) else 1)
    return {**WORKER_MEMORY, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}


def begin(settings: Cluster, cards: Sequence[ModelCard] = ()) -> None:
    """Start the fork server unless it runs; does not wait for its imports.

    It also imports the libraries of the models, so that workers do not import them again.

    Does nothing for workers on other machines, and on systems other than Linux, whose libraries may
    break in a fork. Announces if the server cannot be started.
    """
    if QUIET not in sys.warnoptions:
        sys.warnoptions.append(QUIET)  # the tracker's process inherits it
    if _begun or not isinstance(settings, LocalWorkers) or sys.platform != "linux":
        return
    _begun.append(variables(settings))
    _libraries[:] = dict.fromkeys(name for card in cards for name in card.libraries)
    try:
        _ensure_running()
    except OSError as error:  # its socket or its process cannot be made
        _begun.clear()
        announce(f"{SLOWER} ({error})")


def begin_early(study: Study) -> None:
    """Start the fork server before planning, for a study that is new in its warehouse.

    Other studies may be complete, which only their plan shows. For a warehouse on an object store
    nothing is started here, since errors of the store are handled later.
    """
    if study.cluster is None and NVIDIA_DRIVER.exists():
        return
    folder = storage.open(study.warehouse).folder
    if study.registry is None and folder is not None and not (folder / lock(study.study)).exists():
        # Workers of a study without `cluster:` mostly have one thread; the plan decides it later.
        begin(study.cluster or LocalWorkers(), study.models)


def start_method(settings: LocalWorkers | CudaWorkers) -> str:
    """FORKING for workers with the variables of the fork server, FRESH for others."""
    is_forked = isinstance(settings, LocalWorkers) and _begun == [variables(settings)]
    return FORKING if is_forked else FRESH


def is_forking() -> bool:
    """Wait for a fork of the server; after ATTEMPTS without one, announce that and return False.

    If the server was killed, Python starts another one, but forks fail until Linux has removed the
    killed process.
    """
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE_SECONDS * (attempt > 0))
        fork = get_context(FORKING).Process(target=os.getpid, daemon=True)
        with suppress(OSError, EOFError):
            _ensure_running()
            fork.start()
            fork.join()
            if fork.exitcode == 0:
                return True
    announce(f"{SLOWER} (the fork server does not answer)")
    return False


def _ensure_running() -> None:
    """Start the fork server if none runs, with its imports and the variables of its forks.

    Ctrl-C is blocked in it, since an interrupted import would print a traceback.
    """
    # Dask sets another list.
    get_context(FORKING).set_forkserver_preload([UNCOLLECTED, *_libraries, PRELOADED])
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _environment_lock, _environment(_begun[0] | SERVER_VARIABLES):
            forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]
