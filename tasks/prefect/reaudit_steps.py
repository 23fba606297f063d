"""Steps of a re-audit around those of an audit: read the registry, record, judge, notify."""

from collections.abc import Collection
from typing import Any

from decaf.data.pairs import PairSet
from decaf.errors import AlertFailed
from decaf.plan.study import Study
from tasks.plan import AuditPlan
from tasks.reaudit import judge as judging
from tasks.reaudit import notify as notifying
from tasks.reaudit import plan as planning
from tasks.reaudit.events import emit_failure, emit_outcome
from tasks.reaudit.plan import RegistryDiff
from tasks.reaudit.watch import with_references
from tasks.step import step
from warehouse.storage import Storage

judge = step(judging.judge_newest, name="judge")


@step
def discover(study: Study, store: Storage, pairs: PairSet, only: Collection[str]) -> RegistryDiff:
    """Read the registry, fetch new entries, and add the versions that they are compared with."""
    return with_references(planning.discover(study, store, pairs, only))


@step
def record(diff: RegistryDiff, plan: AuditPlan | None) -> str:
    """Commit the entries of the registry and the state of their audits."""
    return planning.commit_reaudit(diff, plan and plan.run_id)


@step
def notify(store: Storage, study: Study, config: str) -> dict[str, Any]:
    """Send the alerts and emit the events of the newest re-audit, once."""
    content = notifying.notify(store, study, config)
    if undelivered := content["undelivered"]:
        emit_failure(study, AlertFailed("\n  ".join(undelivered)))
    elif content["changed"]:
        emit_outcome(study, content)
    return content
