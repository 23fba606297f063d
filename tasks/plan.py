"""What an audit has to do: its shards, less those that the warehouse holds already."""

import platform
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

from decaf.data.input_store import channels_first, input_file, open_inputs
from decaf.data.pairs import ImageSet, PairSet
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.readiness import carry_out
from decaf.plan.analyses import Analysis, definitions, plan_analyses
from decaf.plan.baseline_units import BaselineUnit, plan_baselines
from decaf.plan.measurements import Measurement, foregrounds, plan_measurements
from decaf.plan.shards import Shard, fitted_paths, plan_shards
from decaf.plan.study import Study
from decaf.scoring.planner import plan_states
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.migrations import check_version
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


@dataclass(frozen=True)
class AuditPlan:
    """The shards of a study against what is committed."""

    study: Study
    root: Root
    pairs: PairSet
    shards: tuple[Shard, ...]
    scored: frozenset[str]
    """Keys of shards whose trajectories are committed."""
    routed: frozenset[str]
    """Keys of profiles that are committed at the study's epsilon."""
    foregrounds: ImageSet | None
    """Images of the foregrounds alone, where the study needs them."""
    measurements: tuple[Measurement, ...]
    """What is measured beside the trajectories."""
    measured: frozenset[str]
    """Keys of measurements that are committed."""
    baselines: tuple[BaselineUnit, ...]
    """What other methods are asked of the models."""
    compared: frozenset[str]
    """Keys of baselines that are committed."""
    remarks: tuple[str, ...]
    """What of the data the run leaves out, in words."""
    is_finished: bool
    """Whether this very run has been completed and checked."""
    is_current: bool
    """Whether it is the run that the study's views show: the one started last."""

    @property
    def run_id(self) -> str:
        """Digest of the plan: the same plan is the same run, started again or resumed."""
        return run_id_of(self.study, self.shards, self.measurements, self.baselines)

    @property
    def analyses(self) -> list[Analysis]:
        """What is computed over all models once they have been measured."""
        return plan_analyses(self.study, self.run_id)

    @property
    def pending(self) -> list[Shard]:
        """Shards that need scoring or routing, model by model."""
        return [
            shard
            for shard in self.shards
            if shard.keys.shard_key not in self.scored or shard.keys.profile_key not in self.routed
        ]

    @property
    def unmeasured(self) -> list[Measurement]:
        """Measurements that are left, model by model."""
        return [one for one in self.measurements if one.key not in self.measured]

    @property
    def uncompared(self) -> list[BaselineUnit]:
        """Baselines that are left, model by model."""
        return [one for one in self.baselines if one.key not in self.compared]

    @property
    def unscored(self) -> list[Shard]:
        """Shards that need forward passes."""
        return [shard for shard in self.shards if shard.keys.shard_key not in self.scored]


class ModelWork(NamedTuple):
    """What is left to do for one model."""

    model_id: str
    shards: list[Shard]
    measurements: list[Measurement]


def by_model(plan: AuditPlan) -> list[ModelWork]:
    """What is left to do, in the order of the models: a worker then loads each of them once."""
    work = {card.id: ModelWork(card.id, [], []) for card in plan.study.models}
    for shard in plan.pending:
        work[shard.model.id].shards.append(shard)
    for measurement in plan.unmeasured:
        work[measurement.shard.model.id].measurements.append(measurement)
    return [one for one in work.values() if one.shards or one.measurements]


def look_ahead(study: Study, pairs: PairSet) -> list[str]:
    """Look for all that a run needs beside its pairs; remarks on what it will not use.

    A model that is to be trained needs what its recipe needs, any other one its weights.

    Raises
    ------
    BadInput
        With everything that is not there or cannot be used.
    """

    def foregrounds_are_there() -> tuple[str, ...]:
        alone = foregrounds(study, pairs)
        return () if alone is None else alone.remarks

    checks = [("score", check) for check in study.score.checks()]
    checks += [(card.id, check) for card in study.models for check in card.checks(study.workspace)]
    return carry_out([*checks, ("behaviours", foregrounds_are_there)])


def plan_audit(study: Study, pairs: PairSet) -> AuditPlan:
    """Compare the study's shards with the receipts; reads no input, writes nothing, needs no torch.

    Raises
    ------
    BadInput
        When weight files (all of them are named) or the warehouse cannot be used.
    """
    remarks = dict.fromkeys([*pairs.remarks, *look_ahead(study, pairs)])
    root = storage.resolved(study.warehouse)
    if storage.open(root).exists(layout.FORMAT):
        check_version(root)
    shards = tuple(plan_shards(study, pairs))
    alone = foregrounds(study, pairs)
    measurements = tuple(plan_measurements(study, shards, alone))
    scored = receipts.keys(root, "shards", study.study)
    routed = receipts.keys(root, "profiles", study.study)
    measured = receipts.keys(root, "measurements", study.study) if measurements else set()
    baselines = tuple(plan_baselines(study, pairs))
    compared = receipts.keys(root, "baselines", study.study) if baselines else set()
    outcomes = receipts.keys(root, "outcomes", study.study)
    run_id = run_id_of(study, shards, measurements, baselines)
    return AuditPlan(
        study=study,
        root=root,
        pairs=pairs,
        shards=shards,
        scored=frozenset(scored & {shard.keys.shard_key for shard in shards}),
        routed=frozenset(routed & {shard.keys.profile_key for shard in shards}),
        foregrounds=alone,
        measurements=measurements,
        measured=frozenset(measured & {one.key for one in measurements}),
        baselines=baselines,
        compared=frozenset(compared & {one.key for one in baselines}),
        remarks=tuple(remarks),
        is_finished=run_id in outcomes,
        is_current=run_id == _newest_run(root, study.study),
    )


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
    path = input_file(study.workspace, pairs.image_set)
    planned = naive = 0
    with ThreadPoolExecutor() as pool:
        for rows in pairs.blocks(study.sources_per_shard):
            block = pairs.block(rows)
            if path.exists():
                inputs = open_inputs(path)[block.image_positions]
            else:
                used = [pairs.images[position] for position in block.image_positions]
                inputs = np.stack(list(pool.map(study.data.read_image, used)))
            states = plan_states(block, channels_first(inputs), paths, study.grid)
            planned += states.state_count
            naive += states.naive_count
    return RowCount(planned, naive)


def run_id_of(
    study: Study,
    shards: tuple[Shard, ...],
    measurements: tuple[Measurement, ...] = (),
    baselines: tuple[BaselineUnit, ...] = (),
) -> str:
    """Digest of everything that the run will hold."""
    keys = [[shard.model.id, shard.keys.profile_key] for shard in shards]
    beside = [[one.key for one in measurements]] if measurements else []
    if baselines:
        beside.append({"baselines": [one.key for one in baselines]})
    if defined := definitions(study):
        beside.append(defined)
    return short(json_sha256([study.study, study.epsilon, keys, *beside]))


def _newest_run(root: Root, study: str) -> str | None:
    runs = list(receipts.read_kind(root, "runs", study))
    return max(runs, key=lambda receipt: receipt.committed_at).key if runs else None


def software() -> dict[str, str]:
    """Versions of what computes the numbers."""
    found = {name: version(name) for name in LIBRARIES}
    return {"decaf": version("decaf-audit"), "python": platform.python_version(), **found}
