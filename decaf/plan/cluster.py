"""Settings of the workers of a study."""

from math import ceil
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from decaf.errors import number_of
from decaf.foundation.settings import Settings


class LocalWorkers(Settings):
    """Worker processes on this machine."""

    kind: Literal["local"] = "local"
    workers: int = Field(2, gt=0, le=4096, description="worker processes")
    threads: int = Field(1, gt=0, le=1024, description="torch threads of each worker")


class CudaWorkers(Settings):
    """Worker processes for each GPU of this machine (extra `cuda`)."""

    kind: Literal["cuda"]
    workers_per_gpu: int = Field(1, gt=0, le=16, description="worker processes that share a GPU")


class SchedulerAddress(Settings):
    """A Dask scheduler that is already running (SLURM, Kubernetes, …)."""

    kind: Literal["address"]
    address: str = Field(description="`tcp://host:port` of the scheduler")


Cluster = Annotated[LocalWorkers | CudaWorkers | SchedulerAddress, Field(discriminator="kind")]

WORKER_BYTES = 600 * 2**20
"""Memory of a worker process that holds no model."""
SOURCES_PER_WORKER = 4
"""Sources that a worker scores at least with a model that may be slow."""
ROWS_PER_WORKER = 2_000
"""Sources that a worker scores at least where all models are fitted estimators of a table."""


class Machine(NamedTuple):
    """Resources of this machine that the process may use."""

    cores: int
    """Cores by affinity and by the limits of control groups, at least 1."""
    free_bytes: int
    gpu_count: int
    """GPUs that torch sees."""
    has_dask_cuda: bool


class Demand(NamedTuple):
    """Resources that the models of a study need."""

    source_count: int
    model_count: int
    model_bytes: int
    """Bytes of the largest model, as far as its files say."""
    is_slow: bool
    """True if a model is a network, a function or an endpoint; False for estimators of tables."""
    uses_gpu: bool
    """True if a model is a network, which a GPU may score."""


def choose_cluster(machine: Machine, demand: Demand) -> tuple[LocalWorkers | CudaWorkers, str]:
    """Choose workers and threads for a study without `cluster:`, and say why.

    Every GPU gets one worker. On processors, workers are as many as the cores, unless
    memory with the model in each, or the number of sources, allows fewer; the workers then share
    all cores as threads of torch. So tables and small networks get processes, and one large network
    on few pairs gets threads. A small table gets few workers of one thread.
    """
    if demand.uses_gpu and machine.gpu_count and machine.has_dask_cuda:
        return CudaWorkers(kind="cuda"), number_of(machine.gpu_count, "GPU")
    if demand.uses_gpu and machine.gpu_count:
        threads = machine.cores
        reason = "torch sees a GPU; the extra 'cuda' would use workers for each GPU"
        return LocalWorkers(workers=1, threads=threads), reason
    by_memory = machine.free_bytes // (WORKER_BYTES + 3 * demand.model_bytes)
    least = SOURCES_PER_WORKER if demand.is_slow else ROWS_PER_WORKER
    by_work = ceil(demand.source_count * max(demand.model_count, 1) / least)
    limits = {
        f"{machine.cores} cores": machine.cores,
        "the free memory, with a model in each worker": max(int(by_memory), 1),
        f"{demand.source_count} sources": max(by_work, 1),
    }
    reason = min(limits, key=lambda limit: limits[limit])
    workers = limits[reason]
    is_small_table = not demand.is_slow and workers == by_work
    threads = 1 if is_small_table else machine.cores // workers
    return LocalWorkers(workers=workers, threads=threads), f"bounded by {reason}"


def describe_cluster(cluster: Cluster) -> str:
    """Describe the workers of a study in a few words."""
    if isinstance(cluster, LocalWorkers):
        return f"{cluster.workers} with {number_of(cluster.threads, 'thread')} each"
    if isinstance(cluster, CudaWorkers):
        return f"{cluster.workers_per_gpu} for each GPU"
    return f"workers of the scheduler at {cluster.address}"
