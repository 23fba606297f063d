"""Trainings: make the files of models that have a recipe."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeGuard

from decaf.foundation.digests import json_sha256
from decaf.models.card import ModelCard
from decaf.models.trainable import TrainableCard
from decaf.models.training.files import epoch_file, read_outcome
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.cluster.worker import choose_device
from tasks.units.bench import Bench
from tasks.units.kind import Kind, Results
from tasks.units.rows import file_rows
from tasks.units.scope import Scope
from warehouse.tables.declarations import MADE_FILES


class Train(Kind):
    """One unit for each training, named after its first model.

    Models with equal trainings share one, even if they audit different epochs. Studies that share a
    workspace share its files.
    """

    name = "train"
    code = 1
    tables = (MADE_FILES,)
    uses_model = False
    prepares = True

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One unit for every training of the study."""
        units: dict[str, Unit] = {}
        for card in filter(has_recipe, scope.study.models):
            parts = card.training_parts | {"code": str(self.code)}
            units.setdefault(json_sha256(parts), Unit(self.name, card.id, None, None, parts))
        yield from units.values()

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """Train a model; returns the epoch and the outcome of each file."""
        (unit,) = units
        study = bench.task.study
        card = _first_card(unit, study)
        last = checkpoint(unit, study.workspace, card)
        card.train(last, choose_device(study.device))
        made_files = [
            (file, epoch, json.dumps(read_outcome(file)))
            for epoch, file in _files(card, last).items()
        ]
        return {"made_files": file_rows(unit.key, study.workspace, made_files)}

    def files(self, unit: Unit, study: Study) -> tuple[Path, ...]:
        """Final file of the training, and files of the epochs that it keeps."""
        card = _first_card(unit, study)
        return tuple(_files(card, checkpoint(unit, study.workspace, card)).values())


def has_recipe(card: ModelCard) -> TypeGuard[TrainableCard]:
    """True if the study trains the model itself."""
    return isinstance(card, TrainableCard) and card.training is not None


def training_of(card: TrainableCard, trainings: Iterable[Unit]) -> Unit:
    """Training of a model among those of its study, in any edition."""
    parts = card.training_parts
    return next(unit for unit in trainings if parts.items() <= unit.parts.items())


def checkpoint(unit: Unit, workspace: Path, card: TrainableCard) -> Path:
    """Final file of a training; other recipes and editions have other files."""
    file = f"{unit.name}-{unit.key}{card.trained_suffix}"
    return (workspace / "checkpoints" / file).absolute()


def _first_card(unit: Unit, study: Study) -> TrainableCard:
    return next(card for card in study.models if card.id == unit.name)


def _files(card: TrainableCard, last: Path) -> dict[int | None, Path]:
    """Files of a training by their epochs; ``last``, at the end, has the key None."""
    epoch_files = {epoch: epoch_file(last, epoch) for epoch in card.kept_epochs}
    return {None: last, **epoch_files}
