"""Start the fork server, from which Dask forks the workers of this machine.

Importing torch and the rest takes seconds of a core. The standard library's fork server imports
once (:mod:`tasks.cluster.preloaded`), while the flow still starts; a fork is ready at once. The
server has one thread and no context of CUDA, which no fork could use; a fork that needs a GPU makes
its own.
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
"""When a command is stopped, Python's tracker frees its semaphores, and would warn about them."""
WORKER_MEMORY = {
    # glibc gives freed activations back to the kernel, which faults them in again at the next
    # layer; a worker that keeps them does about twice the rows per second on a CPU. One arena,
    # since a task runs in a thread and the arenas of threads ignore the other three.
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(4 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}
SERVER_VARIABLES = {
    # The folder that a command is called in may have a torch.py, or packages of our names.
    "PYTHONSAFEPATH": "1",
    # Arrow's library starts a thread of its own otherwise.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}

_begun: list[dict[str, str]] = []
"""Variables of the fork server, and so of its forks; empty before it is started."""
_libraries: list[str] = []
"""Modules that the fork server imports for the models of the study."""
_environment_lock = threading.Lock()
"""Nannies start workers in threads, and the environment is the whole process's."""


def variables(settings: LocalWorkers | CudaWorkers) -> dict[str, str]:
    """Variables of the environment that a worker is started with."""
    threads = str(settings.threads if isinstance(settings, LocalWorkers) else 1)
    return {**WORKER_MEMORY, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}


def begin(settings: Cluster, cards: Sequence[ModelCard] = ()) -> None:
    """Start the fork server unless it runs; does not wait for its imports.

    It imports the libraries of the models, too, so that no worker imports them again.

    Nothing happens for workers elsewhere, and on systems other than Linux, whose libraries promise
    nothing in a fork. Prints a message where the server cannot be started.
    """
    if QUIET not in sys.warnoptions:
        sys.warnoptions.append(QUIET)  # which the tracker's process is started with
    if _begun or not isinstance(settings, LocalWorkers) or sys.platform != "linux":
        return
    _begun.append(variables(settings))
    _libraries[:] = dict.fromkeys(name for card in cards for name in card.libraries)
    try:
        _ensure_running()
    except OSError as error:  # no file can be made where it would listen, or no process
        _begun.clear()
        announce(f"{SLOWER} ({error})")


def begin_if_new(study: Study) -> None:
    """Start the fork server before planning, for a study that its warehouse has never had.

    Any other study may have nothing left to compute, and its plan says so. A warehouse on an object
    store is first asked where its failures are handled.
    """
    if study.cluster is None and NVIDIA_DRIVER.exists():
        return
    folder = storage.open(study.warehouse).folder
    if study.registry is None and folder is not None and not (folder / lock(study.study)).exists():
        # Workers of a study without `cluster:` mostly have one thread; planning says so later.
        begin(study.cluster or LocalWorkers(), study.models)


def start_method(settings: LocalWorkers | CudaWorkers) -> str:
    """FORKING for workers with the variables of the fork server, FRESH for any others."""
    is_forked = isinstance(settings, LocalWorkers) and _begun == [variables(settings)]
    return FORKING if is_forked else FRESH


def is_forking() -> bool:
    """Wait for a fork of the server; False, with a message, if none comes in ATTEMPTS.

    Python starts another server for one that was killed, but not before Linux has taken the first
    one down: until then forks fail.
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
    announce(f"{SLOWER} (the process that forks them does not)")
    return False


def _ensure_running() -> None:
    """Start the fork server if none runs, with what it imports and the variables of its forks.

    Ctrl-C is blocked for it: an interrupted import would print a traceback.
    """
    # Dask sets a list of its own.
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
