"""What a worker needs to know to compute units of a plan."""

import platform
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from decaf.data.input_store import input_file
from decaf.data.pairs import PairBlock
from decaf.plan.units import Unit
from tasks.cluster.worker import ModelOrder
from tasks.plan import SCORED, AuditPlan
from tasks.units.bench import Order
from tasks.units.kinds import KINDS
from tasks.units.orders import commit_key

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


def order_of(
    plan: AuditPlan,
    units: tuple[Unit, ...],
    inputs: Path,
    images: Path | None,
) -> Order:
    """What a worker needs to know to compute units together.

    ``inputs`` is the file of the clean inputs, ``images`` that of the images that labels need.
    """
    study, first, kind = plan.study, units[0], KINDS[units[0].kind]
    blocks: list[PairBlock | None] = [None]
    if first.block is not None:
        rows = plan.blocks[first.block]
        parts = plan.pairs.parts(rows) if kind.uses_model else [rows]
        blocks = [plan.pairs.block(part) for part in parts]
    masks = input_file(study.workspace, plan.pairs.mask_set) if plan.pairs.masks else None
    needed = [need for unit in units for need in unit.needs]
    known = _stored_beside(plan, first)
    keys = {unit.key for unit in units}
    read = [unit for unit in (*needed, *known) if unit.key not in keys]
    own_model = None if first.model_id is None else model_order(plan, (*units, *needed))
    if kind.prepares:  # of the model that it is named after, if of any
        own = tuple(card for card in plan.given.models if card.id == first.name)
        study = plan.given.model_copy(update={"models": () if kind.is_local else own})
    elif not kind.is_local:
        study = study.model_copy(update={"paths": plan.fitted_paths, "models": ()})
    order = Order(
        root=plan.root,
        # A worker of a scheduler elsewhere may have been started in another folder.
        study=study.model_copy(update={"workspace": study.workspace.absolute()}),
        key=commit_key(units),
        units=units,
        model=own_model,
        block=None,
        source_positions=np.empty(0, np.int64),
        pairs=plan.pairs if kind.is_local else None,
        inputs=inputs,
        masks=masks and masks.absolute(),
        foregrounds=images,
        starts=plan.start_files if own_model else {},
        known=known,
        stored={} if kind.is_local else {unit.key: plan.commit_of(unit) for unit in read},
        software=software(),
        batch_size=plan.batch_size(first.model_id),
    )
    own, *others = (
        replace(
            order,
            block=block,
            source_positions=np.searchsorted(plan.source_ids, block.source_ids if block else []),
        )
        for block in blocks
    )
    return replace(own, others=tuple(others))


def _stored_beside(plan: AuditPlan, unit: Unit) -> tuple[Unit, ...]:
    """Stored scores of the same model and block, for a unit that goes through the model too."""
    if unit.kind not in SCORED:
        return ()
    return tuple(plan.stored_of_block.get((unit.model_id, unit.block), ()))


def model_order(plan: AuditPlan, units: Iterable[Unit]) -> ModelOrder:
    """What a worker needs to know of the model of units, which must be that of their parts."""
    scored = next(unit for unit in units if "weights" in unit.parts)
    return ModelOrder(
        card=next(card for card in plan.study.models if card.id == scored.model_id),
        weights=scored.parts["weights"],
        preprocessing=scored.parts["preprocessing"],
        device=plan.study.device,
        columns=plan.pairs.columns,
    )


@cache
def software() -> dict[str, str]:
    """Versions of what computes the numbers; of an extra that is not installed, nothing does."""
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return {"decaf": version("decaf-audit"), "python": platform.python_version(), **found}
