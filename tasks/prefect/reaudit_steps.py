"""The steps of a re-audit, beside those of an audit."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from prefect.states import State

from decaf.data.pairs import PairSet
from decaf.errors import DiskRefuses, OrchestrationLost, ScoringFailed
from decaf.plan.study import Study
from tasks.pictures import store_pictures
from tasks.plan import AuditPlan, plan_audit
from tasks.prefect.artifacts import leave_artifacts
from tasks.prefect.step import step
from tasks.progress import announce
from tasks.publish import publish
from tasks.reaudit import judge as judging
from tasks.reaudit import notify as notifying
from tasks.reaudit import plan as planning
from tasks.reaudit import recorded
from tasks.reaudit.events import tell_finished
from tasks.reaudit.plan import RegistryDiff
from tasks.reaudit.watch import pending, watch_changed, with_references
from warehouse.storage import Root

judge = step(judging.judge_newest, name="judge")
watch = step(watch_changed, name="watch")


@step
def discover(study: Study, root: Root, pairs: PairSet, only: Collection[str]) -> RegistryDiff:
    """Ask the registry and bring every new entry here, and what it is compared with, if need be."""
    return with_references(planning.discover(study, root, pairs, only))


def problems_of(states: Mapping[str, State]) -> dict[str, str]:
    """Why models could not be computed, by the model.

    Raises DiskRefuses when nothing can be written, and OrchestrationLost when the scheduler is
    gone: no model is to blame for that.
    """
    failed = {model_id: state for model_id, state in states.items() if not state.is_completed()}
    errors = {model_id: s.result(raise_on_failure=False) for model_id, s in failed.items()}
    for error in errors.values():
        if isinstance(error, DiskRefuses | OrchestrationLost):
            raise error
    return {model_id: str(error) for model_id, error in errors.items()}


def leave_out(
    diff: RegistryDiff, plan: AuditPlan, problems: Mapping[str, str]
) -> tuple[RegistryDiff, AuditPlan | None]:
    """The registry without the models that have a problem, and the plan of what is left; says so.

    The plan is None where nothing is left, and as it was where there is no problem. Raises
    ScoringFailed when such a model is not of the registry but of the configuration.
    """
    if not problems:
        return diff, plan
    entries = {resolved.model_id for resolved in diff.resolved}
    entries |= {card.id for card in diff.references}
    for model_id, problem in problems.items():
        if model_id not in entries:
            raise ScoringFailed(f"model {model_id} of 'models:' cannot be audited: {problem}")
        announce(f"{model_id} is left out: {problem}")
    diff = diff.without(problems)
    if not diff.audited.models:
        return diff, None
    blocks = {"sources_per_block": plan.given.sources_per_block}
    left = plan_audit(diff.audited.model_copy(update=blocks), plan.pairs)
    return diff, replace(left, paces=plan.paces)


@step
def picture(diff: RegistryDiff, plan: AuditPlan) -> None:
    """Store pictures of the strongest pairs, and of those whose role changed with a version."""
    store_pictures(plan, pending(diff, plan.run_id))


@step
def record(diff: RegistryDiff, plan: AuditPlan | None) -> str:
    """Commit what the registry listed and what became of it."""
    return planning.commit_reaudit(diff, plan and plan.run_id)


@step
def report(root: Root, study: Study) -> None:
    """Read the views; write the report file, where there is a run to report, and artifacts."""
    if any(row["run_id"] for row in recorded.newest(root, study.study).rows.values()):
        file = publish(root, study)
        leave_artifacts(root, study.study, file)


@step
def notify(root: Root, study: Study, config: str) -> dict[str, Any]:
    """Send the alerts and emit the events of the newest re-audit, unless that is done."""
    content = notifying.notify(root, study, config)
    if content["changed"]:
        tell_finished(study, content)
    return content
