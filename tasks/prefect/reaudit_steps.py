"""The steps of a re-audit as Prefect tasks, beside those of an audit."""

from pathlib import Path
from typing import Any, NamedTuple

from distributed import Client
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.utilities.annotations import opaque

from decaf.data.pairs import PairSet
from decaf.errors import ScoringFailed
from decaf.plan.preparation import untrained
from decaf.plan.study import Study
from tasks.cluster.user_code import user_code
from tasks.cluster.workers import connect
from tasks.compute import unusable_models
from tasks.plan import AuditPlan, plan_audit
from tasks.prefect import audit_steps as steps
from tasks.progress import announce
from tasks.publish import publish
from tasks.reaudit.judge import judge_newest
from tasks.reaudit.notify import notify as notify_people
from tasks.reaudit.plan import RegistryDiff, commit_reaudit, discover, newest
from warehouse.storage import Root


class Audited(NamedTuple):
    """What could be audited of a registry, and the plan of that; None when there is nothing."""

    found: RegistryDiff
    plan: AuditPlan | None


@task(cache_policy=NO_CACHE)
def resolve(study: Study, root: Root) -> RegistryDiff:
    """Read the registry; bring new entries into the workspace."""
    return discover(study, root)


@task(cache_policy=NO_CACHE)
def smoke_test(client: Client, found: RegistryDiff, plan: AuditPlan, pixels: Path) -> RegistryDiff:
    """Load each model that has work; leave out those that cannot be loaded or scored."""
    problems = unusable_models(client, plan, pixels)
    return _without(found, problems)


@task(cache_policy=NO_CACHE)
def record(found: RegistryDiff, plan: AuditPlan | None) -> str:
    """Commit what the registry listed and what became of it."""
    return commit_reaudit(found, plan and plan.run_id)


@task(cache_policy=NO_CACHE)
def judge(root: Root, study: Study) -> None:
    """Read the drift; commit the verdicts of the gates, unless they are there."""
    judge_newest(root, study)


@task(cache_policy=NO_CACHE)
def report(root: Root, study: Study) -> None:
    """Read the views; write the report file, where there is a run to report."""
    if any(row["run_id"] for row in newest(root, study.study).rows.values()):
        publish(root, study.study, study.report_file)


@task(cache_policy=NO_CACHE)
def notify(root: Root, study: Study) -> dict[str, Any]:
    """Read the views; send alerts, unless they have been sent."""
    return notify_people(root, study)


def audit(found: RegistryDiff, pairs: PairSet, pixels: Path) -> Audited:
    """Audit every model of a registry that can be; one that fails at any step stops no other."""
    study = found.study
    if not found.audited.models:
        return Audited(found, None)
    if not untrained(study):
        plan = plan_audit(found.audited, pairs)
        if not plan.pending_orders():
            return Audited(found, steps.plan(found.audited, opaque(pairs)))
    with connect(study.cluster, user_code(study)) as client:
        steps.train(client, study)
        plan = plan_audit(found.audited, pairs)
        found = smoke_test(client, opaque(found), opaque(plan), pixels)
        while found.audited.models:
            plan = steps.plan(found.audited, opaque(pairs))
            states = steps.model_by_model(client, plan, pixels)
            problems = {
                model_id: str(state.result(raise_on_failure=False))
                for model_id, state in states.items()
                if state.is_failed() or state.is_crashed()
            }
            if not problems:
                return Audited(found, plan)
            found = _without(found, problems)
    return Audited(found, None)


def _without(found: RegistryDiff, problems: dict[str, str]) -> RegistryDiff:
    listed = {one.model_id for one in found.resolved}
    for model_id, problem in problems.items():
        if model_id not in listed:
            raise ScoringFailed(f"model {model_id} of 'models:' cannot be audited: {problem}")
        announce(f"{model_id} is left out: {problem}")
    return found.without(problems)
