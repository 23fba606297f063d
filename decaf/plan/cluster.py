"""Where the work of a study runs."""

from typing import Annotated, Literal

from pydantic import Field

from decaf.foundation.settings import Settings


class LocalWorkers(Settings):
    """Worker processes on this machine."""

    kind: Literal["local"] = "local"
    workers: int = Field(2, gt=0, le=4096, description="worker processes")
    threads: int = Field(1, gt=0, le=1024, description="torch threads of each worker")


class CudaWorkers(Settings):
    """One worker process for each GPU of this machine (extra `cuda`)."""

    kind: Literal["cuda"]


class SchedulerAddress(Settings):
    """A Dask scheduler that is already running (SLURM, Kubernetes, …)."""

    kind: Literal["address"]
    address: str = Field(description="`tcp://host:port` of the scheduler")


Cluster = Annotated[LocalWorkers | CudaWorkers | SchedulerAddress, Field(discriminator="kind")]
