"""What scoring a row takes of the memory, told from forward passes of one row and of two."""

import weakref
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from decaf.foundation.arrays import Tensor
from decaf.models.card import Model
from decaf.scoring.scores.base import ScoreDefinition


class PassMemory(NamedTuple):
    """Bytes that a forward pass takes beside the model, its input among them."""

    fixed: int
    per_row: int

    def of(self, rows: int) -> int:
        """Bytes of a pass of so many rows."""
        return self.fixed + rows * self.per_row


class Alive(TorchDispatchMode):
    """Bytes of the tensors that operations made and that are alive yet, and the most there were.

    Scratch memory within an operation is not seen.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.most = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call an operation; what it makes is new unless it was given to any."""
        self._note([args, kwargs], is_new=False)
        made = function(*args, **kwargs or {})
        self._note(made, is_new=True)
        return made

    def _note(self, values: Any, is_new: bool) -> None:
        for value in tree_leaves(values):
            if isinstance(value, torch.Tensor):
                place = value.untyped_storage()
                if place._cdata not in self._known:
                    size = place.nbytes() if is_new else 0
                    self._known.add(place._cdata)
                    self.now += size
                    self.most = max(self.most, self.now)
                    weakref.finalize(place, self._freed, place._cdata, size)

    def _freed(self, place: int, size: int) -> None:
        self._known.discard(place)
        self.now -= size


def pass_memory(model: Model, score: ScoreDefinition, row: Tensor) -> PassMemory:
    """Memory of passes of any number of rows like the given one, (1, …), on the model's device.

    On a processor operations of torch are followed, on a GPU its allocator is asked.
    """
    one, two = (_most(model, score, row.repeat(rows, *[1] * (row.ndim - 1))) for rows in (1, 2))
    return PassMemory(max(2 * one - two, 0), two - one)


def _most(model: Model, score: ScoreDefinition, rows: Tensor) -> int:
    if rows.device.type == "cuda":
        before = torch.cuda.memory_allocated(rows.device)
        torch.cuda.reset_peak_memory_stats(rows.device)
        _pass(model, score, rows)
        return torch.cuda.max_memory_allocated(rows.device) - before + rows.nbytes
    with Alive() as alive:
        _pass(model, score, rows)
    return alive.most + rows.nbytes


def _pass(model: Model, score: ScoreDefinition, rows: Tensor) -> None:
    with torch.inference_mode():
        score.values(model.outputs(rows), model.output)
