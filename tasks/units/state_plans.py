"""State plans that a worker caches: a block is planned once, for all models."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from decaf.plan.units import Unit
from decaf.scoring.planner import StatePlan, plan_states
from tasks.units.bench import Bench

PLANNED_FROM = ("pairs", "path", "reveal", "stages")
"""Parts of a scored unit that determine its states for every model."""
LARGEST_SUM = 512 * 2**20
"""Most bytes of cached plans. The first plans stay: a worker computes all blocks of a model before
the next model, so a plan that replaces an older one would be replaced before its next use."""

_kept: dict[Hashable, dict[Hashable, StatePlan]] = {}
"""Plans of the worker's current study; the next study clears them."""


def state_plan(bench: Bench, units: Sequence[Unit], inputs: NDArray[np.generic]) -> StatePlan:
    """Plan of the states of units that score paths, cached on this worker.

    ``inputs`` are the (n_inputs, …) clean inputs of the block, channels first.
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
        if sum(stored_plan.nbytes for stored_plan in plans.values()) + plan.nbytes <= LARGEST_SUM:
            plans[key] = plan
    return plan
