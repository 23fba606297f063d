"""What a worker takes of the memory while it scores a block, told before anything is scored."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_columns import NOWHERE
from decaf.data.pairs import PairSet
from decaf.plan.cluster import LocalWorkers
from decaf.plan.study import Study

FLOAT = 4
"""Bytes of a value of an image as models take it."""


class Footprint(NamedTuple):
    """Bytes that a model takes on a worker, as it was tried."""

    model_id: str
    is_on_gpu: bool
    """Whether they are of the GPU's memory, else of the process."""
    held: int
    """With the model loaded, before it is given anything."""
    peak: int
    """Most that there were until then."""
    per_row: int
    """Of each row of a forward pass, the state itself among them."""
    per_input: int
    """Of each clean input of a block, as it is stored and as models take it."""
    per_conversion: int
    """Of each, while it becomes what models take."""
    per_locked: int
    """Of each on the host of a GPU, which copies it from there; 0 where there is none."""
    rows: int
    """Of the largest batch."""


class Need(NamedTuple):
    """Bytes of a worker's memory at its peak, and what they are for."""

    model_id: str
    is_on_gpu: bool
    rows: int
    """Of the largest batch."""
    held: int
    inputs: int
    batch: int
    total: int
    per_row: int
    locked: int
    """Of the host of a GPU: inputs of a block."""


def needs(study: Study, pairs: PairSet, footprints: Iterable[Footprint]) -> Iterator[Need]:
    """What scoring the largest block takes with each model.

    The block is the one with most pairs.
    """
    given, _ = largest_block(study, pairs)
    for one in footprints:
        inputs = len(given) * one.per_input
        batch = one.rows * one.per_row
        total = one.held + inputs + max(batch, len(given) * one.per_conversion)
        total = max(total, one.peak)
        yield Need(
            *(one.model_id, one.is_on_gpu, one.rows, one.held, inputs, batch, total, one.per_row),
            locked=len(given) * one.per_locked,
        )


def largest_block(study: Study, pairs: PairSet) -> tuple[NDArray[np.int64], int]:
    """Positions of the inputs of the block with most pairs, and states where none are shared."""
    block = max(study.blocks(pairs), key=len)
    used = pairs.pairs.positions(block)
    positions = np.unique(used[used != NOWHERE])
    state_count = len(positions) + sum(
        2 * path.repetitions * path.grid(study.grid).size * len(block)
        for path in study.paths.values()
    )
    return positions, state_count


def fitting_rows(need: Need, study: Study, free: int) -> int | None:
    """Rows of a batch that the local workers of a study have room for together.

    None where those of the study fit, or where memory is of GPUs or elsewhere; 0 where none do.
    """
    if need.is_on_gpu or not isinstance(study.cluster, LocalWorkers):
        return None
    spare = free // study.cluster.workers - need.total
    return None if spare >= 0 else max(need.rows + spare // max(need.per_row, 1), 0)
