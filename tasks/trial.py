"""Models on trial: a worker loads each and scores a few clean inputs, before anything else is done.

One input has to have an answer that fits the score; where inputs differ in shape, one of the
smallest and one of the largest. Then a few inputs of one shape are scored in several batches, since
the score of an input must depend on that input alone (:mod:`decaf.scoring.consistency`).
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from decaf.data.input_store import channels_first
from decaf.data.pairs import PairSet
from decaf.errors import DecafError, UnstableScore, number_of
from decaf.models.card import Model
from decaf.models.network_faults import remark_on_outputs
from decaf.models.sources.network import NetworkCard
from decaf.plan.class_names import contradictions
from decaf.plan.cluster import LocalWorkers
from decaf.scoring.consistency import NOISE, PROBES, UNKNOWN_NOISE, check_consistency
from decaf.scoring.scores.base import ScoreDefinition
from decaf.scoring.states import on_device
from tasks.cluster.drive import attempt, common_error
from tasks.cluster.user_code import user_code
from tasks.cluster.worker import (
    ModelOrder,
    choose_device,
    held_memory,
    loaded_model,
    peak_memory,
)
from tasks.cluster.worker_deaths import limited
from tasks.cluster.worker_errors import plain_error
from tasks.cluster.workers import connect
from tasks.input_shape import sample
from tasks.memory import FLOAT, Footprint, largest_batch
from tasks.order import model_order
from tasks.plan import SCORED, AuditPlan
from tasks.progress import announce


class Trial(NamedTuple):
    """A model, and what it has to answer."""

    model: ModelOrder
    score: ScoreDefinition
    inputs: tuple[Callable[[], NDArray[Any]], ...]
    """Each reads one of the clean inputs, (1, …)."""
    probes: tuple[Callable[[], NDArray[Any]], ...]
    """Each reads a clean input, (1, …), all of one shape: the inputs of the batches."""
    batch_size: int
    """Rows of a full batch."""
    epsilon: float
    is_measured: bool = False
    """Whether it is asked for, too, what a pass of several like the last takes of the memory."""

    @property
    def is_network(self) -> bool:
        """Whether the model's memory is that of its tensors."""
        return isinstance(self.model.card, NetworkCard)


def try_model(trial: Trial) -> Footprint | None:
    """Load a model, untrained if it waits for that, and score clean inputs alone and in batches.

    Returns what it takes of the memory, where that is asked for and the model is a network. Raises
    what the model raises; of several inputs, the message says the shape of the one. Raises
    UnstableScore when the score of an input depends on its batch, or differs at the next query.
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
    is_measured = trial.is_measured and trial.is_network
    footprint = _footprint(trial, model, given) if is_measured else None
    if card.stochastic is None or card.stochastic.seed:
        _check_batches(trial, model)
    return footprint


def _check_batches(trial: Trial, model: Model) -> None:
    """Compare the scores of a few inputs in several batches."""
    import torch

    inputs = on_device(
        np.concatenate([channels_first(read()) for read in trial.probes]), model.device
    )
    if len(inputs) == 1:  # a darker image, or half of each value of a row, is another input
        inputs = torch.cat([inputs, inputs / 2])

    def score(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        batch = inputs[torch.from_numpy(rows.copy()).to(model.device)]
        with torch.inference_mode():
            return trial.score.values(model.outputs(batch), model.output).cpu().numpy()

    precision = getattr(trial.model.card, "precision", None)
    noise = NOISE[precision] if precision else UNKNOWN_NOISE
    try:
        check_consistency(score, len(inputs), trial.batch_size, trial.epsilon, noise)
    except UnstableScore as error:
        raise UnstableScore(
            f"{error}; or set 'batch_size: 1' in the study, or, for a model that draws, "
            "'stochastic: {repeats: 8}' on its card"
        ) from error


def _footprint(trial: Trial, model: Model, given: NDArray[Any]) -> Footprint:
    from decaf.scoring.footprint import bytes_per_row

    held, peak = held_memory(model.device), peak_memory(model.device)
    is_on_gpu, is_levels = model.device.type == "cuda", given.dtype == np.uint8
    as_taken = given.size * FLOAT if is_levels else given.nbytes
    return Footprint(
        model_id=trial.model.card.id,
        is_on_gpu=is_on_gpu,
        held=held,
        peak=peak,
        per_row=bytes_per_row(model, trial.score, on_device(given, model.device)),
        # The host keeps what was read while a block is scored; arrays become tensors in place.
        per_input=as_taken + (given.nbytes if is_levels and not is_on_gpu else 0),
        per_conversion=as_taken if is_levels else 0,
        per_locked=given.nbytes if is_on_gpu else 0,
        weights=model.weight_bytes,
    )


def try_with_remarks(trial: Trial) -> tuple[Footprint | None, tuple[str, ...]]:
    """Try a model as :func:`try_model` does; returns its remarks, too, with its name."""
    footprint, card = try_model(trial), trial.model.card
    if isinstance(card, NetworkCard):
        remarks = _remarks_on_network(trial, card)
    else:
        remarks = getattr(loaded_model(trial.model).model, "remarks", ())
    return footprint, tuple(f"{card.id}: {remark}" for remark in remarks)


def _remarks_on_network(trial: Trial, card: NetworkCard) -> tuple[str, ...]:
    """Remark on outputs of a network whose card has no `output:`."""
    import torch

    if card.is_untrained or "output" in card.model_fields_set:
        return ()
    model = loaded_model(trial.model).model
    inputs = np.concatenate([channels_first(read()) for read in trial.probes])
    with torch.inference_mode():
        remark = remark_on_outputs(model.outputs(on_device(inputs, model.device)))
    return (remark,) if remark else ()


def unusable_models(client: Client, plan: AuditPlan) -> dict[str, DecafError]:
    """Try every model that has to be scored on a worker.

    Returns, by the model, the error of each that cannot be loaded, that gives no answer, or whose
    outputs do not fit the score. Raises OrchestrationLost when the scheduler is gone.
    """
    return _failed(client, plan, scored_models(plan))


def refuse_unusable(plan: AuditPlan, on_measured: Callable[[Footprint], None] | None = None) -> int:
    """Try the models of a plan, as :func:`tried` does; returns how many.

    Raises the error that the run would end with: BadInput when models do not fit what was given,
    ScoringFailed when they fail otherwise.
    """
    count, failed = tried(plan, on_measured)
    if failed:
        told = "\n".join(f"{model_id}: {error}" for model_id, error in failed.items())
        raise common_error([*failed.values()], told)
    return count


def tried(
    plan: AuditPlan, on_measured: Callable[[Footprint], None] | None = None
) -> tuple[int, dict[str, DecafError]]:
    """Try the models of a plan as the run will, on workers of its cluster.

    Returns how many, and the error of each that cannot be used, by the model; hands over what each
    network takes of the memory to who asks for it.
    A model behind an address, or on a server that would have to be started, is left to the run; so
    is an estimator that is to be fitted, of which nothing is known.
    Writes nothing; reads a few inputs.
    """
    study = plan.given
    orders = scored_models(plan) | {
        card.id: ModelOrder(card, "", "", study.device, plan.pairs.columns)
        for card in plan.waiting
        if isinstance(card, NetworkCard)
    }
    refused = _refuse_columns(orders)
    orders = {name: order for name, order in orders.items() if not order.card.is_elsewhere}
    if not orders:
        return 0, refused
    cluster = study.cluster
    if isinstance(cluster, LocalWorkers):
        fewer = {"workers": min(cluster.workers, len(orders))}
        cluster = cluster.model_copy(update=fewer)
    with connect(cluster, user_code(study), Path(os.devnull)) as client:
        return len(orders), refused | _failed(client, plan, orders, on_measured)


def _refuse_columns(orders: Mapping[str, ModelOrder]) -> dict[str, DecafError]:
    """Error by model of each that another process answers and that cannot take the columns."""
    errors: dict[str, DecafError] = {}
    for name, order in orders.items():
        if order.card.is_elsewhere:
            try:
                order.card.check_columns(order.columns)
            except DecafError as error:
                errors[name] = error
    return errors


def scored_models(plan: AuditPlan) -> dict[str, ModelOrder]:
    """Every model that has any forward pass to do."""
    units = {unit.model_id: unit for unit in plan.pending if unit.kind in SCORED}
    return {model_id: model_order(plan, (unit,)) for model_id, unit in units.items()}


def _failed(
    client: Client,
    plan: AuditPlan,
    orders: dict[str, ModelOrder],
    on_measured: Callable[[Footprint], None] | None = None,
) -> dict[str, DecafError]:
    def report(tried_model: tuple[Footprint | None, tuple[str, ...]]) -> None:
        footprint, remarks = tried_model
        for remark in remarks:
            announce(remark)
        if footprint and on_measured:
            on_measured(footprint)

    cards = {model_id: order.card for model_id, order in orders.items()}
    unusable = contradictions(cards, plan.pairs, plan.study.score)
    orders = {model_id: order for model_id, order in orders.items() if model_id not in unusable}
    if orders:
        most = "at most " if plan.may_stop else ""
        todo = f"{most}{number_of(len(plan.pending), 'unit')} of work to do"
        announce(f"{todo}; trying {number_of(len(orders), 'model')} first")
    trials = trials_of(plan, orders, is_measured=on_measured is not None)
    return {**unusable, **attempt(client, try_with_remarks, trials, list(orders), report)}


def trials_of(
    plan: AuditPlan, orders: Mapping[str, ModelOrder], *, is_measured: bool = False
) -> list[Trial]:
    """Trials of some models of a plan, with the inputs that they are given."""
    study, inputs = plan.study, plan.pairs.input_set

    def read(positions: Sequence[int]) -> tuple[Callable[[], NDArray[Any]], ...]:
        return tuple(sample(plan.given, inputs, place) for place in positions)

    extremes, probes = (read(inputs.extremes), read(_probes(plan.pairs))) if orders else ((), ())
    rows = largest_batch(study, plan.pairs)
    return [
        Trial(order, study.score, extremes, probes, rows, study.epsilon, is_measured)
        for order in orders.values()
    ]


def _probes(pairs: PairSet) -> list[int]:
    """Positions of a few inputs of one shape: both inputs of the first pairs and of the last."""
    ends = (*pairs.pairs[:PROBES], *pairs.pairs[-PROBES:])
    positions = dict.fromkeys(place for pair in ends for place in (pair.plus, pair.minus))
    shape = pairs.inputs[pairs.pairs[0].plus].shape
    return [place for place in positions if pairs.inputs[place].shape == shape][:PROBES]
