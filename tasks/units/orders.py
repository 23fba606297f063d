"""Orders: units that are computed together, sent to a worker, and committed at once."""

import time
from collections.abc import Hashable, Iterable
from itertools import zip_longest
from typing import NamedTuple

import pyarrow as pa

from decaf.foundation.digests import json_text, short, text_sha256
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.cluster.patience import patiently
from tasks.units.ahead import AHEAD
from tasks.units.bench import Bench, Clock, Order, Stored, summed
from tasks.units.folding import FOLDING
from tasks.units.kinds import KINDS
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.tables.declarations import COSTS

UNITS = "units"
"""Kind of the commits that hold units."""


class Done(NamedTuple):
    """What comes back of an order: a few numbers."""

    label: str
    unit_count: int
    forward_rows: int
    """Rows that this call sent through the model; 0 when all was there."""
    seconds: float = 0.0
    """What this call took; 0 when all was there."""


def together(units: Iterable[Unit]) -> list[tuple[Unit, ...]]:
    """Units in groups that are computed and committed together, in the order of the first ones."""
    groups: dict[Hashable, list[Unit]] = {}
    for unit in units:
        groups.setdefault(KINDS[unit.kind].order(unit), []).append(unit)
    return [tuple(group) for group in groups.values()]


def commit_key(units: Iterable[Unit]) -> str:
    """Key of the commit that holds exactly these units."""
    keys = sorted(unit.key for unit in units)
    return short(text_sha256("[" + ",".join(map(json_text, keys)) + "]"))


def missing_files(units: Iterable[Unit], study: Study) -> set[str]:
    """Keys of the units whose files are not there, or not all."""
    return {
        unit.key
        for unit in units
        if not all(file.exists() for file in KINDS[unit.kind].files(unit, study))
    }


def computed(part: Order, following: Order | None, stored: Stored) -> Bench:
    """The units of an order for the pairs of one shape; what follows is read meanwhile."""
    clock = Clock.now()
    bench = AHEAD.bench(part)
    bench.begin(clock, stored)
    with AHEAD.beside(part, following):
        for kind in KINDS.values():
            own = [unit for unit in part.units if unit.kind == kind.name]
            if own:
                bench.results |= kind.run(bench, own)
    return bench


def run_order(order: Order) -> Done:
    """Compute the units of an order and commit them, unless their receipt is there.

    Pairs are taken by the shape of their inputs, each as if the block had no others; the rows of
    all are one commit. Reads clean inputs and weights, or what the units need of others; writes one
    commit, and the files of units that make some.
    """
    began = time.perf_counter()
    place = order.root, UNITS, order.study.study, order.key
    is_committed = patiently(lambda: receipts.exists(*place))
    if is_committed and not missing_files(order.units, order.study):
        return Done(order.label, len(order.units), 0)
    uses_model = any(KINDS[unit.kind].uses_model for unit in order.units)
    results, costs = [], []
    stored: Stored = {}
    parts = (order, *order.others)
    for part, following in zip_longest(parts, parts[1:]):
        bench = computed(part, following, stored)
        results.append(bench.results)
        costs += [bench.cost_row()] if uses_model else []
        del bench  # what the next part reads takes its place
    cost = summed(costs) if costs else {"forward_rows": 0}
    done = Done(order.label, len(order.units), cost["forward_rows"])
    if is_committed:  # its files were gone
        return done
    tables = {name: pa.concat_tables([part[name] for part in results]) for name in results[0]}
    if costs:
        tables["costs"] = pa.Table.from_pylist([cost], schema=COSTS.schema)
    model_id, keys = order.units[0].model_id, tuple(unit.key for unit in order.units)
    patiently(
        lambda: commit(*place, tables, model_id=model_id, units=keys, software=order.software)
    )
    done = done._replace(seconds=time.perf_counter() - began)
    if order.units[0].block is not None:  # of other units there are few
        FOLDING.committed(order)
    return done
