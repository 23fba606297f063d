"""Try models before a run: a worker loads each model and scores a few clean inputs.

The outputs for one input must fit the score; if shapes differ, also for a smallest and a largest
input. Then a few inputs of one shape are scored in several batches, since the score of an input
must depend on that input alone (:mod:`decaf.scoring.consistency`).
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
from decaf.errors import DecafError, ModelError, UnstableScore, number_of
from decaf.foundation.arrays import Tensor
from decaf.models.card import Model
from decaf.models.estimators.class_order import UnorderedClasses
from decaf.models.network_faults import remark_on_mean, remark_on_outputs
from decaf.models.sources.network import NetworkCard
from decaf.plan.class_names import class_name_errors
from decaf.plan.cluster import LocalWorkers
from decaf.scoring.batches import (
    LEAST_ROWS,
    Call,
    TimedScorer,
    choose_batch,
    growing_sizes,
    largest_batch,
)
from decaf.scoring.consistency import NOISE, PROBES, UNKNOWN_NOISE, check_consistency, score_full
from decaf.scoring.scores.base import ScoreDefinition
from decaf.scoring.states import on_device
from tasks.cluster.drive import attempt, common_error
from tasks.cluster.user_code import user_code
from tasks.cluster.worker import (
    TaskModel,
    choose_device,
    held_memory,
    load_model,
    peak_memory,
)
from tasks.cluster.worker_deaths import limit_seconds
from tasks.cluster.worker_errors import plain_error
from tasks.cluster.workers import connect
from tasks.input_shape import sample
from tasks.make_task import task_model
from tasks.memory import FLOAT, Footprint, largest_block
from tasks.plan import AuditPlan
from tasks.progress import announce
from tasks.run_work import SCORED
from tasks.sizes import Pace
from tasks.tried_changes import TriedChanges, remark_on_changes, select_changes

REPEAT_RATIO = 100
"""A long call is measured again if a block has at least this many times the rows of the call.

A busy machine may have delayed the call, and a batch or block that is too small costs far more.
"""


class Trial(NamedTuple):
    """A model with the inputs and settings of its trial."""

    model: TaskModel
    score: ScoreDefinition
    inputs: tuple[Callable[[], NDArray[Any]], ...]
    """Functions that each read one clean input, (1, …)."""
    probes: tuple[Callable[[], NDArray[Any]], ...]
    """Functions that each read an input of the batches, (1, …); all have one shape."""
    batch_size: int | None
    """Rows of a full batch; None if the trial chooses them."""
    state_count: int
    """States of the largest block, which no batch exceeds."""
    epsilon: float
    changes: TriedChanges
    """Changes of pairs on which there may be remarks."""
    class_names: Sequence[str]
    """Names of the study's classes 0, 1, …, as far as they are known."""
    is_measured: bool = False
    """True to measure the memory of a forward pass, too."""

    @property
    def is_network(self) -> bool:
        """True if the model's memory is that of its tensors."""
        return isinstance(self.model.card, NetworkCard)


class TriedModel(NamedTuple):
    """Measurements of a model that can be used."""

    model_id: str
    pace: Pace
    footprint: Footprint | None
    """Memory of a network; None if the trial does not measure it."""
    remarks: tuple[str, ...] = ()
    """Sentences about the model, for the user and the report."""


class TriedModels(NamedTuple):
    """Measurements of the models of a plan, and errors of those that cannot be used, by model."""

    errors: dict[str, DecafError]
    models: dict[str, TriedModel]
    worker_count: int
    """Workers of the cluster that tried them."""

    @property
    def paces(self) -> dict[str, Pace]:
        """Speed by model."""
        return {model_id: model.pace for model_id, model in self.models.items()}

    @property
    def remarks(self) -> dict[str, tuple[str, ...]]:
        """Remarks by model, also for models without any."""
        return {model_id: model.remarks for model_id, model in self.models.items()}


def try_model(trial: Trial) -> TriedModel:
    """Load a model, or build a network that waits for its training, and score clean inputs.

    Raises the model's own errors, which name the shape of the input if shapes differ, and
    UnstableScore if the score of an input depends on its batch or differs at the next query.
    """
    import torch

    card = trial.model.card
    if isinstance(card, NetworkCard) and card.is_untrained:
        with limit_seconds(card.timeout):
            model: Model = card.load_untrained(choose_device(trial.model.device))
    else:
        try:
            model = load_model(trial.model).model
        except UnorderedClasses as error:
            raise ModelError(f"{error}{error.suggestion(trial.class_names)}") from error
    for read in trial.inputs:
        clean = channels_first(read())
        try:
            with torch.inference_mode():
                trial.score.values(model.outputs(on_device(clean, model.device)), model.output)
        except Exception as error:
            if len(trial.inputs) == 1:
                raise
            failed = plain_error(error)
            raise type(failed)(f"an input of shape {clean.shape[1:]}: {failed}") from error
    is_measured = trial.is_measured and trial.is_network
    footprint = _footprint(trial, model, clean) if is_measured else None
    pace = _try_batches(trial, model)
    if footprint:
        footprint = footprint._replace(rows=min(pace.batch_size, trial.state_count))
    return TriedModel(card.id, pace, footprint)


def _try_batches(trial: Trial, model: Model) -> Pace:
    """Score a few inputs in batches of growing size: compare their scores, and choose a batch."""
    import torch

    inputs = on_device(
        np.concatenate([channels_first(read()) for read in trial.probes]), model.device
    )
    if len(inputs) == 1:  # half of each value makes a second input
        inputs = torch.cat([inputs, inputs / 2])

    def score(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        batch = inputs[torch.from_numpy(rows.copy()).to(model.device)]
        with torch.inference_mode():
            return trial.score.values(model.outputs(batch), model.output).cpu().numpy()

    precision = getattr(trial.model.card, "precision", None)
    noise = NOISE[precision] if precision else UNKNOWN_NOISE
    draws = trial.model.card.stochastic
    is_compared = draws is None or draws.seed
    calls: list[Call] = []
    sizes = _batch_sizes(trial, inputs)
    for size in sizes:
        timed = TimedScorer(score)
        try:
            if is_compared:
                check_consistency(timed, len(inputs), size, trial.epsilon, noise)
            else:
                score_full(timed, np.arange(min(len(inputs), size)), size)
        except UnstableScore as error:
            raise UnstableScore(
                f"{error}; or set 'batch_size: 1' in the study, or, for a stochastic model, "
                "'stochastic: {repeats: 8}' on its card"
            ) from error
        if timed.is_long and size * REPEAT_RATIO <= trial.state_count:
            score_full(timed, np.arange(min(len(inputs), size)), timed.largest.rows)
        calls.append(timed.largest)
        if timed.largest.rows < size or timed.is_long:
            break
    is_reduced = calls[-1].rows < sizes[len(calls) - 1]
    call = calls[-1] if trial.batch_size else choose_batch(calls)
    return Pace(
        batch_size=trial.batch_size if trial.batch_size and not is_reduced else call.rows,
        seconds_per_row=call.seconds_per_row * trial.model.card.query_count,
        is_reduced=is_reduced,
    )


def _batch_sizes(trial: Trial, inputs: Tensor) -> list[int]:
    """Batch sizes to try, the smallest first; no larger than the states of a block."""
    if trial.batch_size:
        return [min(trial.batch_size, trial.state_count)]
    card = trial.model.card
    if card.is_remote:  # requests may cost money, and larger batches do not save any
        rows = max(LEAST_ROWS, getattr(card, "rows_per_request", 0))
        return [min(rows, trial.state_count)]
    is_on_gpu = inputs.device.type == "cuda"
    most = largest_batch(inputs[:1].nbytes, is_on_gpu=is_on_gpu)
    return [*growing_sizes(min(most, trial.state_count))]


def _footprint(trial: Trial, model: Model, clean: NDArray[Any]) -> Footprint:
    from decaf.scoring.footprint import bytes_per_row

    held, peak = held_memory(model.device), peak_memory(model.device)
    is_on_gpu, is_8_bit = model.device.type == "cuda", clean.dtype == np.uint8
    model_bytes = clean.size * FLOAT if is_8_bit else clean.nbytes
    return Footprint(
        model_id=trial.model.card.id,
        is_on_gpu=is_on_gpu,
        held=held,
        peak=peak,
        per_row=bytes_per_row(model, trial.score, on_device(clean, model.device)),
        # The host keeps the read inputs while a block is scored; arrays become tensors in place.
        per_input=model_bytes + (clean.nbytes if is_8_bit and not is_on_gpu else 0),
        per_conversion=model_bytes if is_8_bit else 0,
        per_locked=clean.nbytes if is_on_gpu else 0,
        rows=1,
    )


def try_with_remarks(trial: Trial) -> TriedModel:
    """Try a model with :func:`try_model`, and collect the remarks on it."""
    import torch

    tried, card = try_model(trial), trial.model.card
    is_network = isinstance(card, NetworkCard)
    if is_network and card.is_untrained:
        return tried
    model = load_model(trial.model).model
    clean = np.concatenate([channels_first(read()) for read in trial.probes])
    inputs = on_device(clean, model.device)
    remarks = [*getattr(model, "remarks", ())]
    if is_network:
        remarks.append(remark_on_mean(inputs, card.mean))
    remarks += remark_on_changes(model, card, trial.changes)
    if model.output == "logits":
        with torch.inference_mode():
            outputs = model.outputs(inputs)
        remarks.append(remark_on_outputs(outputs, is_stated="output" in card.model_fields_set))
    return tried._replace(remarks=tuple(filter(None, remarks)))


def try_models(client: Client, plan: AuditPlan) -> TriedModels:
    """On a worker, try each model that has units to score.

    A model is unusable if it cannot be loaded, returns no outputs, or its outputs do not fit the
    score. Raises OrchestrationLost if the connection to the scheduler is lost.
    """
    return _try(client, plan, scored_models(plan))


def refuse_unusable(plan: AuditPlan, *, is_measured: bool = False) -> TriedModels:
    """Try the models of a plan with :func:`try_on_cluster`, and refuse unusable ones.

    Raises the error with which the run would end: BadInput if models do not fit the data or the
    score, ScoringFailed if they fail for another reason.
    """
    models = try_on_cluster(plan, is_measured=is_measured)
    if models.errors:
        lines = "\n".join(f"{model_id}: {error}" for model_id, error in models.errors.items())
        raise common_error([*models.errors.values()], lines)
    return models


def try_on_cluster(plan: AuditPlan, *, is_measured: bool = False) -> TriedModels:
    """Try the models of a plan on workers of its cluster, like the run.

    With ``is_measured``, networks get a footprint. Models in other processes, such as endpoints,
    and estimators that wait for their training are not tried. Writes nothing; reads a few
    inputs.
    """
    study = plan.configuration
    tasks = scored_models(plan) | {
        card.id: TaskModel(card, "", "", study.device, plan.pairs.columns)
        for card in plan.waiting
        if isinstance(card, NetworkCard)
    }
    refused = _refuse_columns(tasks)
    tasks = {name: task for name, task in tasks.items() if not task.card.is_remote}
    if not tasks:
        return TriedModels(refused, {}, 1)
    cluster = study.cluster
    if isinstance(cluster, LocalWorkers):
        worker_count = min(cluster.workers, len(tasks))
        cluster = cluster.model_copy(update={"workers": worker_count})
    with connect(cluster, user_code(study), Path(os.devnull)) as client:
        models = _try(client, plan, tasks, is_measured=is_measured)
    return models._replace(errors=refused | models.errors)


def _refuse_columns(tasks: Mapping[str, TaskModel]) -> dict[str, DecafError]:
    """Errors by model of models in other processes that cannot take the data's columns."""
    errors: dict[str, DecafError] = {}
    for name, task in tasks.items():
        if task.card.is_remote:
            try:
                task.card.check_columns(task.columns)
            except DecafError as error:
                errors[name] = error
    return errors


def scored_models(plan: AuditPlan) -> dict[str, TaskModel]:
    """Models with units to score, by id."""
    units = {unit.model_id: unit for unit in plan.work.pending if unit.kind in SCORED}
    return {model_id: task_model(plan, (unit,)) for model_id, unit in units.items()}


def _try(
    client: Client,
    plan: AuditPlan,
    tasks: dict[str, TaskModel],
    *,
    is_measured: bool = False,
) -> TriedModels:
    models: dict[str, TriedModel] = {}
    cards = {model_id: task.card for model_id, task in tasks.items()}
    unusable = class_name_errors(cards, plan.pairs, plan.study.score)
    tasks = {model_id: task for model_id, task in tasks.items() if model_id not in unusable}
    if tasks:
        # The number of units is printed after the trial, which may choose smaller blocks.
        announce(f"trying {number_of(len(tasks), 'model')} first")

    def note(model: TriedModel) -> None:
        models[model.model_id] = model
        name = plan.study.names.get(model.model_id, model.model_id)
        for remark in model.remarks:
            announce(f"{name}: {remark}")
        if model.pace.is_reduced:
            rows = model.pace.batch_size
            announce(f"{name}: batches have {rows} rows, since larger ones do not fit in memory")

    trials = trials_of(plan, tasks, is_measured=is_measured)
    errors = attempt(client, try_with_remarks, trials, list(tasks), note)
    return TriedModels({**unusable, **errors}, models, len(client.nthreads()))


def trials_of(
    plan: AuditPlan, tasks: Mapping[str, TaskModel], *, is_measured: bool = False
) -> list[Trial]:
    """Trials of some models of a plan, with their inputs."""
    study, inputs = plan.study, plan.pairs.input_set

    def read(positions: Sequence[int]) -> tuple[Callable[[], NDArray[Any]], ...]:
        return tuple(sample(study.data, study.workspace, inputs, place) for place in positions)

    if not tasks:
        return []
    extremes, probes = read(inputs.extremes), read(_probes(plan.pairs))
    changes = select_changes(plan.pairs, read)
    _, state_count = largest_block(study, plan.pairs)
    return [
        Trial(
            model=task,
            score=study.score,
            inputs=extremes,
            probes=probes,
            batch_size=study.batch_size,
            state_count=state_count,
            epsilon=study.epsilon,
            changes=changes,
            class_names=plan.pairs.class_names,
            is_measured=is_measured,
        )
        for task in tasks.values()
    ]


def _probes(pairs: PairSet) -> list[int]:
    """Positions of a few inputs of one shape: both inputs of the first pairs and of the last."""
    ends = (*pairs.pairs[:PROBES], *pairs.pairs[-PROBES:])
    positions = dict.fromkeys(place for pair in ends for place in (pair.plus, pair.minus))
    shape = pairs.inputs[pairs.pairs[0].plus].shape
    return [place for place in positions if pairs.inputs[place].shape == shape][:PROBES]
