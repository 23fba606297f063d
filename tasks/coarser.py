"""Find stored scores on coarser grids of the paths to score."""

from collections.abc import Iterable, Set
from dataclasses import replace

from decaf.foundation.digests import json_sha256
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.units.run_task import UNITS
from warehouse.commits import receipts
from warehouse.storage import Storage

STRIDES = (2, 4, 8, 16)
"""Steps between stages of a coarser grid, the finest grid first."""


def find_coarser(
    store: Storage, study: Study, units: Iterable[Unit], done: Set[str]
) -> dict[str, tuple[Unit, str]]:
    """Find stored units whose grid is every second, fourth … stage of the units' grids.

    ``done`` are keys of commits of completely scored blocks; these commits are not read.

    Returns
    -------
    By the key of a unit: the stored unit with the finest coarser grid, and its commit. Units
    without a stored coarser grid are left out.
    """
    names = receipts.keys(store, UNITS, study.study) - done
    if not names:
        return {}
    candidates: list[tuple[str, Unit]] = []
    for unit in units:
        grid = study.paths[unit.name].grid(study.grid)
        for stride in STRIDES:
            if grid.size > stride and (grid.size - 1) % stride == 0:
                coarse_parts = {**unit.parts, "stages": json_sha256(grid[::stride].tolist())}
                candidates.append((unit.key, replace(unit, parts=coarse_parts)))
    coarse_keys = {coarse.key for _, coarse in candidates}
    commits = {
        key: receipt.key
        for receipt in receipts.read_some(store, UNITS, study.study, names)
        for key in coarse_keys.intersection(receipt.units)
    }
    coarser: dict[str, tuple[Unit, str]] = {}
    for key, coarse in candidates:
        if coarse.key in commits:
            coarser.setdefault(key, (coarse, commits[coarse.key]))
    return coarser
