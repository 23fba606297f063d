"""Memory that scoring a row takes, measured by a forward pass of a few rows."""

import ctypes
import re
import weakref
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from decaf.foundation.arrays import Tensor
from decaf.models.card import Model
from decaf.scoring.scores.base import ScoreDefinition

ROWS = 8
"""Rows of a measured pass; with one or two rows, the constant part dominates."""
PROCESS = Path("/proc/self")


class Alive(TorchDispatchMode):
    """Bytes of the tensors that operations made and that are still alive, and their peak.

    Does not include scratch memory within an operation.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.most = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call an operation; its results are new unless an operation received them."""
        self._note([args, kwargs], is_new=False)
        results = function(*args, **kwargs or {})
        self._note(results, is_new=True)
        return results

    def _note(self, values: Any, is_new: bool) -> None:
        for value in tree_leaves(values):
            if isinstance(value, torch.Tensor):
                place = value.untyped_storage()
                if place._cdata not in self._known:
                    size = place.nbytes() if is_new else 0
                    self._known.add(place._cdata)
                    self.now += size
                    self.most = max(self.most, self.now)
                    weakref.finalize(place, self._release, place._cdata, size)

    def _release(self, place: int, size: int) -> None:
        self._known.discard(place)
        self.now -= size


def bytes_per_row(model: Model, score: ScoreDefinition, row: Tensor) -> int:
    """Measure the memory that a row of a forward pass takes, including its input.

    The row is (1, …), on the model's device; the pass has ``ROWS`` copies of it. On a GPU, torch's
    allocator reports the peak. On a CPU, the peak memory of the process counts, with scratch memory
    and gaps in the heap. If Linux does not allow a reset of that peak, only tensors count.
    """
    rows = row.repeat(ROWS, *[1] * (row.ndim - 1))
    if rows.device.type == "cuda":
        before = torch.cuda.memory_allocated(rows.device)
        torch.cuda.reset_peak_memory_stats(rows.device)
        _pass(model, score, rows)
        pass_bytes = torch.cuda.max_memory_allocated(rows.device) - before
    elif _forgets_peak():
        before = _status("VmRSS")
        _pass(model, score, rows)
        pass_bytes = _status("VmHWM") - before
    else:
        with Alive() as alive:
            _pass(model, score, rows)
        pass_bytes = alive.most
    return (pass_bytes + rows.nbytes) // ROWS


def _pass(model: Model, score: ScoreDefinition, rows: Tensor) -> None:
    with torch.inference_mode():
        score.values(model.outputs(rows), model.output)


def _forgets_peak() -> bool:
    """Return free memory and reset the peak of this process, if Linux allows it."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        (PROCESS / "clear_refs").write_text("5")
    except (OSError, AttributeError):
        return False
    return True


def _status(name: str) -> int:
    """Bytes of a line of the status of this process."""
    match = re.search(rf"^{name}:\s+(\d+) kB$", (PROCESS / "status").read_text(), re.MULTILINE)
    return 1024 * int(match[1]) if match else 0
