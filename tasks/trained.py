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
from warehouse.storage import Storage


class Trained(NamedTuple):
    """The models of a study, by whether they can be scored."""

    cards: tuple[ModelCard, ...]
    """All of them; a model whose rule chose several epochs is several models."""
    waiting: tuple[TrainableCard, ...]
    """Those whose training, or the choice of its epochs, is not done."""
    trained_by: Mapping[str, Unit]
    """Trainings of the others, by the id of the model."""

    @property
    def models(self) -> tuple[ModelCard, ...]:
        """Those that can be scored."""
        waiting = {card.id for card in self.waiting}
        return tuple(card for card in self.cards if card.id not in waiting)


def trained(
    study: Study, store: Storage, units: Sequence[Unit], made: Mapping[str, str]
) -> Trained:
    """Give every model the file that its training made.

    Among the units are the trainings and choices of the study; ``made`` has commits by the keys of
    those that are done. Raises WarehouseError when a choice cannot be read.
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
        if training.key not in made or (choice and choice.key not in made):
            cards.append(card)
            waiting.append(card)
            continue
        audited = [card]
        if choice is not None:
            chosen = read_unit(store, study.study, made[choice.key], choice.key, "chosen_epochs")
            audited = [card.at_epoch(epoch) for epoch in chosen["epoch"].to_pylist()]
        file = checkpoint(training, study, card)
        cards += [own.trained(file) for own in audited]
        trained_by |= dict.fromkeys((own.id for own in audited), training)
    return Trained(tuple(cards), tuple(waiting), trained_by)
