"""The steps of an audit as Prefect tasks: each a thin wrapper of a plain function.

Clients, plans and pixels are handed from step to step in one process, and receipts decide what is
done already, so Prefect caches nothing.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

from distributed import Client
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.states import State
from prefect.utilities.annotations import opaque

from decaf.data.pairs import PairSet
from decaf.errors import DiskRefuses
from decaf.plan.measurements import Measurement
from decaf.plan.shards import Shard
from decaf.plan.study import Study
from tasks.analyse import make_analyses
from tasks.compare import make_baselines
from tasks.fit import fit_paths
from tasks.manifest import commit_run
from tasks.measure import make_measurements, store_foregrounds
from tasks.plan import AuditPlan, ModelWork, by_model, look_ahead, plan_audit
from tasks.progress import WorkProgress, announce, progress_of
from tasks.publish import finish, publish
from tasks.score import examine_models, score_shards, store_pairs
from tasks.train import train_models
from tasks.verify import verify


@task(cache_policy=NO_CACHE)
def pair(study: Study) -> PairSet:
    """Read file names and digests; write nothing. Says what of the data is not used."""
    found = study.pair_set()
    for remark in found.remarks:
        announce(remark)
    return found


@task(cache_policy=NO_CACHE)
def look(study: Study, pairs: PairSet) -> None:
    """Look for all that models and their training need. Says what of it is not used."""
    for remark in look_ahead(study, pairs):
        announce(remark)


@task(cache_policy=NO_CACHE)
def store(study: Study, pairs: PairSet) -> Path:
    """Read images; write the pixel file, unless its content is there."""
    return store_pairs(study, pairs)


@task(cache_policy=NO_CACHE)
def fit(study: Study, pairs: PairSet, pixels: Path) -> None:
    """Read pixels; write what paths are fitted to, unless it is there."""
    fit_paths(study, pairs, pixels)


@task(cache_policy=NO_CACHE)
def train(client: Client, study: Study) -> None:
    """Read recipes; write checkpoints; a model with a checkpoint is passed over."""
    train_models(client, study)


@task(cache_policy=NO_CACHE)
def plan(study: Study, pairs: PairSet) -> AuditPlan:
    """Read weights' digests and receipts; commit the run's manifest, unless it is there."""
    planned = plan_audit(study, pairs)
    commit_run(planned)
    return planned


@task(cache_policy=NO_CACHE)
def examine(client: Client, plan: AuditPlan, pixels: Path) -> None:
    """Load each model that has work; write nothing."""
    examine_models(client, plan, pixels)


@task(cache_policy=NO_CACHE)
def store_alone(plan: AuditPlan) -> Path | None:
    """Read images of the foregrounds alone, where the study needs them; write their pixel file."""
    return store_foregrounds(plan)


@task(cache_policy=NO_CACHE, task_run_name="score-{model_id}")
def score(
    client: Client,
    plan: AuditPlan,
    model_id: str,
    rank: int,
    shards: Sequence[Shard],
    pixels: Path,
    progress: WorkProgress,
) -> None:
    """Score, route and commit the shards of one model; committed ones are passed over."""
    score_shards(client, plan, shards, pixels, progress, rank)


@task(cache_policy=NO_CACHE, task_run_name="measure-{model_id}")
def measure(
    client: Client,
    plan: AuditPlan,
    model_id: str,
    rank: int,
    measurements: Sequence[Measurement],
    pixels: Path,
    foregrounds: Path | None,
    progress: WorkProgress,
) -> None:
    """Measure behaviours and attributions of one model; committed ones are passed over."""
    make_measurements(client, plan, measurements, pixels, foregrounds, progress, rank)


def model_by_model(client: Client, plan: AuditPlan, pixels: Path) -> list[State]:
    """Score, then measure, the models in their order; how the last task of each of them ended.

    A worker that has nothing left to do of one model goes on with the next, so one model more than
    there are workers is under way. A model whose task fails stops no other, unless the disk refuses
    what it writes: no further model is begun then.
    """
    known = opaque(plan)  # nothing for Prefect to look through
    alone = store_alone(known)
    unit = "shards and measurements" if plan.measurements else "shards"

    refused: list[State] = []

    def of_model(rank: int, work: ModelWork) -> State:
        if refused:
            return refused[0]
        given = (client, known, work.model_id, rank)
        state = score(*given, opaque(work.shards), pixels, progress, return_state=True)
        if work.measurements and state.is_completed():
            left = opaque(work.measurements)
            state = measure(*given, left, pixels, alone, progress, return_state=True)
        if state.is_failed() and isinstance(state.result(raise_on_failure=False), DiskRefuses):
            refused.append(state)
        return state

    with (
        progress_of(len(plan.pending) + len(plan.unmeasured), unit) as progress,
        ThreadPoolExecutor(1 + len(client.nthreads())) as threads,
    ):
        # Prefect knows the flow of a task from the context of its thread.
        under_way = [
            threads.submit(copy_context().run, of_model, rank, work)
            for rank, work in enumerate(by_model(plan))
        ]
        try:
            return [model.result() for model in under_way]
        except BaseException:  # stopped by a signal: the threads end when their client does
            threads.shutdown(wait=False, cancel_futures=True)
            client.close()
            raise


@task(cache_policy=NO_CACHE)
def compare(client: Client, plan: AuditPlan) -> None:
    """Make the baselines where the study has any; committed ones are passed over."""
    make_baselines(client, plan)


@task(cache_policy=NO_CACHE)
def analyse(plan: AuditPlan) -> None:
    """Match units and fit probes where the study has behaviours; what is committed stays."""
    make_analyses(plan)


@task(cache_policy=NO_CACHE)
def check(plan: AuditPlan) -> None:
    """Run every check on the study, then record that the run is complete."""
    verify(plan.root, plan.study.study)
    finish(plan)


@task(cache_policy=NO_CACHE)
def report(plan: AuditPlan) -> Path:
    """Read the views; write the report file."""
    return publish(plan.root, plan.study.study, plan.study.report_file)
