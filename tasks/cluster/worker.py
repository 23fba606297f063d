"""State of a worker process: its device, and the model that it keeps in memory.

The flow imports this module, too, so functions import torch only when they need it.
"""

import os
import platform
import resource
import socket
import time
from dataclasses import dataclass
from typing import NamedTuple

import psutil

from decaf.data.frames import FrameSchema
from decaf.errors import BadInput, ModelError
from decaf.foundation.arrays import Device
from decaf.models.card import Model, ModelCard
from decaf.models.precision import disable_tf32
from tasks.cluster.worker_deaths import LimitedModel, limit_seconds


@dataclass(frozen=True)
class TaskModel:
    """Model of a task, with its digests and its device."""

    card: ModelCard
    weights: str
    """Digest of the weights."""
    preprocessing: str
    """Digest of the preprocessing."""
    device: str
    columns: FrameSchema | None
    """Columns of the data's table; None for other data."""


class LoadedModel(NamedTuple):
    """A loaded model."""

    model: Model
    load_seconds: float
    """Seconds to load the model; 0 if the worker still had it."""


_held: list[tuple[TaskModel, Model]] = []
"""Model that this worker keeps in memory; empty before its first task."""


def load_model(task: TaskModel) -> LoadedModel:
    """Load the model of a task, or return it if the worker still has it.

    The worker keeps the model until a task needs another one. Raises ModelError if the weights
    changed after planning.
    """
    disable_tf32()
    _held[:] = [held for held in _held if held[0] == task]
    if _held:
        return LoadedModel(_held[0][1], 0.0)
    started = time.perf_counter()
    with limit_seconds(task.card.timeout):
        loaded = task.card.load_for(choose_device(task.device), task.columns)
        model = LimitedModel(loaded, task.card.timeout)
    # Checked after loading, to notice changes before and during it.
    if task.card.weights_digest() != task.weights:
        raise ModelError(
            f"model {task.card.id} changed during the audit: the loaded weights differ from the "
            "planned ones; run the same command again"
        )
    _held.append((task, model))
    return LoadedModel(model, time.perf_counter() - started)


def choose_device(device: str) -> str:
    """Choose the device of this worker; `auto` is the GPU if there is one.

    Raises BadInput for `cuda` without a GPU.
    """
    import torch

    sees_gpu = torch.cuda.is_available()
    if device == "cuda" and not sees_gpu:
        raise BadInput(
            f"device 'cuda' is requested, but a worker on {socket.gethostname()} sees no GPU; set "
            "'device: auto', or repair the driver"
        )
    return "cuda" if sees_gpu and device != "cpu" else "cpu"


def has_gpu(task: TaskModel) -> bool:
    """True if the model of a task runs on a GPU of this worker.

    Raises BadInput for `cuda` without a GPU.
    """
    return choose_device(task.device) == "cuda"


def reset_peak_memory(device: Device) -> None:
    """Reset the peak of a GPU's memory."""
    import torch

    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def held_memory(device: Device) -> int:
    """Allocated bytes on a GPU, or the RSS of this process."""
    import torch

    if device.type == "cuda":
        return torch.cuda.memory_allocated(device)
    return psutil.Process().memory_info().rss


def peak_memory(device: Device) -> int:
    """Peak bytes on a GPU since :func:`reset_peak_memory`, or the peak RSS of this process."""
    import torch

    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def device_name(device: Device) -> str:
    """Name of the GPU, or the processor with torch's number of threads."""
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"cpu {platform.machine()}, {torch.get_num_threads()} threads"


def worker_name() -> str:
    """Name of the host and id of the process."""
    return f"{socket.gethostname()}:{os.getpid()}"
