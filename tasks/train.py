"""Train the models of a study that have a recipe instead of a weight file."""

from dataclasses import dataclass
from pathlib import Path

from distributed import Client

from decaf.models.trainable import TrainableCard
from decaf.plan.preparation import untrained
from decaf.plan.study import Study
from tasks.cluster.drive import drive
from tasks.cluster.worker import choose_device
from tasks.progress import progress_of


@dataclass(frozen=True)
class TrainingOrder:
    """What a worker is told to train, and in which folder its file goes."""

    model: TrainableCard
    workspace: Path
    device: str


def run_training(order: TrainingOrder) -> str:
    """Train one model on a worker; returns at once when its file is there."""
    order.model.train(order.workspace, choose_device(order.device))
    return order.model.id


def train_models(client: Client, study: Study) -> None:
    """Train what is missing, one model per worker at a time.

    Reads recipes; writes one file per model under the workspace. What is there is not trained
    again, and a training that fails stops no other.

    Raises
    ------
    BadInput
        When trainings failed because of what was given: all models that failed, and why.
    ScoringFailed
        When they failed for another reason.
    """
    missing = untrained(study)
    if not missing:
        return
    orders = [TrainingOrder(card, study.workspace.absolute(), study.device) for card in missing]
    with progress_of(len(orders), "models trained") as progress:
        drive(
            client,
            run_training,
            orders,
            [card.id for card in missing],
            lambda model_id: progress.advance(model_id, 0),
        )


def with_trained_models(study: Study) -> Study:
    """The study without the models that wait for their training."""
    missing = untrained(study)
    return study.model_copy(
        update={"models": tuple(card for card in study.models if card not in missing)}
    )
