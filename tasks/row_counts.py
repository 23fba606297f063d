"""Count the forward rows of a study from the states of its pairs."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import READERS, ReadMany, channels_first, input_file, inputs_at
from decaf.data.pairs import Input, InputSet, PairSet, Rows
from decaf.plan.study import Study
from decaf.scoring.planner import plan_states
from tasks.units.fit import fitted_paths

COUNTED_PAIRS = 100_000
"""Number of pairs of a large study whose states are counted."""


class RowCount(NamedTuple):
    """Forward rows of one model over all pairs, with and without shared states."""

    planned: int
    naive: int
    is_exact: bool = True
    """False if they are scaled up from some blocks."""


def count_rows(study: Study, pairs: PairSet) -> RowCount:
    """Count the states of every block; reads inputs that are not stored yet.

    If a study has many pairs, blocks of about 100,000 pairs are counted, evenly spread, and the
    counts are scaled up. Raises DataError if inputs cannot be paired or read.
    """
    paths = fitted_paths(study.paths, study.workspace, pairs.input_set.digest)
    if not all(input_file(study.workspace, input_set).exists() for input_set in pairs.stored_sets):
        study.data.verify(pairs)
    planned = naive = 0
    with ThreadPoolExecutor(READERS) as pool:
        blocks = _blocks_to_count(study.blocks(pairs))
        for rows in (part for block in blocks for part in pairs.split_by_shape(block)):
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
    counted = sum(rows.size for rows in blocks)
    if counted == len(pairs.pairs):
        return RowCount(planned, naive)
    scale = len(pairs.pairs) / counted
    return RowCount(round(planned * scale), round(naive * scale), is_exact=False)


def _blocks_to_count(blocks: Sequence[Rows]) -> Sequence[Rows]:
    """Blocks whose states are counted: all, or some in a study with many pairs."""
    largest = max(rows.size for rows in blocks)
    if largest * len(blocks) <= COUNTED_PAIRS:
        return blocks
    places = np.linspace(0, len(blocks) - 1, max(1, COUNTED_PAIRS // largest)).astype(int)
    return [blocks[place] for place in np.unique(places)]


def _read(
    pool: ThreadPoolExecutor,
    workspace: Path,
    inputs: InputSet,
    positions: NDArray[np.int64],
    shape: tuple[int, ...] | None,
    read: Callable[[Input], NDArray[Any]],
    read_many: ReadMany | None = None,
) -> NDArray[Any]:
    """Inputs at positions of a set's file, from the input store or, before a run, from the data."""
    file = input_file(workspace, inputs)
    if file.exists():
        return inputs_at(file, positions, shape)
    numbers = np.searchsorted(inputs.places, positions)
    if read_many and (values := read_many(inputs.inputs.take(numbers))) is not None:
        return values

    def read_part(numbers: NDArray[np.int64]) -> list[NDArray[Any]]:
        return [read(inputs.inputs[number]) for number in numbers]

    parts = np.array_split(numbers, min(READERS, numbers.size))
    return np.stack([value for part in pool.map(read_part, parts) for value in part])
