"""Models that trainings have made: what of a study can be scored."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from decaf.models.card import ModelCard
from decaf.models.trainable import TrainableCard
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.units.scope import of_kind
from tasks.units.train import checkpoint, trainable, training_of
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

    Parameters
    ----------
    units
        Trainings and choices of the study.
    made
        Commits by the keys of those that are done.

    Raises
    ------
    WarehouseError
        When a choice cannot be read.
    """
    trainings, choices = (of_kind(units, kind) for kind in ("train", "choose"))
    choice_of = {unit.name: unit for unit in choices}
    training_by_id = {card.id: training_of(card, trainings) for card in trainable(study)}
    models: list[ModelCard] = []
    waiting: list[TrainableCard] = []
    trained_by: dict[str, Unit] = {}

    def of_training(card: TrainableCard, training: Unit) -> Iterator[TrainableCard]:
        file = checkpoint(training, study, card)
        if card.id not in choice_of:
            yield card.trained(file)
            return
        choice = choice_of[card.id].key
        rows = read_unit(root, study.study, made[choice], choice, "chosen_epochs")
        for epoch in rows["epoch"].to_pylist():
            yield card.at_epoch(epoch).trained(file)

    for card in study.models:
        training = training_by_id.get(card.id)
        makers = [training, choice_of.get(card.id)] if training else []
        if any(unit is not None and unit.key not in made for unit in makers):
            waiting.append(card)
        elif training is None:
            models.append(card)
        else:
            own = list(of_training(card, training))
            models += own
            trained_by |= dict.fromkeys((model.id for model in own), training)
    return Trained(tuple(models), tuple(waiting), trained_by)
