"""Steps of a re-audit around those of an audit: ask a registry, record, judge, notify."""

from collections.abc import Collection
from typing import Any

from decaf.data.pairs import PairSet
from decaf.plan.study import Study
from tasks.plan import AuditPlan
from tasks.reaudit import judge as judging
from tasks.reaudit import notify as notifying
from tasks.reaudit import plan as planning
from tasks.reaudit.events import tell_finished
from tasks.reaudit.plan import RegistryDiff
from tasks.reaudit.watch import with_references
from tasks.step import step
from warehouse.storage import Storage

judge = step(judging.judge_newest, name="judge")


@step
def discover(study: Study, store: Storage, pairs: PairSet, only: Collection[str]) -> RegistryDiff:
    """Ask the registry and bring every new entry here, and what it is compared with, if need be."""
    return with_references(planning.discover(study, store, pairs, only))


@step
def record(diff: RegistryDiff, plan: AuditPlan | None) -> str:
    """Commit what the registry listed and what became of it."""
    return planning.commit_reaudit(diff, plan and plan.run_id)


@step
def notify(store: Storage, study: Study, config: str) -> dict[str, Any]:
    """Send the alerts and emit the events of the newest re-audit, unless that is done."""
    content = notifying.notify(store, study, config)
    if content["changed"]:
        tell_finished(study, content)
    return content
