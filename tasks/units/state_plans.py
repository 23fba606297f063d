"""State plans that a worker keeps: planned once for a block, and found there by the next model."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from decaf.plan.units import Unit
from decaf.scoring.planner import StatePlan, plan_states
from tasks.units.bench import Bench

PLANNED_FROM = ("pairs", "path", "reveal", "stages")
"""Parts of a scored unit that decide its states, whatever the model."""
LARGEST_SUM = 512 * 2**20
"""Bytes of the plans that a worker keeps. It goes through all blocks, model by model: a plan that
gave way to a later one would be gone before its next use, so the first plans stay."""

_kept: dict[Hashable, dict[Hashable, StatePlan]] = {}
"""Plans of the study that the worker is at; those of another one go when the next begins."""


def state_plan(bench: Bench, units: Sequence[Unit], inputs: NDArray[np.generic]) -> StatePlan:
    """The states behind units of a task; planned unless this worker has met them before.

    The units score paths, now or before; inputs are the (n_inputs, …) clean inputs of the block,
    channels first.
    """
    task, block = bench.task, bench.part.block
    pairs = block.pair_ids, block.input_positions.tobytes()
    planned = tuple(tuple(unit.parts[name] for name in PLANNED_FROM) for unit in units)
    study = task.destination.store.address, task.study.study
    key = task.files.clean, pairs, planned
    if study not in _kept:
        _kept.clear()
    plans = _kept.setdefault(study, {})
    plan = plans.get(key)
    if plan is None:
        paths = {unit.name: task.study.paths[unit.name] for unit in units}
        plan = plan_states(bench.block, inputs, paths, task.study.grid)
        if sum(kept.nbytes for kept in plans.values()) + plan.nbytes <= LARGEST_SUM:
            plans[key] = plan
    return plan
