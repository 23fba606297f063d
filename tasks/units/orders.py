"""Orders: units that are computed together, sent to a worker, and committed at once."""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

import pyarrow as pa

from decaf.foundation.digests import json_text, short, text_sha256
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.cluster.patience import patiently
from tasks.units.ahead import AHEAD
from tasks.units.behind import behind
from tasks.units.bench import Bench, Clock, Order, Stored, Together, divided, summed
from tasks.units.folding import FOLDING
from tasks.units.kind import Kind
from tasks.units.kinds import KINDS
from tasks.units.scan import scan
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.storage import Root
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
    remark: str = ""
    """Sentence about a batch that did not fit the memory; empty where all did."""


def together(units: Iterable[Unit]) -> Iterator[tuple[Unit, ...]]:
    """Units in groups that are computed and committed together, in the order of the first ones.

    They come model by model: a group is of one, and of a million groups few are held at once.
    """
    of_model: dict[str | None, list[Unit]] = {}
    for unit in units:
        of_model.setdefault(unit.model_id, []).append(unit)
    for own in of_model.values():
        groups: dict[Hashable, list[Unit]] = {}
        for unit in own:
            groups.setdefault(KINDS[unit.kind].order(unit), []).append(unit)
        yield from map(tuple, groups.values())


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


def run_order(order: Order) -> Done:
    """Compute the units of an order and commit them, unless their receipt is there.

    Pairs are taken by the shape of their inputs, each as if the block had no others; the rows of
    all are one commit. Reads clean inputs and weights, or what the units need of others; writes one
    commit, and the files of units that make some.
    """
    began = time.perf_counter()
    is_committed = _is_committed(order)
    if is_committed and not missing_files(order.units, order.study):
        return Done(order.label, len(order.units), 0)
    (made,) = _carried_out((order,), is_committed)
    return made.done(order, 0.0 if is_committed else time.perf_counter() - began)


def run_together(together: Together) -> tuple[Done, ...]:
    """Do the same for one block and several models; each has a commit of its own.

    What one of them fails with is raised; what is not committed by then has to be done again.
    """
    began = time.perf_counter()
    done = {order.key: Done(order.label, len(order.units), 0) for order in together.orders}
    orders = [order for order in together.orders if not _is_committed(order)]
    if orders:
        made = _carried_out(orders)
        seconds = time.perf_counter() - began
        total = sum(one.cost["wall_seconds"] for one in made)
        for order, one in zip(orders, made, strict=True):
            done[order.key] = one.done(order, seconds * one.cost["wall_seconds"] / total)
    return tuple(done.values())


class _Made(NamedTuple):
    """What an order gave."""

    tables: dict[str, pa.Table]
    cost: dict[str, Any]
    """Its row of ``costs``; empty where no model was asked."""
    remark: str = ""

    def done(self, order: Order, seconds: float = 0.0) -> Done:
        return Done(
            order.label, len(order.units), self.cost.get("forward_rows", 0), seconds, self.remark
        )


def _is_committed(order: Order) -> bool:
    return patiently(lambda: receipts.exists(*_place(order)))


def _place(order: Order) -> tuple[Root, str, str, str]:
    return order.root, UNITS, order.study.study, order.key


def _carried_out(orders: Sequence[Order], are_committed: bool = False) -> list[_Made]:
    """Compute orders of one block, shape by shape, and commit them unless that is done."""
    found: list[list[_Made]] = [[] for _ in orders]
    stored: list[Stored] = [{} for _ in orders]
    shapes = [*zip(*((order, *order.others) for order in orders), strict=True)]
    with ExitStack() as aside:
        for parts, following in zip_longest(shapes, shapes[1:]):
            benches = _asked(parts, following and following[0], stored)
            if following is None:
                aside.enter_context(behind(orders[0]))
            for own, made in zip(found, _made(benches), strict=True):
                own.append(made)
            del benches  # what the next parts read takes their place
        joined = [*map(_joined, found)]
        if not are_committed:
            _commit(orders, joined)
    return joined


def _joined(parts: Sequence[_Made]) -> _Made:
    """What an order gave for all shapes."""
    tables = {
        name: pa.concat_tables([part.tables[name] for part in parts]) for name in parts[0].tables
    }
    cost = summed([part.cost for part in parts]) if parts[0].cost else {}
    if cost:
        tables["costs"] = pa.Table.from_pylist([cost], schema=COSTS.schema)
    return _Made(tables, cost, next((part.remark for part in parts if part.remark), ""))


def _asked(
    parts: Sequence[Order], following: Order | None, stored: Sequence[Stored]
) -> list[Bench]:
    """Ask the models of orders for the pairs of one shape; what follows is read meanwhile.

    The first reads for all of them. No model is needed afterwards.
    """
    clock, (first, *others) = Clock.now(), parts
    benches = [AHEAD.bench(first), *map(Bench, others)]
    models = [part.model for part in parts if part.model]
    for bench, own in zip(benches, stored, strict=True):
        bench.begin(clock, own, models)
    with AHEAD.beside(first, following):
        if any(KINDS[unit.kind].is_scanned for unit in first.units):
            scan(benches)
        for bench in benches:
            _run(bench, lambda kind: kind.uses_model and not kind.is_scanned)
    if _use_model(parts):
        for bench in benches:
            bench.model_is_done()
    return benches


def _use_model(orders: Sequence[Order]) -> bool:
    return any(KINDS[unit.kind].uses_model for unit in orders[0].units)


def _made(benches: Sequence[Bench]) -> list[_Made]:
    """What is made of what the models answered, on the host alone."""
    for bench in benches:
        _run(bench, lambda kind: kind.is_scanned or not kind.uses_model)
    uses_model = _use_model([bench.order for bench in benches])
    costs = divided([bench.cost_row() if uses_model else {} for bench in benches])
    return [
        _Made(bench.results, cost, bench.remark) for bench, cost in zip(benches, costs, strict=True)
    ]


def _run(bench: Bench, is_due: Callable[[Kind], bool]) -> None:
    for kind in filter(is_due, KINDS.values()):
        if own := [unit for unit in bench.order.units if unit.kind == kind.name]:
            bench.results |= kind.run(bench, own)


def _commit(orders: Sequence[Order], made: Sequence[_Made]) -> None:
    for order, (tables, *_) in zip(orders, made, strict=True):
        model_id, keys = order.units[0].model_id, tuple(unit.key for unit in order.units)
        put = partial(commit, *_place(order), tables, model_id=model_id, units=keys)
        patiently(partial(put, software=order.software))
    if orders[0].units[0].block is not None:  # of other units there are few
        FOLDING.committed(orders)
