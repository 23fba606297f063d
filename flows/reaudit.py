"""Re-audit a registry: discover → audit what changed → record → judge → report → notify."""

from collections.abc import Collection
from typing import Any

from decaf.data.pairs import PairSet
from decaf.errors import RegistryError, UnknownEntry
from decaf.plan.study import Study
from flows.audit import audit_models
from tasks.models_under_audit import RegistryModels
from tasks.plan import plan_audit
from tasks.prefect import reaudit_steps as steps
from tasks.prefect.audit_steps import report
from tasks.reaudit.events import emit_failure
from tasks.reaudit.notify import notify_unreachable
from tasks.reaudit.plan import RegistryDiff
from tasks.reaudit.recorded import has_run
from warehouse.storage import Storage


def reaudit(
    study: Study, pairs: PairSet, store: Storage, config: str, only: Collection[str] = ()
) -> dict[str, Any]:
    """Audit the changes of a registry, and return a summary; the caller holds the study's lock.

    ``only`` restricts the audit to these entries. Reads the registry, the data and the models;
    writes downloads, the input file, the warehouse and the report; sends alerts, which name the
    study's file ``config``. Committed results are not computed again.
    """
    try:
        steps.judge(store, study)  # entries of a re-audit that was interrupted
        diff = steps.discover(study, store, pairs, only)
        if diff.is_changed:
            audit_changes(diff, pairs)
        steps.judge(store, study)
        if has_run(store, study.study):
            report(store, study, config)
        return steps.notify(store, study, config)
    except UnknownEntry:  # a wrong name in ``only`` is not a failure of the re-audit
        raise
    except Exception as error:
        emit_failure(study, error)
        if isinstance(error, RegistryError):
            notify_unreachable(study, config, str(error))
        raise


def audit_changes(diff: RegistryDiff, pairs: PairSet) -> None:
    """Audit the usable models of a registry, and record its entries.

    If every entry has its recorded state, nothing is recorded: an entry that fails for the recorded
    reason is no change.
    """
    models, plan = RegistryModels(diff), None
    if diff.audited_study.models:
        plan = audit_models(plan_audit(diff.audited_study, pairs), models)
    if models.diff.is_changed:
        steps.record(models.diff, plan)
