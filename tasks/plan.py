"""Plan an audit: list its units, and find those that are not committed yet."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.equal_pairs import remark_copies
from decaf.data.pairs import InputSet, PairSet, Rows
from decaf.foundation.digests import json_sha256, short
from decaf.models.trainable import TrainableCard
from decaf.plan.expectations import json_of
from decaf.plan.references import remark_compared_path, remark_references
from decaf.plan.refining import list_rules
from decaf.plan.study import Study
from decaf.plan.threshold import remark_default_epsilon
from decaf.plan.units import Unit
from decaf.reveal.path import RevealPath
from decaf.scoring.batches import LEAST_ROWS
from tasks.coarser import find_coarser
from tasks.editions import FIRST, Editions, plain_key, read_editions, select_forced
from tasks.missing_inputs import check_inputs
from tasks.model_remarks import stored_remarks
from tasks.reasons import history, reasons_of
from tasks.refining import continue_grids, refine_stages
from tasks.run_work import RunWork
from tasks.runs import newest_run
from tasks.sizes import ChosenSizes, Pace, fill_block_size, fill_cluster, measured_block_size
from tasks.stops import is_scored, stops_of
from tasks.trained import TrainedModels, assign_checkpoints
from tasks.units.fit import fitted_paths, starts_file
from tasks.units.kind import Kind
from tasks.units.kinds import KINDS
from tasks.units.run_task import UNITS, commit_key, group_units, missing_files
from tasks.units.scope import Scope, of_kind
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.version import check_version
from warehouse.storage import Storage

PREPARING_KINDS = [kind for kind in KINDS.values() if kind.prepares]
RESULT_KINDS = [kind for kind in KINDS.values() if not kind.prepares]
ROUTED = ("score", "route")
"""Kinds of units whose results show whether means still move with more stages."""


@dataclass(frozen=True)
class AuditPlan:
    """A study with its models, pairs and warehouse, and the work of its run."""

    configuration: Study
    """Configured study, with the chosen workers and blocks."""
    study: Study
    """Study with the models that can be scored, trained ones at their chosen epochs."""
    waiting: tuple[TrainableCard, ...]
    """Models that wait for their training."""
    store: Storage
    pairs: PairSet
    foregrounds: InputSet | None
    """Images that the study's labels need."""
    work: RunWork
    remarks: tuple[str, ...]
    """Sentences about data that the run leaves out."""
    model_remarks: Mapping[str, tuple[str, ...]]
    """Sentences of earlier trials about models that are not tried again, by model."""
    is_finished: bool
    """True if this run was completed and checked."""
    is_current: bool
    """True if it is the last started run of the study, which views show, with its pairs."""
    may_stop: bool
    """True if models may stop early after a number of blocks that is not known yet."""
    forced: Mapping[str, int]
    """Editions that ``--force`` sets and that are not yet committed (:mod:`tasks.editions`)."""
    sizes: ChosenSizes
    """Reasons and measurements behind the workers, blocks and batches."""

    @cached_property
    def run_id(self) -> str:
        """Digest of the plan; a resumed run has the same id."""
        return run_id_of(self.study, self.work.units, self.pairs)

    @cached_property
    def blocks(self) -> list[Rows]:
        """Rows of the pairs of every block."""
        return self.study.blocks(self.pairs)

    @cached_property
    def coarser_units(self) -> dict[str, tuple[Unit, str]]:
        """Stored units of coarser grids, with their commits, by keys of units to be scored."""
        pending = of_kind(self.work.pending, "score")
        return find_coarser(self.store, self.study, pending, self.work.scored_commits)

    @cached_property
    def fitted_paths(self) -> dict[str, RevealPath]:
        """Reveal paths, fitted to the clean inputs."""
        return fitted_paths(self.study.paths, self.study.workspace, self.pairs.input_set.digest)

    @cached_property
    def start_files(self) -> dict[str, Path]:
        """File of the random starts of each path, if it has any."""
        fits = of_kind(self.work.units, "fit")
        return {unit.name: starts_file(unit, self.study.workspace) for unit in fits}

    @cached_property
    def source_ids(self) -> NDArray[np.str_]:
        """(n_sources,) names of all sources, sorted."""
        pairs = self.pairs.pairs
        return pairs.sources.values.take(pairs.source_order).to_numpy()

    def batch_size(self, model_id: str | None) -> int:
        """Rows of a forward pass of a model, from its trial or from the configuration."""
        if model_id in self.sizes.paces:
            return self.sizes.paces[model_id].batch_size
        return self.study.batch_size or LEAST_ROWS

    @property
    def all_remarks(self) -> tuple[str, ...]:
        """Sentences about left-out data and about models, each of the latter with its name."""
        on_models = (
            f"{name}: {text}" for name, texts in self.model_remarks.items() for text in texts
        )
        return (*self.remarks, *on_models)

    @property
    def is_done(self) -> bool:
        """True if the run was completed and checked, and no result is missing."""
        return self.is_finished and not self.work.pending

    @property
    def needs_workers(self) -> bool:
        """True if workers have anything to train or compute."""
        return bool(self.waiting or self.work.by_model)


def plan_units(
    scope: Scope,
    kinds: Iterable[Kind] = KINDS.values(),
    planned: Sequence[Unit] = (),
    editions: Editions = FIRST,
) -> tuple[Unit, ...]:
    """Units of a study, including those that are already computed; needs no torch.

    ``planned`` are units of earlier kinds, which come first in the result. Raises BadInput if the
    study, its data or a model's files cannot be used.
    """
    units = list(planned)
    for kind in kinds:
        units += [editions.apply(unit) for unit in kind.plan(scope, tuple(units))]
    return tuple(units)


class PlannedUnits(NamedTuple):
    """Units of a study in their editions, and their commits."""

    models: TrainedModels
    scope: Scope
    """Scope of the models that can be scored."""
    units: tuple[Unit, ...]
    committed: dict[str, str]
    repeated: Set[str]
    """Keys of trainings that replace others whose files were deleted."""
    remarks: list[str]


def _plan_in_editions(
    study: Study, pairs: PairSet, store: Storage, editions: Editions
) -> PlannedUnits:
    """Plan the preparing units; then, with the trained models, all other units.

    A training whose files were deleted is planned again in its next edition: its results may
    differ, and a commit is never overwritten.
    """
    lost: set[str] = set()
    while True:
        preparing = plan_units(Scope(study, pairs), PREPARING_KINDS, editions=editions)
        preparing_commits = committed_units(store, study.study, preparing)
        without_files = missing_files(
            (unit for unit in preparing if unit.key in preparing_commits), study
        )
        trainings = of_kind(preparing, "train")
        lost_trainings = {plain_key(unit) for unit in trainings if unit.key in without_files}
        if not lost_trainings:
            break
        editions = editions.with_next(lost_trainings)
        lost |= lost_trainings
    ready = assign_checkpoints(study, store, preparing, preparing_commits)
    ready_study = study.model_copy(update={"models": ready.models})
    scope = Scope(ready_study, pairs, ready.trained_by)
    remarks = check_inputs(scope, ready.cards)
    # Units of all models wait until every model is trained.
    kinds = [kind for kind in RESULT_KINDS if not (kind.is_local and ready.waiting)]
    units = plan_units(scope, kinds, preparing, editions)
    committed = committed_units(store, study.study, units[len(preparing) :])
    committed |= preparing_commits
    # A path whose scores are all stored needs neither its fit nor its starts.
    needed = {
        fit.key for unit in units if unit.key not in committed for fit in unit.made_by.values()
    }
    unneeded_fits = {unit.key for unit in of_kind(preparing, "fit")} - needed
    for key in without_files - unneeded_fits:
        committed.pop(key, None)
    repeated = {unit.key for unit in trainings if plain_key(unit) in lost}
    return PlannedUnits(ready, scope, units, committed, repeated, remarks)


def plan_audit(study: Study, pairs: PairSet, force: Sequence[str] = ()) -> AuditPlan:
    """Compare a study's units with the receipts; reads one input, writes nothing, needs no torch.

    Units whose names match a pattern of ``force`` (:func:`tasks.editions.select_forced`) are
    computed again. Raises BadInput, which names all unusable weight files, if they or the warehouse
    cannot be used, and for a pattern that matches no unit.
    """
    store = storage.open(study.warehouse)
    if store.exists(layout.FORMAT):
        check_version(store)
    study = continue_grids(study, store)
    study, why_workers = fill_cluster(study, pairs)
    study, can_shrink_blocks = fill_block_size(study, pairs, store)
    editions = read_editions(store, study.study)
    planned = _plan_in_editions(study, pairs, store, editions)
    forced = select_forced(planned.units, planned.committed, editions, force)
    if forced:
        editions = editions.with_next(forced)
        planned = _plan_in_editions(study, pairs, store, editions)
    ready, scope, units, committed, repeated, remarks = planned
    run_id = run_id_of(study, units, pairs)
    finished = receipts.keys(store, "outcomes", study.study)
    may_stop = study.to_the_end() != study
    if may_stop:
        if run_id_of(study.to_the_end(), units, pairs) in finished:
            return plan_audit(study.to_the_end(), pairs)
        stops = stops_of(store, study.study, run_id)
        may_stop = stops is None
        units = tuple(unit for unit in units if is_scored(unit, stops or {}))
        run_id = run_id_of(study, units, pairs)
    newest = newest_run(store, study.study)
    missing = [unit for unit in units if unit.key not in committed]
    is_routed = not ready.waiting and all(unit.kind not in ROUTED for unit in missing)
    if is_routed and run_id == newest and run_id not in finished:
        finer = refine_stages(study, store)
        if finer is not study:  # the run was interrupted before it was scored on more stages
            return plan_audit(finer, pairs)
    remarks = [
        *pairs.remarks,
        *remark_copies(pairs),
        *remarks,
        *remark_default_epsilon(study),
        *remark_references(study),
    ]
    remarks += remark_compared_path(study, pairs.pairs)
    earlier = history(store, study.study, missing) if newest != run_id else None
    work = RunWork(units, committed, reasons_of(units, committed, earlier, repeated))
    return AuditPlan(
        configuration=study,
        study=scope.study,
        waiting=ready.waiting,
        store=store,
        pairs=pairs,
        foregrounds=scope.foregrounds,
        work=work,
        remarks=tuple(dict.fromkeys(remarks)),
        model_remarks=stored_remarks(store, study.study, work, ready.models),
        is_finished=run_id in finished,
        is_current=run_id == newest
        and short(pairs.analysed_digest) in receipts.keys(store, "pairs", study.study),
        may_stop=may_stop,
        forced={key: editions.of_unit[key] for key in forced},
        sizes=ChosenSizes(why_workers, can_shrink_blocks),
    )


def replan(plan: AuditPlan, **changed: Any) -> AuditPlan:
    """Plan a study again with other values of some keys; chosen sizes stay."""
    study = plan.configuration.model_copy(update=changed)
    return replace(plan_audit(study, plan.pairs), sizes=plan.sizes)


def settle_blocks(plan: AuditPlan, paces: Mapping[str, Pace], worker_count: int) -> AuditPlan:
    """Plan again if the measured speed of the models requires smaller blocks.

    Block sizes of the configuration or of an earlier run stay.
    """
    if plan.sizes.can_shrink_blocks and paces:
        size = measured_block_size(plan.configuration, plan.pairs, paces, worker_count)
        if size != plan.configuration.sources_per_block:
            plan = replan(plan, sources_per_block=size)
    return replace(plan, sizes=plan.sizes.with_paces(paces))


def committed_units(store: Storage, study: str, units: Sequence[Unit]) -> dict[str, str]:
    """Commits by the keys of the units that they hold.

    A commit of exactly one group of units is recognised by its name, so a finished audit of many
    commits needs only their names. Receipts of other commits are read. Raises WarehouseError if a
    receipt is damaged.
    """
    names = receipts.keys(store, UNITS, study) if units else set()
    committed: dict[str, str] = {}
    for group in group_units(units) if names else ():
        if (key := commit_key(group)) in names:
            names.remove(key)
            committed |= dict.fromkeys((unit.key for unit in group), key)
    if len(committed) < len(units) and names:
        missing_keys = {unit.key for unit in units if unit.key not in committed}
        for receipt in receipts.read_some(store, UNITS, study, names):
            for key in receipt.units:
                if key in missing_keys:
                    committed.setdefault(key, receipt.key)
    return committed


def run_id_of(study: Study, units: Iterable[Unit], pairs: PairSet) -> str:
    """Digest of a run's units and analysed pairs, and of settings that reports or `stop:` use."""
    settings = [json_of(study.expect), study.names] if study.expect or study.names else []
    if study.stop:  # another rule, or another gate, is another run
        gates = {
            name: [gate.model_dump() for gate in gates_of_metric]
            for name, gates_of_metric in study.gates.items()
        }
        settings = [*settings, study.stop.model_dump(mode="json"), gates, study.compare_with]
    if rules := list_rules(study.paths, study.stages):
        settings = [*settings, {name: [rule.until, rule.at_most] for name, rule in rules.items()}]
    keys = [unit.key for unit in units]
    return short(json_sha256([study.study, keys, *pairs.unscored_properties, *settings]))
