"""Coarser grids: scores that are stored at some of the stages of a path that is to be scored."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from decaf.foundation.digests import json_sha256
from decaf.plan.study import Study
from decaf.plan.units import SharedParts, Unit
from tasks.units.run_task import UNITS
from warehouse.commits import receipts
from warehouse.storage import Storage

STRIDES = (2, 4, 8, 16)
"""Every second stage first: of several stored grids the finest is read."""


def find_coarser(
    store: Storage, study: Study, units: Iterable[Unit], done: Set[str]
) -> dict[str, tuple[Unit, str]]:
    """Find stored units whose grid is every second, fourth … stage of units that score paths.

    ``done`` are keys of commits of blocks in which nothing is left to score; they are not read.

    Returns
    -------
    By the key of a unit: the stored unit with the finest such grid, and its commit. Units without
    one are left out.
    """
    names = receipts.keys(store, UNITS, study.study) - done
    if not names:
        return {}
    parts_of: dict[tuple[int, int], SharedParts] = {}
    candidates: list[tuple[str, Unit]] = []
    for unit in units:
        grid = study.paths[unit.name].grid(study.grid)
        for stride in STRIDES:
            if grid.size > stride and (grid.size - 1) % stride == 0:
                place = id(unit.shared), stride
                if place not in parts_of:
                    parts_of[place] = _with_stages(unit.shared, grid[::stride].tolist())
                candidates.append((unit.key, replace(unit, shared=parts_of[place])))
    wanted = {coarse.key for _, coarse in candidates}
    commits = {
        key: receipt.key
        for receipt in receipts.read_some(store, UNITS, study.study, names)
        for key in wanted.intersection(receipt.units)
    }
    coarser: dict[str, tuple[Unit, str]] = {}
    for key, coarse in candidates:
        if coarse.key in commits:
            coarser.setdefault(key, (coarse, commits[coarse.key]))
    return coarser


def _with_stages(shared: Mapping[str, str], stages: list[float]) -> SharedParts:
    return SharedParts({**shared, "stages": json_sha256(stages)})
