"""The steps of an audit: each is a thin wrapper of a plain function."""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path

from distributed import Client
from prefect.states import Failed, State

from decaf.errors import DecafError, DiskRefuses, ScoringFailed
from tasks import compute as computing
from tasks.cluster.failures import models_failed, raise_failures
from tasks.estimate import Remaining, estimate_of
from tasks.inputs import store_foregrounds, store_pairs
from tasks.looks.watch import Watch, record_stops, watch_models
from tasks.manifest import commit_run
from tasks.pictures import store_pictures
from tasks.plan import AuditPlan, replan, settle_blocks
from tasks.prefect.artifacts import leave_artifacts
from tasks.prefect.step import step
from tasks.progress import WorkProgress, announce, progress_of
from tasks.publish import finish, publish
from tasks.trial import TriedModels, try_models
from tasks.verify import too_many_quarantined, verify

store = step(store_pairs, name="store")
store_labelled = step(store_foregrounds, name="store_labelled")
fit = step(computing.fit, name="fit")
train = step(computing.train, name="train")
choose = step(computing.choose, name="choose")
quarantined = step(too_many_quarantined, name="quarantine")
begin = step(commit_run, name="begin")
smoke_test = step(try_models, name="smoke_test")
analyse = step(computing.analyse, name="analyse")
picture = step(store_pictures, name="picture")
look = step(Watch.look, name="look")
stop = step(record_stops, name="stop")
watch = step(watch_models, name="watch")


@step
def plan(plan: AuditPlan) -> AuditPlan:
    """Plan again, with what trainings have made by now; the same plan where there were none."""
    return replan(plan) if plan.waiting else plan


@step
def settle(plan: AuditPlan, tried: TriedModels) -> AuditPlan:
    """Plan with the speed of the models that were tried, which may ask for smaller blocks."""
    return settle_blocks(plan, tried.paces, tried.worker_count)


@partial(step, task_run_name="compute-{model_id}")
def compute_model(
    client: Client,
    plan: AuditPlan,
    model_id: str,
    rank: int,
    groups: computing.Groups,
    inputs: Path,
    images: Path | None,
    progress: WorkProgress,
    remaining: Remaining,
) -> None:
    """Score, route and measure one model; commit all of it; what is committed is passed over."""
    computing.compute(client, plan, groups, inputs, images, progress, remaining, rank)


def compute(
    client: Client, plan: AuditPlan, inputs: Path, unusable: Mapping[str, DecafError]
) -> dict[str, State]:
    """Compute what workers have to do, model by model; how the task of each of them ended.

    An unusable model has failed before, by the error that is given. A worker that has nothing left
    to do of one model goes on with the next, so one model more than there are workers is under way.
    A model whose task fails stops no other, unless the disk refuses what it writes: no further
    model is begun then.
    """
    images = store_labelled(plan)
    refused: list[State] = []

    def of_model(rank: int, model_id: str, groups: computing.Groups) -> State:
        if refused:
            return refused[0]
        rest = inputs, images, progress, remaining
        state = compute_model(client, plan, model_id, rank, groups, *rest, return_state=True)
        if state.is_failed() and isinstance(state.result(raise_on_failure=False), DiskRefuses):
            refused.append(state)
        return state

    failed = failed_states(unusable)
    work = {model_id: own for model_id, own in plan.by_model.items() if model_id not in failed}
    for model_id, error in unusable.items() if work else ():  # else the run ends with it now
        announce(f"{model_id} is left out: {error}")
    estimate = estimate_of(plan.root, plan.study)
    estimate.workers = len(client.nthreads())
    remaining = Remaining(estimate, (u for u in plan.pending if u.model_id not in failed))
    count = sum(len(group) for groups in work.values() for group in groups)
    with (
        progress_of(count, "units of work", remaining.seconds) as progress,
        ThreadPoolExecutor(1 + len(client.nthreads())) as threads,
    ):
        # Prefect knows the flow of a task from the context of its thread.
        under_way = {
            model_id: threads.submit(copy_context().run, of_model, rank, model_id, groups)
            for rank, (model_id, groups) in enumerate(work.items())
        }
        try:
            ended = {model_id: state.result() for model_id, state in under_way.items()}
        except BaseException:  # stopped by a signal: the threads end when their client does
            threads.shutdown(wait=False, cancel_futures=True)
            client.close()
            raise
    return failed | ended


def failed_states(errors: Mapping[str, DecafError]) -> dict[str, State]:
    """States of models that failed outside of their task, by the model; messages name it."""
    return {
        model_id: Failed(data=type(error)(f"{model_id}: {error}"))
        for model_id, error in errors.items()
    }


def compute_until_known(
    client: Client,
    plan: AuditPlan,
    inputs: Path,
    unusable: Mapping[str, DecafError],
    watch: Watch,
) -> tuple[dict[str, State], AuditPlan]:
    """Compute blocks in their drawn order, and stop each model as soon as enough is known of it.

    Returns how the tasks ended and the plan of what was scored, which is the run from here on. A
    model that fails is not looked at any more; then nothing is recorded, and the plan stays.
    """
    ended: dict[str, State] = {}
    since: dict[str, int] = {}
    going: Collection[str] = [card.id for card in plan.study.models]
    while going:
        goal = dict(watch.scored)
        part = plan.up_to(goal, since)
        if part.by_model or not since:
            ended |= compute(client, part, inputs, {} if since else unusable)
        since = goal
        going = look(watch, [name for name in going if name not in _failed(ended)])
    return (ended, plan) if _failed(ended) else (ended, stop(plan, watch))


def _failed(ended: Mapping[str, State]) -> set[str]:
    return {model_id for model_id, state in ended.items() if not state.is_completed()}


def raise_failed(
    plan: AuditPlan, preparing: Sequence[State], computed: Mapping[str, State]
) -> None:
    """Raise what failed, if anything; where some models are audited, write their report before.

    ``preparing`` are the steps before, ``computed`` has the task of each model that had any work.
    """
    withheld = {name: ScoringFailed(problem) for name, problem in quarantined(plan).items()}
    states = {**computed, **failed_states(withheld)}
    if failed := models_failed(preparing, states, len(plan.study.models)):
        report(plan)
        raise failed
    raise_failures([*preparing, *states.values()])


@step
def check(plan: AuditPlan) -> None:
    """Run every check on the study, then record that the run is complete."""
    verify(plan.root, plan.study.study)
    finish(plan)


@step
def report(plan: AuditPlan) -> Path | None:
    """Write the report file, unless there is to be none, and what Prefect's page shows."""
    file = publish(plan.root, plan.study)
    leave_artifacts(plan.root, plan.study.study, file)
    return file
