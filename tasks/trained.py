"""Assign checkpoints of finished trainings to the models of a study."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from decaf.models.card import ModelCard
from decaf.models.trainable import TrainableCard
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.units.scope import of_kind
from tasks.units.train import checkpoint, has_recipe, training_of
from warehouse.commits.stored import read_unit
from warehouse.storage import Storage


class TrainedModels(NamedTuple):
    """Models of a study, divided into those that can be scored and those that wait."""

    cards: tuple[ModelCard, ...]
    """All models; a model whose rule chose several epochs is several models."""
    waiting: tuple[TrainableCard, ...]
    """Models whose training, or choice of epochs, is not done."""
    trained_by: Mapping[str, Unit]
    """Trainings of the trained models, by the id of the model."""

    @property
    def models(self) -> tuple[ModelCard, ...]:
        """Models that can be scored."""
        waiting = {card.id for card in self.waiting}
        return tuple(card for card in self.cards if card.id not in waiting)


def assign_checkpoints(
    study: Study, store: Storage, units: Sequence[Unit], commits: Mapping[str, str]
) -> TrainedModels:
    """Give every model the file that its training made.

    ``units`` include the trainings and choices of the study; ``commits`` has the commits of
    finished ones by their keys. Raises WarehouseError if a choice cannot be read.
    """
    trainings = of_kind(units, "train")
    choice_of = {unit.name: unit for unit in of_kind(units, "choose")}
    cards: list[ModelCard] = []
    waiting: list[TrainableCard] = []
    trained_by: dict[str, Unit] = {}
    for card in study.models:
        if not has_recipe(card):
            cards.append(card)
            continue
        training, choice = training_of(card, trainings), choice_of.get(card.id)
        if training.key not in commits or (choice and choice.key not in commits):
            cards.append(card)
            waiting.append(card)
            continue
        audited = [card]
        if choice is not None:
            chosen = read_unit(store, study.study, commits[choice.key], choice.key, "chosen_epochs")
            audited = [card.at_epoch(epoch) for epoch in chosen["epoch"].to_pylist()]
        file = checkpoint(training, study.workspace, card)
        cards += [each.with_checkpoint(file) for each in audited]
        trained_by |= dict.fromkeys((each.id for each in audited), training)
    return TrainedModels(tuple(cards), tuple(waiting), trained_by)
