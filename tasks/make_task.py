"""Make tasks, which have all that a worker needs to compute units of a plan."""

import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from decaf.data.input_store import input_file
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.cluster.worker import TaskModel
from tasks.plan import AuditPlan
from tasks.run_work import SCORED
from tasks.units.bench import BlockPart, Destination, InputFiles, StoredUnits, Task
from tasks.units.kind import Kind
from tasks.units.kinds import KINDS
from tasks.units.run_task import commit_key

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


def make_task(
    plan: AuditPlan,
    units: tuple[Unit, ...],
    inputs: Path,
    images: Path | None,
) -> Task:
    """Make the task of units that are computed together.

    ``inputs`` is the file of the clean inputs, ``images`` the file of the images that labels need.
    """
    first, kind = units[0], KINDS[units[0].kind]
    needed = [need for unit in units for need in unit.needs]
    model = None if first.model_id is None else task_model(plan, (*units, *needed))
    study = _study_for(plan, first, kind)
    return Task(
        units=units,
        model=model,
        # A worker on another machine may have another working directory.
        study=study.model_copy(update={"workspace": study.workspace.absolute()}),
        pairs=plan.pairs if kind.is_local else None,
        parts=tuple(_parts(plan, first, kind)),
        files=_files(plan, inputs, images, has_model=model is not None),
        stored=_stored_units(plan, units, needed, kind),
        destination=Destination(plan.store, study.study, commit_key(units), software()),
        batch_size=plan.batch_size(first.model_id),
    )


def _study_for(plan: AuditPlan, unit: Unit, kind: Kind) -> Study:
    """The study with the models and paths that units of a kind need."""
    if kind.prepares:  # the model that the unit is named after, if any
        cards = tuple(card for card in plan.configuration.models if card.id == unit.name)
        return plan.configuration.model_copy(update={"models": () if kind.is_local else cards})
    if kind.is_local:
        return plan.study
    return plan.study.model_copy(update={"paths": plan.fitted_paths, "models": ()})


def _parts(plan: AuditPlan, unit: Unit, kind: Kind) -> Iterator[BlockPart]:
    """Pairs of a unit; if they go through a model, one part for each shape of inputs."""
    if unit.block is None:
        yield BlockPart(None, np.empty(0, np.int64))
        return
    rows = plan.blocks[unit.block]
    for part in plan.pairs.split_by_shape(rows) if kind.uses_model else [rows]:
        block = plan.pairs.block(part)
        yield BlockPart(block, np.searchsorted(plan.source_ids, block.source_ids))


def _files(plan: AuditPlan, inputs: Path, images: Path | None, *, has_model: bool) -> InputFiles:
    masks = None
    if plan.pairs.masks:
        masks = input_file(plan.study.workspace, plan.pairs.mask_set).absolute()
    return InputFiles(inputs, masks, images, plan.start_files if has_model else {})


def _stored_units(
    plan: AuditPlan, units: Sequence[Unit], needed: Sequence[Unit], kind: Kind
) -> StoredUnits:
    """Stored units that a task reads: those that its units need, and scores of its block.

    The scores are those of other paths of the block, and of coarser grids of the scored paths.
    """
    first, block_units = units[0], ()
    coarser: list[tuple[Unit, str]] = []
    if first.kind in SCORED:
        block_units = tuple(plan.work.stored_by_block.get((first.model_id, first.block), ()))
        coarser = [plan.coarser_units[u.key] for u in units if u.key in plan.coarser_units]
    if kind.is_local:
        return StoredUnits(block_units)
    keys = {unit.key for unit in units}
    commits = {
        unit.key: plan.work.commit_of(unit)
        for unit in (*needed, *block_units)
        if unit.key not in keys
    }
    commits |= {unit.key: commit for unit, commit in coarser}
    return StoredUnits((*block_units, *(unit for unit, _ in coarser)), commits)


def task_model(plan: AuditPlan, units: Iterable[Unit]) -> TaskModel:
    """Model of a task, with the digests in the parts of its units."""
    scored = next(unit for unit in units if "weights" in unit.parts)
    return TaskModel(
        card=next(card for card in plan.study.models if card.id == scored.model_id),
        weights=scored.parts["weights"],
        preprocessing=scored.parts["preprocessing"],
        device=plan.study.device,
        columns=plan.pairs.columns,
    )


@cache
def software() -> dict[str, str]:
    """Versions of Python, decaf and the installed libraries that compute numbers."""
    versions = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {"decaf": version("decaf-audit"), "python": platform.python_version(), **versions}
