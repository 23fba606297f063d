"""The Dask cluster of a study: processes on this machine, one per GPU, or one that runs already."""

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
"""Deaths of workers after which Dask gives up on what they held; it cannot tell what ended them."""
FILES, FILES_PER_WORKER = 48, 12
"""Files and connections that a flow has open: 42 with one worker, 72 with four, some to spare."""
Closable = TypeVar("Closable", Client, LocalCluster)


@contextmanager
def connect(
    settings: Cluster, code: UserCode | None = None, prints: Path | None = None
) -> Iterator[Client]:
    """Start or reach the cluster, wait for a worker, and close what was started.

    Every worker has the user's own code before it is given work; what workers that are started
    here print goes to the file ``prints``, which begins anew. Raises BadInput when the scheduler
    cannot be reached, has no worker, or the GPUs or the extra are missing, or a worker has not the
    code of a stranger that was planned with.
    """
    # Prefect turns every logger of the process to INFO: a hundred lines for a start and a stop.
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
    """Close a client or a cluster at the end; one that does not close in time is no failure.

    By then the work is committed, and workers end with the process that started them: where that is
    stopped, they are not waited for.
    """
    is_waited_for = True
    try:
        yield opened
    except BaseException as stop:  # KeyboardInterrupt, SystemExit, or Prefect's cancellation
        is_waited_for = isinstance(opened, Client) or isinstance(stop, Exception)
        raise
    finally:
        # What a loop says while it is ended, pages of it, is about workers that are slow, or a
        # scheduler that is lost.
        for name in ("tornado.application", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            if is_waited_for:
                opened.close()
        except TimeoutError:
            announce("workers are slow to end; what they did is committed")


@contextmanager
def _forward_warnings(client: Client) -> Iterator[None]:
    """Have what workers warn of logged here, too, where somebody keeps what is announced."""
    if not LOG.handlers:
        yield
        return
    client.forward_logging(level=logging.WARNING)
    yield
    # Of a scheduler that is lost, or of which another flow has ended: it forwards nothing any more.
    with suppress(OSError, ValueError):
        client.unforward_logging()


def _environment(settings: LocalWorkers | CudaWorkers) -> dict[str, Any]:
    return {
        METHOD: fork_server.start_method(settings),
        "distributed.worker.preload": [fork_server.PRELOADED],
        "distributed.nanny.pre-spawn-environ": fork_server.variables(settings),
        # With it the process that forks was started; the user's own processes are to be without.
        "distributed.nanny.environ": {"PYTHONSAFEPATH": ""},
        # Dask blames what waits on a worker that dies, too; which work ended it is noted.
        "distributed.scheduler.allowed-failures": PATIENCE,
        # What Dask's dashboard shows of its own processes, 5 % of a core that nobody looks at; of
        # what the flow's process does for eight workers, their monitors are an eighth.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "500ms",
        "distributed.admin.system-monitor.interval": "10s",
        # So long after a death the cluster closes the nanny if its worker is not there: also where
        # it has died again and is being replaced. Nobody would replace it any more, and a flow
        # without workers waits for ever.
        "distributed.deploy.lost-worker-timeout": "1000 days",
    }


def _start(settings: LocalWorkers | CudaWorkers) -> Any:
    if isinstance(settings, LocalWorkers):
        _require_files(FILES + FILES_PER_WORKER * settings.workers)
        # The memory limit is off: torch owns the memory, and a paused worker would only stall.
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
    """Start workers until ``count`` of them have the environment, and so the GPU, of each worker.

    dask-cuda starts one worker for each GPU; the further ones are copies of its specification.
    """
    for name, spec in list(cluster.worker_spec.items()):
        for number in range(1, count):
            cluster.worker_spec[f"{name}-{number}"] = spec
    cluster.scale(len(cluster.worker_spec))


def _require_files(needed: int) -> None:
    """Refuse to start where Dask would run out of open files: it says nothing, and waits."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= allowed < needed:  # -1: as many as it likes
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
            f"no scheduler with a worker at {settings.address} within {CONNECT_SECONDS} s "
            f"({error}); check 'cluster: address:' and start its workers"
        ) from error
    return client
