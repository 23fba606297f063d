"""Re-audit a registry: discover → audit what changed → record → judge → report → notify."""

from collections.abc import Collection
from typing import Any

from decaf.data.pairs import PairSet
from decaf.errors import UnknownEntry
from decaf.plan.study import Study
from flows.audit import audit_models
from tasks.models_under_audit import RegistryModels
from tasks.plan import plan_audit
from tasks.prefect import reaudit_steps as steps
from tasks.prefect.audit_steps import report
from tasks.reaudit.events import tell_failed
from tasks.reaudit.plan import RegistryDiff
from tasks.reaudit.recorded import has_run
from warehouse.storage import Storage


def reaudit(
    study: Study, pairs: PairSet, store: Storage, config: str, only: Collection[str] = ()
) -> dict[str, Any]:
    """Audit what changed in the registry of a study that is held, and say what was found.

    ``only`` names the entries that are audited where not all are.
    Reads the registry, the data and the models; writes downloads, the input file, the warehouse
    and the report; sends alerts, which name the study's file ``config``. What has a receipt is not
    done again.
    """
    try:
        steps.judge(store, study)  # what a re-audit that was stopped has left
        diff = steps.discover(study, store, pairs, only)
        if diff.is_changed:
            audit_changes(diff, pairs)
        steps.judge(store, study)
        if has_run(store, study.study):
            report(store, study, config)
        return steps.notify(store, study, config)
    except UnknownEntry:  # what was asked for is none of the registry's: nothing has failed
        raise
    except Exception as error:
        tell_failed(study, error)
        raise


def audit_changes(diff: RegistryDiff, pairs: PairSet) -> None:
    """Audit the models of a registry that can be audited, and record what it lists.

    Nothing is recorded where every entry turns out as it was recorded: one that fails for the same
    reason as before is no change.
    """
    models, plan = RegistryModels(diff), None
    if diff.audited.models:
        plan = audit_models(plan_audit(diff.audited, pairs), models)
    if models.diff.is_changed:
        steps.record(models.diff, plan)
