"""Run tasks: a worker computes the units of a task together and commits them at once."""

import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from decaf.foundation.digests import json_text, short, text_sha256
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.cluster.patience import retry_while_away
from tasks.units.bench import Bench, BlockPart, Destination, StoredRows, Task, sum_costs
from tasks.units.kind import Kind
from tasks.units.kinds import KINDS
from tasks.units.scan import scan
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.storage import Storage
from warehouse.tables.declarations import COSTS

UNITS = "units"
"""Kind of the commits that hold units."""


class TaskSummary(NamedTuple):
    """Summary of a finished task."""

    label: str
    unit_count: int
    forward_rows: int
    """Rows that this call sent through the model; 0 if the task was already committed."""
    seconds: float = 0.0
    """Duration of this call; 0 if the task was already committed."""
    remark: str = ""
    """Sentence about a batch that did not fit the memory; empty if all did."""


def group_units(units: Iterable[Unit]) -> Iterator[tuple[Unit, ...]]:
    """Yield groups of units that are computed and committed together, model by model.

    Groups come in the order of their first units. Only the groups of one model are in memory.
    """
    of_model: dict[str | None, list[Unit]] = {}
    for unit in units:
        of_model.setdefault(unit.model_id, []).append(unit)
    for model_units in of_model.values():
        groups: dict[Hashable, list[Unit]] = {}
        for unit in model_units:
            groups.setdefault(KINDS[unit.kind].group_key(unit), []).append(unit)
        yield from map(tuple, groups.values())


def commit_key(units: Iterable[Unit]) -> str:
    """Key of the commit that holds exactly these units."""
    keys = sorted(unit.key for unit in units)
    return short(text_sha256("[" + ",".join(map(json_text, keys)) + "]"))


def missing_files(units: Iterable[Unit], study: Study) -> set[str]:
    """Keys of the units with missing files."""
    return {
        unit.key
        for unit in units
        if not all(file.exists() for file in KINDS[unit.kind].files(unit, study))
    }


def run_task(task: Task) -> TaskSummary:
    """Compute the units of a task and commit them, unless they are already committed.

    Pairs whose inputs differ in shape are computed separately; the rows of all shapes are one
    commit. Reads clean inputs and weights, or rows of needed units; writes one commit, and the
    files of units that make files.
    """
    began = time.perf_counter()
    is_committed = retry_while_away(lambda: receipts.exists(*_commit_place(task.destination)))
    if is_committed and not missing_files(task.units, task.study):
        return TaskSummary(task.label, len(task.units), 0)
    stored: StoredRows = {}
    result = _join([_compute(task, part, stored) for part in task.parts])
    if not is_committed:
        _commit(task, result.tables)
    forward_rows = result.cost.get("forward_rows", 0)
    seconds = 0.0 if is_committed else time.perf_counter() - began
    return TaskSummary(task.label, len(task.units), forward_rows, seconds, result.remark)


class _Result(NamedTuple):
    """Rows of a task by table, and its cost."""

    tables: dict[str, pa.Table]
    cost: dict[str, Any]
    """Row of ``costs``; empty for tasks without a model."""
    remark: str


def _compute(task: Task, part: BlockPart, stored: StoredRows) -> _Result:
    """Compute the units of a task for its pairs of one shape: first with the model, then without.

    Keeps rows from the warehouse in ``stored``, for the other shapes of the task.
    """
    bench, kinds = Bench(task, part, stored), KINDS.values()
    if any(KINDS[unit.kind].is_scanned for unit in task.units):
        scan(bench)
    _run(bench, [kind for kind in kinds if kind.uses_model and not kind.is_scanned])
    uses_model = KINDS[task.units[0].kind].uses_model
    if uses_model:
        bench.finish_model()
    _run(bench, [kind for kind in kinds if kind.is_scanned or not kind.uses_model])
    return _Result(bench.results, bench.cost_row() if uses_model else {}, bench.remark)


def _run(bench: Bench, kinds: Iterable[Kind]) -> None:
    for kind in kinds:
        if units := [unit for unit in bench.task.units if unit.kind == kind.name]:
            bench.results |= kind.run(bench, units)


def _join(parts: Sequence[_Result]) -> _Result:
    """Join the results of all shapes of a task."""
    tables = {
        name: pa.concat_tables([part.tables[name] for part in parts]) for name in parts[0].tables
    }
    cost = sum_costs([part.cost for part in parts]) if parts[0].cost else {}
    if cost:
        tables["costs"] = pa.Table.from_pylist([cost], schema=COSTS.schema)
    return _Result(tables, cost, next((part.remark for part in parts if part.remark), ""))


def _commit_place(destination: Destination) -> tuple[Storage, str, str, str]:
    return destination.store, UNITS, destination.study, destination.key


def _commit(task: Task, tables: dict[str, pa.Table]) -> None:
    place, software = _commit_place(task.destination), dict(task.destination.software)
    model_id, keys = task.units[0].model_id, tuple(unit.key for unit in task.units)
    named = {"model_id": model_id, "units": keys, "software": software}
    retry_while_away(partial(commit, *place, tables, **named))
