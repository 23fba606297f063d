"""Start or reach the Dask cluster of a study: local processes, GPU workers, or a scheduler."""

import logging
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import dask
from distributed import Client, LocalCluster, SpecCluster

from decaf.errors import BadInput
from decaf.foundation.extras import optional
from decaf.plan.cluster import Cluster, CudaWorkers, LocalWorkers, SchedulerAddress
from tasks.cluster import fork_server
from tasks.cluster.nanny import METHOD, PatientNanny
from tasks.cluster.prints import Prints
from tasks.cluster.user_code import UserCode, give
from tasks.progress import LOG, announce

CONNECT_SECONDS = 30
PATIENCE = 100
"""Deaths of workers after which Dask fails their tasks; it does not know which task ended them."""
FILES, FILES_PER_WORKER = 48, 12
"""Open files and connections of a flow: 42 with one worker, 72 with four, and a reserve."""
Closable = TypeVar("Closable", Client, LocalCluster)


@contextmanager
def connect(
    settings: Cluster, code: UserCode | None = None, prints: Path | None = None
) -> Iterator[Client]:
    """Start or reach the cluster, wait for a worker, and close the started processes at the end.

    Every worker gets the user's code before its first task. Workers that are started here write
    their output to the file ``prints``, which is emptied first. Raises BadInput if the scheduler
    cannot be reached or has no worker, if GPUs or the extra are missing, or if a worker has other
    code of the user than the plan.
    """
    # Prefect sets every logger to INFO, which would print a hundred lines for a start and a stop.
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if isinstance(settings, SchedulerAddress):
        with close_at_end(_reach(settings)) as client, _forward_warnings(client):
            give(client, code)
            yield client
        return
    announce("starting workers")
    fork_server.begin(settings)
    scratch = tempfile.gettempdir()
    with (
        dask.config.set({"temporary_directory": scratch, **_environment(settings)}),
        close_at_end(_start(settings)) as cluster,
        close_at_end(Client(cluster, set_as_default=False)) as client,
        _forward_warnings(client),
    ):
        if prints is not None:
            client.register_plugin(Prints(prints))
        give(client, code)
        yield client


@contextmanager
def close_at_end(opened: Closable) -> Iterator[Closable]:
    """Close a client or a cluster at the end; a timeout is not an error.

    All work is committed by then, and workers end with the process that started them. If this
    process is stopped, it does not wait for its workers.
    """
    is_waited_for = True
    try:
        yield opened
    except BaseException as stop:  # KeyboardInterrupt, SystemExit, or Prefect's cancellation
        is_waited_for = isinstance(opened, Client) or isinstance(stop, Exception)
        raise
    finally:
        # While they end, loops log pages about slow workers or a lost scheduler.
        for name in ("tornado.application", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            if is_waited_for:
                opened.close()
        except TimeoutError:
            announce("workers end slowly; their results are committed")


@contextmanager
def _forward_warnings(client: Client) -> Iterator[None]:
    """Log warnings of workers in this process, too, if the announcements have a handler."""
    if not LOG.handlers:
        yield
        return
    client.forward_logging(level=logging.WARNING)
    yield
    # A lost scheduler, or one without the other flow's logging, raises these.
    with suppress(OSError, ValueError):
        client.unforward_logging()


def _environment(settings: LocalWorkers | CudaWorkers) -> dict[str, Any]:
    return {
        METHOD: fork_server.start_method(settings),
        "distributed.worker.preload": [fork_server.PRELOADED],
        "distributed.nanny.pre-spawn-environ": fork_server.variables(settings),
        # The fork server needs this variable; the user's own processes must not have it.
        "distributed.nanny.environ": {"PYTHONSAFEPATH": ""},
        # Dask also counts deaths for tasks that only wait on the worker; notes tell them apart.
        "distributed.scheduler.allowed-failures": PATIENCE,
        # Profiles and monitors for Dask's dashboard take 5 % of a core on a worker, and an eighth
        # of the flow's time for eight workers.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "500ms",
        "distributed.admin.system-monitor.interval": "10s",
        # After this time without a worker, the cluster closes its nanny, even while the nanny
        # replaces a worker that died again. Without a nanny, the flow would wait forever.
        "distributed.deploy.lost-worker-timeout": "1000 days",
    }


def _start(settings: LocalWorkers | CudaWorkers) -> Any:
    if isinstance(settings, LocalWorkers):
        _require_files(FILES + FILES_PER_WORKER * settings.workers)
        # Without a memory limit: torch owns the memory, and Dask would only pause the worker.
        return LocalCluster(
            n_workers=settings.workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
            worker_class=PatientNanny,
        )
    with optional():
        from dask_cuda import LocalCUDACluster
    try:
        cluster = LocalCUDACluster(
            threads_per_worker=1, device_memory_limit=None, memory_limit=0, silence_logs=50
        )
    except Exception as error:  # noqa: BLE001 - NVML raises its own types, one per driver problem
        raise BadInput(
            f"cluster kind 'cuda' found no usable GPU ({type(error).__name__}: {error}); use kind "
            "'local', or repair the driver"
        ) from error
    share_devices(cluster, settings.workers_per_gpu)
    return cluster


def share_devices(cluster: SpecCluster, count: int) -> None:
    """Start workers until ``count`` of them share each GPU.

    dask-cuda starts one worker for each GPU; the others are copies with the same environment.
    """
    for name, spec in list(cluster.worker_spec.items()):
        for number in range(1, count):
            cluster.worker_spec[f"{name}-{number}"] = spec
    cluster.scale(len(cluster.worker_spec))


def _require_files(needed: int) -> None:
    """Raise BadInput if Dask would run out of open files, in which case it hangs silently."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= allowed < needed:  # -1 means no limit
        raise BadInput(
            f"this process may open {allowed} files, and its workers need {needed}: raise the "
            f"limit with ulimit -n {needed}, or start fewer with 'cluster: workers:'"
        )


def _reach(settings: SchedulerAddress) -> Client:
    try:
        client = Client(settings.address, set_as_default=False, timeout=CONNECT_SECONDS)
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise BadInput(
            f"found no scheduler with a worker at {settings.address} in {CONNECT_SECONDS} s "
            f"({error}); check 'cluster: address:' and start its workers"
        ) from error
    return client
