"""Count the forward rows of a plan before anything is scored."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import READERS, ReadMany, channels_first, input_file, inputs_at
from decaf.data.pairs import Input, InputSet
from decaf.scoring.planner import plan_states
from tasks.plan import AuditPlan
from tasks.units.fit import fitted_paths


class RowCount(NamedTuple):
    """Forward rows of one model over all pairs: distinct states, and every stage and branch."""

    planned: int
    naive: int


def count_rows(plan: AuditPlan) -> RowCount:
    """Count the states of every block exactly; reads inputs that no run has stored yet.

    Raises DataError when inputs cannot be paired or read.
    """
    study, pairs = plan.given, plan.pairs
    paths = fitted_paths(study, pairs.input_set.digest)
    if not all(input_file(study.workspace, one).exists() for one in pairs.stored_sets):
        study.data.verify(pairs)
    planned = naive = 0
    with ThreadPoolExecutor(READERS) as pool:
        blocks = study.blocks(pairs)
        for rows in (part for block in blocks for part in pairs.parts(block)):
            block = pairs.block(rows)
            read = partial(_read, pool, study.workspace)
            inputs = read(
                pairs.input_set,
                block.input_positions,
                block.shape,
                study.data.read_input,
                study.data.read_inputs,
            )
            if pairs.masks:
                places = block.mask_positions, block.mask_shape
                regions = read(pairs.mask_set, *places, study.data.read_mask)
                block = replace(block, regions=regions)
            states = plan_states(block, channels_first(inputs), paths, study.grid)
            planned += states.state_count
            naive += states.naive_count()
    return RowCount(planned, naive)


def _read(
    pool: ThreadPoolExecutor,
    workspace: Path,
    inputs: InputSet,
    positions: NDArray[np.int64],
    shape: tuple[int, ...] | None,
    read: Callable[[Input], NDArray[Any]],
    read_many: ReadMany | None = None,
) -> NDArray[Any]:
    """Inputs at places of a set's file, as a run has stored them or as they are read."""
    file = input_file(workspace, inputs)
    if file.exists():
        return inputs_at(file, positions, shape)

    numbers = np.searchsorted(inputs.places, positions)
    if read_many and (values := read_many(inputs.inputs.take(numbers))) is not None:
        return values

    def read_part(numbers: NDArray[np.int64]) -> list[NDArray[Any]]:
        return [read(inputs.inputs[number]) for number in numbers]

    parts = np.array_split(numbers, min(READERS, numbers.size))
    return np.stack([values for part in pool.map(read_part, parts) for values in part])
