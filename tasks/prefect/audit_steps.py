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
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.compute import compute as compute_units
from tasks.compute import compute_locally, smoke_test_models
from tasks.fit import fit_paths
from tasks.inputs import store_foregrounds, store_pairs
from tasks.manifest import commit_run
from tasks.plan import AuditPlan, by_model, missing_inputs, plan_audit
from tasks.progress import WorkProgress, announce, progress_of
from tasks.publish import finish, publish
from tasks.train import train_models
from tasks.units.scope import Scope
from tasks.verify import verify


@task(cache_policy=NO_CACHE)
def pair(study: Study) -> PairSet:
    """Read file names and digests; write nothing. Says what of the data is not used."""
    found = study.pair_set()
    for remark in found.remarks:
        announce(remark)
    return found


@task(cache_policy=NO_CACHE)
def check_inputs(study: Study, pairs: PairSet) -> None:
    """Look for all that models and their training need. Says what of it is not used."""
    for remark in missing_inputs(Scope(study, pairs)):
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
def smoke_test(client: Client, plan: AuditPlan, pixels: Path) -> None:
    """Load each model that has work; write nothing."""
    smoke_test_models(client, plan, pixels)


@task(cache_policy=NO_CACHE)
def store_labelled(plan: AuditPlan) -> Path | None:
    """Read further images that labels need, where there are any; write their pixel file."""
    return store_foregrounds(plan)


@task(cache_policy=NO_CACHE, task_run_name="compute-{model_id}")
def compute(
    client: Client,
    plan: AuditPlan,
    model_id: str,
    rank: int,
    groups: Sequence[tuple[Unit, ...]],
    inputs: Path,
    images: Path | None,
    progress: WorkProgress,
) -> None:
    """Score, route and measure one model; commit all of it; what is committed is passed over."""
    compute_units(client, plan, groups, inputs, images, progress, rank)


def model_by_model(client: Client, plan: AuditPlan, inputs: Path) -> dict[str, State]:
    """Compute what workers have to do, model by model; how the task of each of them ended.

    A worker that has nothing left to do of one model goes on with the next, so one model more than
    there are workers is under way. A model whose task fails stops no other, unless the disk refuses
    what it writes: no further model is begun then.
    """
    opaque_plan = opaque(plan)  # nothing for Prefect to look through
    images = store_labelled(opaque_plan)
    refused: list[State] = []

    def of_model(rank: int, model_id: str, groups: list[tuple[Unit, ...]]) -> State:
        if refused:
            return refused[0]
        work = (client, opaque_plan, model_id, rank, opaque(groups), inputs, images, progress)
        state = compute(*work, return_state=True)
        if state.is_failed() and isinstance(state.result(raise_on_failure=False), DiskRefuses):
            refused.append(state)
        return state

    work = by_model(plan)
    count = sum(len(group) for groups in work.values() for group in groups)
    with (
        progress_of(count, "units of work") as progress,
        ThreadPoolExecutor(1 + len(client.nthreads())) as threads,
    ):
        # Prefect knows the flow of a task from the context of its thread.
        under_way = {
            model_id: threads.submit(copy_context().run, of_model, rank, model_id, groups)
            for rank, (model_id, groups) in enumerate(work.items())
        }
        try:
            return {model_id: future.result() for model_id, future in under_way.items()}
        except BaseException:  # stopped by a signal: the threads end when their client does
            threads.shutdown(wait=False, cancel_futures=True)
            client.close()
            raise


@task(cache_policy=NO_CACHE)
def analyse(plan: AuditPlan, inputs: Path) -> None:
    """Compute what is of all models together, where labels ask for it; what is committed stays."""
    compute_locally(plan, inputs)


@task(cache_policy=NO_CACHE)
def check(plan: AuditPlan) -> None:
    """Run every check on the study, then record that the run is complete."""
    verify(plan.root, plan.study.study)
    finish(plan)


@task(cache_policy=NO_CACHE)
def report(plan: AuditPlan) -> Path:
    """Read the views; write the report file."""
    return publish(plan.root, plan.study.study, plan.study.report_file)
