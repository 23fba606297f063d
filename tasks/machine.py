"""Resources of this machine that the process may use: cores, memory, GPUs."""

import os
from importlib.util import find_spec
from pathlib import Path

import psutil

from decaf.plan.cluster import Machine

CGROUPS = Path("/sys/fs/cgroup")
NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")


def read_machine() -> Machine:
    """Resources at this moment; imports torch only if a GPU driver is installed."""
    return Machine(
        cores=max(int(usable_cores()), 1),
        free_bytes=free_memory(),
        gpu_count=count_gpus(),
        has_dask_cuda=find_spec("dask_cuda") is not None,
    )


def usable_cores() -> float:
    """Cores that this process may use, by affinity and by the quota of its control groups."""
    cores = float(len(os.sched_getaffinity(0)))
    for folder in control_groups():
        quota, _, period = text_of(folder / "cpu.max").partition(" ")
        if quota.isdigit():
            cores = min(cores, int(quota) / int(period))
    return cores


def count_gpus() -> int:
    """GPUs that torch sees; 0 without a driver."""
    if not NVIDIA_DRIVER.exists():
        return 0
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def free_memory() -> int:
    """Free bytes of this machine or of this container, whichever has less."""
    free = psutil.virtual_memory().available
    for folder in control_groups():
        limit, used = text_of(folder / "memory.max"), text_of(folder / "memory.current")
        if limit.isdigit() and used.isdigit():
            free = min(free, int(limit) - int(used))
    return free


def control_groups() -> list[Path]:
    """Folders of the control groups of this process and their parents; empty without version 2."""
    group = text_of(Path("/proc/self/cgroup")).rpartition("0::/")[2]
    path = Path(group)
    return [CGROUPS / part for part in (path, *path.parents)]


def text_of(path: Path) -> str:
    """Text of a file without surrounding space; empty if the file cannot be read."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""
