"""Models that trainings have made: what of a study can be scored."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from decaf.models.card import ModelCard
from decaf.models.trainable import TrainableCard
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.units.scope import of_kind
from tasks.units.train import checkpoint, has_recipe, training_of
from warehouse.commits.stored import read_unit
from warehouse.storage import Root


class Trained(NamedTuple):
    """The models of a study, by whether they can be scored."""

    models: tuple[ModelCard, ...]
    """Those that can; a model whose rule chose several epochs is several models."""
    waiting: tuple[TrainableCard, ...]
    """Those whose training, or the choice of its epochs, is not done."""
    trained_by: Mapping[str, Unit]
    """Trainings by the id of the model."""


def trained(study: Study, root: Root, units: Sequence[Unit], made: Mapping[str, str]) -> Trained:
    """Give every model the file that its training made.

    Among the units are the trainings and choices of the study; ``made`` has commits by the keys of
    those that are done. Raises WarehouseError when a choice cannot be read.
    """
    trainings = of_kind(units, "train")
    choice_of = {unit.name: unit for unit in of_kind(units, "choose")}
    models: list[ModelCard] = []
    waiting: list[TrainableCard] = []
    trained_by: dict[str, Unit] = {}
    for card in study.models:
        if not has_recipe(card):
            models.append(card)
            continue
        training, choice = training_of(card, trainings), choice_of.get(card.id)
        if training.key not in made or (choice and choice.key not in made):
            waiting.append(card)
            continue
        cards = [card]
        if choice is not None:
            chosen = read_unit(root, study.study, made[choice.key], choice.key, "chosen_epochs")
            cards = [card.at_epoch(epoch) for epoch in chosen["epoch"].to_pylist()]
        file = checkpoint(training, study, card)
        models += [own.trained(file) for own in cards]
        trained_by |= dict.fromkeys((own.id for own in cards), training)
    return Trained(tuple(models), tuple(waiting), trained_by)
