"""What a worker process is: its device, and the models that it keeps in memory.

The flow knows these names too, and torch is not imported before it is needed: it never is there.
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
from decaf.models.precision import exact_float32
from tasks.cluster.worker_deaths import LimitedModel, limit_seconds


@dataclass(frozen=True)
class TaskModel:
    """Which model a worker is to have, and where."""

    card: ModelCard
    weights: str
    """Digest of the weights."""
    preprocessing: str
    """Digest of the preprocessing."""
    device: str
    columns: FrameSchema | None
    """What the values of the data's rows stand for, where they are of a table."""


class Loaded(NamedTuple):
    """A model that is ready."""

    model: Model
    load_seconds: float
    """0 when the worker held it."""


_held: list[tuple[TaskModel, Model]] = []


def loaded_model(task: TaskModel) -> Loaded:
    """The model of a task; the worker keeps it until another one is asked for.

    Raises ModelError when the model is not the one that was planned any more.
    """
    exact_float32()
    _held[:] = [held for held in _held if held[0] == task]
    for held, model in _held:
        if held == task:
            return Loaded(model, 0.0)
    started = time.perf_counter()
    with limit_seconds(task.card.timeout):
        loaded = task.card.load_for(choose_device(task.device), task.columns)
        model = LimitedModel(loaded, task.card.timeout)
    # Asked after loading: what changed before or meanwhile is noticed.
    if task.card.weights_digest() != task.weights:
        raise ModelError(
            f"model {task.card.id} moved while it was being audited: what was loaded is not what "
            "was planned; run the same command again"
        )
    _held.append((task, model))
    return Loaded(model, time.perf_counter() - started)


def choose_device(wanted: str) -> str:
    """Device of this worker: `auto` is the GPU where there is one.

    Raises BadInput when a GPU is asked for and there is none.
    """
    import torch

    has_gpu = torch.cuda.is_available()
    if wanted == "cuda" and not has_gpu:
        raise BadInput(
            f"device 'cuda' is asked for, but a worker on {socket.gethostname()} sees no GPU; set "
            "'device: auto', or repair the driver"
        )
    return "cuda" if has_gpu and wanted != "cpu" else "cpu"


def has_gpu(task: TaskModel) -> bool:
    """Whether the model of a task runs on a GPU of this worker.

    Raises BadInput when a GPU is asked for and there is none.
    """
    return choose_device(task.device) == "cuda"


def watch_memory(device: Device) -> None:
    """Begin to watch the peak of a GPU's memory."""
    import torch

    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def held_memory(device: Device) -> int:
    """Bytes that are allocated on a GPU, or the RSS of this process."""
    import torch

    if device.type == "cuda":
        return torch.cuda.memory_allocated(device)
    return psutil.Process().memory_info().rss


def peak_memory(device: Device) -> int:
    """Peak allocation on a GPU since it is watched, or the peak RSS of this process; bytes."""
    import torch

    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def device_name(device: Device) -> str:
    """Name of the GPU, or the processor and the threads that torch uses of it."""
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"cpu {platform.machine()}, {torch.get_num_threads()} threads"


def worker_name() -> str:
    """Host and process."""
    return f"{socket.gethostname()}:{os.getpid()}"
