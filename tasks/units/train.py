"""Trainings: the files of models that have a recipe instead of a file."""

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
    """One unit a training, named after the first model that it is of.

    Studies that share a workspace share its files: the same training is the same file. Models whose
    trainings are equal have one, whichever of its epochs they audit.
    """

    name = "train"
    code = 1
    tables = (MADE_FILES,)
    uses_model = False
    prepares = True

    def plan(self, scope: Scope, planned: Sequence[Unit]) -> Iterator[Unit]:
        """One for every training of the study."""
        units: dict[str, Unit] = {}
        for card in filter(has_recipe, scope.study.models):
            parts = card.training_parts | {"code": str(self.code)}
            units.setdefault(json_sha256(parts), Unit(self.name, card.id, None, None, parts))
        yield from units.values()

    def run(self, bench: Bench, units: Sequence[Unit]) -> Results:
        """What each file is of, and what came out of the training by then."""
        (unit,) = units
        study = bench.task.study
        card = _first_card(unit, study)
        last = checkpoint(unit, study, card)
        card.train(last, choose_device(study.device))
        made = [
            (file, epoch, json.dumps(read_outcome(file)))
            for epoch, file in _files(card, last).items()
        ]
        return {"made_files": file_rows(unit.key, study.workspace, made)}

    def files(self, unit: Unit, study: Study) -> tuple[Path, ...]:
        """The file that the training ends with, and those of the epochs that it keeps."""
        card = _first_card(unit, study)
        return tuple(_files(card, checkpoint(unit, study, card)).values())


def has_recipe(card: ModelCard) -> TypeGuard[TrainableCard]:
    """Whether the study trains a model itself."""
    return isinstance(card, TrainableCard) and card.training is not None


def training_of(card: TrainableCard, trainings: Iterable[Unit]) -> Unit:
    """The training of a model among those of its study, in whichever edition."""
    parts = card.training_parts
    return next(unit for unit in trainings if parts.items() <= unit.parts.items())


def checkpoint(unit: Unit, study: Study, card: TrainableCard) -> Path:
    """The file that a training ends with; another recipe or edition has another one."""
    file = f"{unit.name}-{unit.key}{card.trained_suffix}"
    return (study.workspace / "checkpoints" / file).absolute()


def _first_card(unit: Unit, study: Study) -> TrainableCard:
    return next(card for card in study.models if card.id == unit.name)


def _files(card: TrainableCard, last: Path) -> dict[int | None, Path]:
    """Files of a training by their epochs; None is the end, where ``last`` is made."""
    kept = {epoch: epoch_file(last, epoch) for epoch in card.kept_epochs}
    return {None: last, **kept}
