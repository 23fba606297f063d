"""Models on trial: a worker loads each and scores one clean input, before anything else is done.

Where inputs differ in shape, these are two: one of the smallest and one of the largest.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from distributed import Client
from numpy.typing import NDArray

from decaf.data.input_store import channels_first
from decaf.errors import DecafError, number_of
from decaf.models.card import Model
from decaf.models.sources.network import NetworkCard
from decaf.plan.cluster import LocalWorkers
from decaf.scoring.scores.base import ScoreDefinition
from decaf.scoring.states import on_device
from tasks.cluster.drive import attempt, common_error
from tasks.cluster.user_code import user_code
from tasks.cluster.worker import ModelOrder, choose_device, loaded_model
from tasks.cluster.worker_deaths import limited
from tasks.cluster.worker_errors import plain_error
from tasks.cluster.workers import connect
from tasks.input_shape import sample
from tasks.order import model_order
from tasks.plan import SCORED, AuditPlan
from tasks.progress import announce


class Trial(NamedTuple):
    """A model, and what it has to answer."""

    model: ModelOrder
    score: ScoreDefinition
    inputs: tuple[Callable[[], NDArray[Any]], ...]
    """Each reads one of the clean inputs, (1, …)."""


def try_model(trial: Trial) -> None:
    """Load a model, untrained if it waits for that, and score clean inputs one by one.

    Raises what the model raises; of several inputs, the message says the shape of the one.
    """
    import torch

    card = trial.model.card
    if isinstance(card, NetworkCard) and card.is_untrained:
        with limited(card.timeout):
            model: Model = card.load_untrained(choose_device(trial.model.device))
    else:
        model = loaded_model(trial.model).model
    for read in trial.inputs:
        given = channels_first(read())
        try:
            with torch.inference_mode():
                trial.score.values(model.outputs(on_device(given, model.device)), model.output)
        except Exception as error:
            if len(trial.inputs) == 1:
                raise
            failed = plain_error(error)
            raise type(failed)(f"an input of shape {given.shape[1:]}: {failed}") from error


def unusable_models(client: Client, plan: AuditPlan) -> dict[str, DecafError]:
    """Try every model that has to be scored on a worker.

    Returns, by the model, the error of each that cannot be loaded, that gives no answer, or whose
    outputs do not fit the score. Raises OrchestrationLost when the scheduler is gone.
    """
    return _failed(client, plan, _scored(plan))


def refuse_unusable(plan: AuditPlan) -> int:
    """Try the models of a plan, as :func:`tried` does; returns how many.

    Raises the error that the run would end with: BadInput when models do not fit what was given,
    ScoringFailed when they fail otherwise.
    """
    count, failed = tried(plan)
    if failed:
        told = "\n".join(f"{model_id}: {error}" for model_id, error in failed.items())
        raise common_error([*failed.values()], told)
    return count


def tried(plan: AuditPlan) -> tuple[int, dict[str, DecafError]]:
    """Try the models of a plan as the run will, on workers of its cluster.

    Returns how many, and the error of each that cannot be used, by the model.
    A model behind an address, or on a server that would have to be started, is left to the run; so
    is an estimator that is to be fitted, of which nothing is known.
    Writes nothing; reads one input or two.
    """
    study = plan.given
    orders = _scored(plan) | {
        card.id: ModelOrder(card, "", "", study.device, plan.pairs.columns)
        for card in plan.waiting
        if isinstance(card, NetworkCard)
    }
    orders = {name: order for name, order in orders.items() if not order.card.is_elsewhere}
    if not orders:
        return 0, {}
    cluster = study.cluster
    if isinstance(cluster, LocalWorkers):
        fewer = {"workers": min(cluster.workers, len(orders))}
        cluster = cluster.model_copy(update=fewer)
    with connect(cluster, user_code(study), Path(os.devnull)) as client:
        return len(orders), _failed(client, plan, orders)


def _scored(plan: AuditPlan) -> dict[str, ModelOrder]:
    """Every model that has any forward pass to do."""
    units = {unit.model_id: unit for unit in plan.pending if unit.kind in SCORED}
    return {model_id: model_order(plan, (unit,)) for model_id, unit in units.items()}


def _failed(
    client: Client, plan: AuditPlan, orders: dict[str, ModelOrder]
) -> dict[str, DecafError]:
    if orders:
        most = "at most " if plan.may_stop else ""
        todo = f"{most}{number_of(len(plan.pending), 'unit')} of work to do"
        announce(f"{todo}; trying {number_of(len(orders), 'model')} first")
    inputs = plan.pairs.input_set
    given = tuple(sample(plan.given, inputs, number) for number in inputs.extremes if orders)
    trials = [Trial(order, plan.study.score, given) for order in orders.values()]
    return attempt(client, try_model, trials, list(orders), lambda _: None)
