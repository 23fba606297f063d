"""Estimate the memory of a worker that scores a block, before scoring begins."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_columns import NOWHERE
from decaf.data.pairs import PairSet
from decaf.plan.cluster import Cluster, LocalWorkers
from decaf.plan.study import Study

FLOAT = 4
"""Bytes of a value of an image as models take it."""


class Footprint(NamedTuple):
    """Memory of a model on a worker, measured by its trial, in bytes."""

    model_id: str
    is_on_gpu: bool
    """True for memory of the GPU, False for memory of the process."""
    held: int
    """Memory with the loaded model, before its first input."""
    peak: int
    """Peak memory until then."""
    per_row: int
    """Bytes for each row of a forward pass, including the state itself."""
    per_input: int
    """Bytes for each clean input of a block, as stored and as models take it."""
    per_conversion: int
    """Bytes for each clean input while it is converted for models."""
    per_locked: int
    """Bytes for each clean input in locked memory of a GPU's host; 0 without a GPU."""
    rows: int
    """Rows of the largest batch."""


class Need(NamedTuple):
    """Peak memory of a worker by purpose, in bytes."""

    model_id: str
    is_on_gpu: bool
    rows: int
    """Rows of the largest batch."""
    held: int
    inputs: int
    batch: int
    total: int
    per_row: int
    locked: int
    """Locked memory of a GPU's host, for inputs of a block."""


def needs(study: Study, pairs: PairSet, footprints: Iterable[Footprint]) -> Iterator[Need]:
    """Memory that scoring the block with most pairs needs, for each model."""
    block_inputs, _ = largest_block(study, pairs)
    for footprint in footprints:
        inputs = len(block_inputs) * footprint.per_input
        batch = footprint.rows * footprint.per_row
        total = footprint.held + inputs + max(batch, len(block_inputs) * footprint.per_conversion)
        total = max(total, footprint.peak)
        yield Need(
            *(
                footprint.model_id,
                footprint.is_on_gpu,
                footprint.rows,
                footprint.held,
                inputs,
                batch,
                total,
                footprint.per_row,
            ),
            locked=len(block_inputs) * footprint.per_locked,
        )


def largest_block(study: Study, pairs: PairSet) -> tuple[NDArray[np.int64], int]:
    """Positions of the inputs of the block with most pairs, and the most states it can have."""
    block = max(study.blocks(pairs), key=len)
    used = pairs.pairs.positions(block)
    positions = np.unique(used[used != NOWHERE])
    state_count = len(positions) + sum(
        2 * path.repetitions * path.grid(study.grid).size * len(block)
        for path in study.paths.values()
    )
    return positions, state_count


def fitting_rows(need: Need, cluster: Cluster, free: int) -> int | None:
    """Rows of a batch that fit the free memory on all local workers at once; 0 if none fit.

    None if the batches fit, or if the workers use GPUs or run elsewhere.
    """
    if need.is_on_gpu or not isinstance(cluster, LocalWorkers):
        return None
    spare = free // cluster.workers - need.total
    return None if spare >= 0 else max(need.rows + spare // max(need.per_row, 1), 0)
