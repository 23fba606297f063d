"""What an audit has to do: its units, less those that the warehouse holds already."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from decaf.data.input_store import channels_first, input_file, open_inputs
from decaf.data.pairs import InputSet, PairSet
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.readiness import carry_out
from decaf.plan.preparation import fitted_paths, start_files, untrained
from decaf.plan.study import Study
from decaf.plan.units import Unit
from decaf.reveal.path import RevealPath
from decaf.scoring.planner import plan_states
from tasks.cluster.worker import ModelOrder
from tasks.editions import FIRST, Editions, commit_forcing, forced, read_editions
from tasks.reasons import Reason, history, reasons_of
from tasks.units.bench import Order
from tasks.units.kinds import KINDS
from tasks.units.orders import UNITS, commit_key, model_order, together
from tasks.units.scope import Scope
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.lock import study_lock
from warehouse.commits.migrations import check_version, units_set_aside
from warehouse.storage import Root

LIBRARIES = (
    "lime",
    "numba",
    "numpy",
    "pillow",
    "pyarrow",
    "safetensors",
    "scikit-learn",
    "shap",
    "timm",
    "torch",
    "torchvision",
    "xgboost-cpu",
)


SCORED = ("predict", "score")
"""Kinds of units that go through a model together."""


@dataclass(frozen=True)
class AuditPlan:
    """The units of a study against what is committed."""

    study: Study
    root: Root
    pairs: PairSet
    foregrounds: InputSet | None
    """Images that the study's labels need."""
    units: tuple[Unit, ...]
    """What is needed comes before what needs it."""
    committed: Mapping[str, str]
    """Commits by the keys of the units that they hold."""
    reasons: Mapping[str, Reason]
    """Why units have to be computed, by their keys; none for any other unit."""
    remarks: tuple[str, ...]
    """What of the data the run leaves out, in words."""
    is_finished: bool
    """Whether this very run has been completed and checked."""
    is_current: bool
    """Whether it is the run that the study's views show: the one started last."""
    forced: Mapping[str, int]
    """Editions that somebody asks for now and that no commit gives yet (:mod:`tasks.editions`)."""

    @property
    def run_id(self) -> str:
        """Digest of the plan: the same plan is the same run, started again or resumed."""
        return run_id_of(self.study.study, self.units)

    @property
    def pending(self) -> list[Unit]:
        """Units that have to be computed."""
        return [unit for unit in self.units if unit.key in self.reasons]

    @cached_property
    def blocks(self) -> list[tuple[int, ...]]:
        """Rows of the pairs of every block."""
        return self.pairs.blocks(self.study.sources_per_block)

    @cached_property
    def of_block(self) -> dict[tuple[str | None, int | None], list[Unit]]:
        """Units that are scored, by their model and block."""
        units: dict[tuple[str | None, int | None], list[Unit]] = {}
        for unit in self.units:
            if unit.kind in SCORED:
                units.setdefault((unit.model_id, unit.block), []).append(unit)
        return units

    @cached_property
    def fitted_paths(self) -> dict[str, RevealPath]:
        """Reveal paths with what they take from the clean inputs."""
        return fitted_paths(self.study, self.pairs)

    @cached_property
    def start_files(self) -> dict[str, Path]:
        """File of the random starts of each path, if it has any."""
        return start_files(self.study, self.pairs)

    @cached_property
    def source_ids(self) -> list[str]:
        """Names of all sources, sorted."""
        return sorted({pair.source_id for pair in self.pairs.pairs})

    @cached_property
    def commits(self) -> dict[str, str]:
        """The commit of every unit, by its key: where it is stored, or will be."""
        planned = together(self.pending)
        new = {unit.key: commit_key(group) for group in planned for unit in group}
        return {**self.committed, **new}

    def pending_orders(self, *, local: bool = False) -> list[tuple[Unit, ...]]:
        """Units that are computed together: on workers, or beside the flow."""
        units = [unit for unit in self.pending if KINDS[unit.kind].is_local == local]
        return together(units)


def by_model(plan: AuditPlan) -> dict[str, list[tuple[Unit, ...]]]:
    """What workers have to do, in the order of the models: a worker loads each of them once."""
    work: dict[str, list[tuple[Unit, ...]]] = {card.id: [] for card in plan.study.models}
    for group in plan.pending_orders():
        work[group[0].model_id].append(group)
    return {model_id: groups for model_id, groups in work.items() if groups}


def missing_inputs(scope: Scope) -> list[str]:
    """Look for all that a run needs beside its pairs; remarks on what it will not use.

    A model that is to be trained needs what its recipe needs, any other one its weights.

    Raises
    ------
    BadInput
        With everything that is not there or cannot be used.
    """

    def foregrounds_are_there() -> tuple[str, ...]:
        return () if scope.foregrounds is None else scope.foregrounds.remarks

    def pairs_are_there() -> tuple[str, ...]:
        _ = scope.of_paths
        return ()

    study = scope.study
    checks = [("score", check) for check in study.score.checks()]
    checks += [(card.id, check) for card in study.models for check in card.checks(study.workspace)]
    return carry_out([*checks, ("paths", pairs_are_there), ("labels", foregrounds_are_there)])


def plan_units(scope: Scope, editions: Editions = FIRST) -> tuple[Unit, ...]:
    """All units of a study, whether or not they have been computed; needs no torch.

    Parameters
    ----------
    editions
        Of the units that were forced.

    Raises
    ------
    BadInput
        When the study, its data or a model's files cannot be used.
    """
    units: list[Unit] = []
    for kind in KINDS.values():
        units += [editions.applied(unit) for unit in kind.plan(scope, tuple(units))]
    return tuple(units)


def plan_audit(study: Study, pairs: PairSet, force: Sequence[str] = ()) -> AuditPlan:
    """Compare the study's units with the receipts; reads no input, writes nothing, needs no torch.

    Parameters
    ----------
    force
        Names of units that are computed again, with patterns (:func:`tasks.editions.forced`).

    Raises
    ------
    BadInput
        When weight files (all of them are named) or the warehouse cannot be used, or a name is of
        no unit.
    """
    scope = Scope(study, pairs)
    remarks = dict.fromkeys([*pairs.remarks, *missing_inputs(scope)])
    root = storage.resolved(study.warehouse)
    if storage.open(root).exists(layout.FORMAT):
        check_version(root)
    editions = read_editions(root, study.study)
    units = plan_units(scope, editions)
    committed = committed_units(root, study.study, units)
    again = forced(units, committed, editions, force)
    if again:
        editions = editions.with_next(again)
        units = plan_units(scope, editions)
        committed = committed_units(root, study.study, units)
    missing = [unit for unit in units if unit.key not in committed]
    slots = {one.slot for unit in missing for one in (unit, *unit.needs)}
    before = history(root, study.study, slots)
    set_aside = units_set_aside(root, study.study) if missing else {}
    run_id = run_id_of(study.study, units)
    return AuditPlan(
        study=study,
        root=root,
        pairs=pairs,
        foregrounds=scope.foregrounds,
        units=units,
        committed=committed,
        reasons=reasons_of(units, committed, before, set_aside),
        remarks=tuple(remarks),
        is_finished=run_id in receipts.keys(root, "outcomes", study.study),
        is_current=run_id == _newest_run(root, study.study),
        forced={key: editions.of_unit[key] for key in again},
    )


def force_units(study: Study, names: Sequence[str]) -> str:
    """Let the next run of a study compute units again; says in words how many.

    A model that waits for its training has none yet.

    Raises
    ------
    BadInput
        When the study cannot be planned, or a name is of no unit.
    """
    missing = untrained(study)
    trained = tuple(card for card in study.models if card not in missing)
    study = study.model_copy(update={"models": trained})
    with study_lock(storage.resolved(study.warehouse), study.study):
        plan = plan_audit(study, study.pair_set(), names)
        if plan.forced:
            commit_forcing(plan.root, study.study, plan.forced)
    if not plan.forced:
        return "forced already since the last finished run, or not there yet: going on with that"
    return f"{len(plan.forced)} units of work are computed again"


def committed_units(root: Root, study: str, units: Sequence[Unit]) -> dict[str, str]:
    """Commits by the keys of the units that they hold.

    A commit of exactly the units that belong together is known by its name, so that a finished
    audit of many commits is recognised from their names alone; the others are read.

    Raises
    ------
    WarehouseError
        When a receipt is damaged.
    """
    names = receipts.keys(root, UNITS, study)
    committed: dict[str, str] = {}
    for group in together(units):
        if (key := commit_key(group)) in names:
            committed |= dict.fromkeys((unit.key for unit in group), key)
    if len(committed) < len(units) and names:
        wanted = {unit.key for unit in units}
        for receipt in receipts.read_kind(root, UNITS, study):
            for key in receipt.units:
                if key in wanted:
                    committed.setdefault(key, receipt.key)
    return committed


def order_of(plan: AuditPlan, units: tuple[Unit, ...], inputs: Path, images: Path | None) -> Order:
    """What a worker needs to know to compute units together.

    Parameters
    ----------
    inputs
        File of the clean inputs.
    images
        File of the images that labels need.
    """
    study, first = plan.study, units[0]
    is_local = KINDS[first.kind].is_local
    block = None if first.block is None else plan.pairs.block(plan.blocks[first.block])
    needed = [need for unit in units for need in unit.needs]
    known = () if is_local else stored_beside(plan, first)
    fitted = {"paths": plan.fitted_paths}
    return Order(
        root=plan.root,
        study=study.model_copy(update=fitted if is_local else fitted | {"models": ()}),
        key=commit_key(units),
        units=units,
        model=None if is_local else _model_order(study, (*units, *needed)),
        block=block,
        source_positions=np.searchsorted(plan.source_ids, block.source_ids if block else []),
        pairs=plan.pairs if is_local else None,
        inputs=inputs,
        foregrounds=images,
        starts={} if is_local else plan.start_files,
        known=known,
        stored={} if is_local else {one.key: plan.commits[one.key] for one in (*needed, *known)},
        software=software(),
    )


def stored_beside(plan: AuditPlan, unit: Unit) -> tuple[Unit, ...]:
    """Stored scores of the same model and block, for a unit that goes through the model too."""
    if unit.kind not in SCORED:
        return ()
    return tuple(
        other
        for other in plan.of_block.get((unit.model_id, unit.block), ())
        if other.key not in plan.reasons
    )


def _model_order(study: Study, units: Iterable[Unit]) -> ModelOrder:
    """The model of units, which must be that of their parts."""
    scored = next(unit for unit in units if "weights" in unit.parts)
    card = next(card for card in study.models if card.id == scored.model_id)
    return model_order(study, card, scored.parts)


class RowCount(NamedTuple):
    """Forward rows of one model over all pairs: distinct states, and every stage and branch."""

    planned: int
    naive: int


def count_rows(study: Study, pairs: PairSet) -> RowCount:
    """Count the states of every block exactly; reads inputs that no run has stored yet.

    Raises
    ------
    DataError
        When an input cannot be read.
    """
    paths = fitted_paths(study, pairs)
    path = input_file(study.workspace, pairs.input_set)
    planned = naive = 0
    with ThreadPoolExecutor() as pool:
        for rows in pairs.blocks(study.sources_per_block):
            block = pairs.block(rows)
            if path.exists():
                inputs = open_inputs(path)[block.input_positions]
            else:
                used = [pairs.inputs[position] for position in block.input_positions]
                inputs = np.stack(list(pool.map(study.data.read_input, used)))
            states = plan_states(block, channels_first(inputs), paths, study.grid)
            planned += states.state_count
            naive += states.naive_count()
    return RowCount(planned, naive)


def run_id_of(study: str, units: Iterable[Unit]) -> str:
    """Digest of everything that the run will hold."""
    return short(json_sha256([study, [unit.key for unit in units]]))


def _newest_run(root: Root, study: str) -> str | None:
    runs = list(receipts.read_kind(root, "runs", study))
    return max(runs, key=lambda receipt: receipt.committed_at).key if runs else None


@cache
def software() -> dict[str, str]:
    """Versions of what computes the numbers."""
    found = {name: version(name) for name in LIBRARIES}
    return {"decaf": version("decaf-audit"), "python": platform.python_version(), **found}
