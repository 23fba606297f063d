"""Steps of an audit; each is a thin wrapper of a plain function."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path

from distributed import Client

from decaf.errors import DiskRefuses, ScoringFailed
from decaf.foundation.names import shown_name
from decaf.plan.refining import list_rules
from decaf.plan.study import Study
from tasks import compute as computing
from tasks import inputs as storing
from tasks import trial as trying
from tasks.estimate import Remaining, estimate_of
from tasks.looks.watch import Watch, record_stops
from tasks.manifest import commit_failures, commit_run
from tasks.model_remarks import commit_trial
from tasks.models_under_audit import Errors, ModelsUnderAudit
from tasks.pictures import store_pictures
from tasks.plan import AuditPlan, replan, settle_blocks
from tasks.prefect.artifacts import write_artifacts
from tasks.progress import announce, progress_of
from tasks.publish import finish, publish
from tasks.refining import refine_stages
from tasks.step import catch_error, step
from tasks.verify import too_many_quarantined, verify
from warehouse.report.audit.facts import Facts
from warehouse.storage import Storage

store_pairs = step(storing.store_pairs, name="store")
store_foregrounds = step(storing.store_foregrounds, name="store_foregrounds")
fit = step(computing.fit, name="fit")
train = step(computing.train, name="train")
choose = step(computing.choose, name="choose")
compute_model = step(
    computing.compute_model, name="compute_model", task_run_name="compute-{model_id}"
)
begin = step(commit_run, name="begin")
note_failures = step(commit_failures, name="note_failures")
try_models = step(trying.try_models, name="try the models")
analyse = step(computing.analyse, name="analyse")
picture = step(store_pictures, name="picture")
look = step(Watch.look, name="look")
stop = step(record_stops, name="stop")


@step
def plan(plan: AuditPlan) -> AuditPlan:
    """Plan again with the trained models; the same plan if no model waited for its training."""
    return replan(plan) if plan.waiting else plan


@step
def plan_after_trial(plan: AuditPlan, tried: trying.TriedModels) -> AuditPlan:
    """Plan again if the measured speed of the models requires smaller blocks.

    Stores the remarks of the trial with the units of the returned plan.
    """
    plan = settle_blocks(plan, tried.paces, tried.worker_count)
    commit_trial(plan.store, plan.study.study, plan.work.units, tried.remarks)
    return plan


@step
def refine(plan: AuditPlan) -> AuditPlan:
    """Plan with more stages for the paths whose means still move; the same plan if none does."""
    finer = refine_stages(plan.configuration, plan.store)
    if finer is plan.configuration:
        return plan
    for name, rule in list_rules(finer.paths, finer.stages).items():
        if rule != plan.configuration.paths[name].stages:
            path = shown_name(name, plan.study.names)
            announce(f"path {path}: its means still move, so it gets {len(rule.grid)} stages")
    return replan(plan, paths=finer.paths)


def compute(
    client: Client, plan: AuditPlan, inputs: Path, skipped: Errors
) -> dict[str, BaseException]:
    """Compute the units of a plan on workers, model by model; returns errors of failed models.

    Models in ``skipped`` are left out. A worker without work for one model continues with the
    next, so the number of models in progress is one more than that of workers. After a failed
    model, the others continue; after a write error of the disk, no further model is started.
    """
    images = store_foregrounds(plan.study, plan.foregrounds)
    write_errors: list[BaseException] = []

    def compute_one(rank: int, model_id: str, groups: computing.Groups) -> BaseException | None:
        if write_errors:
            return write_errors[0]
        shared = inputs, images, progress, remaining
        error = catch_error(compute_model, client, plan, model_id, rank, groups, *shared)
        if isinstance(error, DiskRefuses):
            write_errors.append(error)
        return error

    by_model = plan.work.by_model.items()
    work = {model_id: groups for model_id, groups in by_model if model_id not in skipped}
    for model_id, error in skipped.items() if work else ():  # without work, the run raises them
        announce(f"{plan.study.names.get(model_id, model_id)} is left out: {error}")
    estimate = estimate_of(plan.store, plan.study)
    estimate.workers = len(client.nthreads())
    remaining = Remaining(estimate, (u for u in plan.work.pending if u.model_id not in skipped))
    count = sum(len(group) for groups in work.values() for group in groups)
    with (
        progress_of(count, "units of work", remaining.seconds) as progress,
        ThreadPoolExecutor(1 + len(client.nthreads())) as threads,
    ):
        # Prefect knows the flow of a task from the context of its thread.
        futures = {
            model_id: threads.submit(copy_context().run, compute_one, rank, model_id, groups)
            for rank, (model_id, groups) in enumerate(work.items())
        }
        try:
            errors = {model_id: future.result() for model_id, future in futures.items()}
        except BaseException:  # stopped by a signal: the threads end when their client does
            threads.shutdown(wait=False, cancel_futures=True)
            client.close()
            raise
    return {model_id: error for model_id, error in errors.items() if error is not None}


def compute_until_decided(
    client: Client, plan: AuditPlan, inputs: Path, models: ModelsUnderAudit
) -> tuple[AuditPlan, dict[str, BaseException]]:
    """Compute all blocks, or with ``stop:`` drawn blocks until each model is decided.

    Returns the plan of the scored blocks, which defines the run from then on, and the errors of
    failed models. If a model failed, returns the given plan; looks skip failed models.
    """
    if not plan.may_stop:
        return plan, compute(client, plan, inputs, models.failed)
    watched = watch(models, plan)
    errors: dict[str, BaseException] = {}
    scored: dict[str, int] = {}
    undecided = [card.id for card in plan.study.models]
    while undecided:
        block_counts = dict(watched.block_counts)
        next_plan = replace(plan, work=plan.work.up_to(block_counts, scored))
        if next_plan.work.by_model or not scored:
            errors |= compute(client, next_plan, inputs, {} if scored else models.failed)
        scored, failed = block_counts, {**models.failed, **errors}
        undecided = look(watched, [model_id for model_id in undecided if model_id not in failed])
    has_no_failure = not errors and not models.failed
    return (stop(plan, watched) if has_no_failure else plan), errors


@step
def watch(models: ModelsUnderAudit, plan: AuditPlan) -> Watch:
    """Watch the rules that decide how many blocks are scored."""
    return models.watch(plan)


@partial(step, name="quarantine")
def quarantine(plan: AuditPlan) -> dict[str, BaseException]:
    """Errors of the models with more trajectories in quarantine than the study allows."""
    problems = too_many_quarantined(plan.store, plan.study, plan.work.units)
    return {model_id: ScoringFailed(problem) for model_id, problem in problems.items()}


@step
def check(plan: AuditPlan) -> None:
    """Run every check on the study, then record that the run is complete."""
    verify(plan.store, plan.study.study)
    finish(plan)


@step
def report(store: Storage, study: Study, config: str = "CONFIG") -> Facts | None:
    """Write the report file, if the study has one, and the artifacts for Prefect's page.

    Returns the numbers of the report; None if the study has none.
    """
    facts = publish(store, study, config)
    write_artifacts(store, study.study, study.report_file)
    return facts
