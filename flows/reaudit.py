"""Re-audit a registry: discover → audit what changed → record → judge → report → notify."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from distributed import Client

from decaf.data.pairs import PairSet
from decaf.errors import UnknownEntry
from decaf.plan.study import Study
from tasks.cluster.user_code import user_code
from tasks.cluster.workers import connect
from tasks.plan import AuditPlan, plan_audit
from tasks.prefect import audit_steps, reaudit_steps
from tasks.prefect.reaudit_steps import leave_out, problems_of
from tasks.reaudit.events import tell_failed
from tasks.reaudit.plan import RegistryDiff
from warehouse.storage import Root


def reaudit(
    study: Study, pairs: PairSet, root: Root, config: str, only: Collection[str] = ()
) -> dict[str, Any]:
    """Audit what changed in the registry of a study that is held, and say what was found.

    ``only`` names the entries that are audited where not all are.
    Reads the registry, the data and the models; writes downloads, the input file, the warehouse
    and the report; sends alerts, which name the study's file ``config``. What has a receipt is not
    done again.
    """
    try:
        reaudit_steps.judge(root, study)  # what a re-audit that was stopped has left
        diff = reaudit_steps.discover(study, root, pairs, only)
        if diff.is_changed:
            diff, plan = audit(diff, pairs)
            if diff.is_changed:  # an entry that fails as it did before is no change
                reaudit_steps.record(diff, plan)
        reaudit_steps.judge(root, study)
        reaudit_steps.report(root, study)
        return reaudit_steps.notify(root, study, config)
    except UnknownEntry:  # what was asked for is none of the registry's: nothing has failed
        raise
    except Exception as error:
        tell_failed(study, error)
        raise


def audit(diff: RegistryDiff, pairs: PairSet) -> tuple[RegistryDiff, AuditPlan | None]:
    """Plan → fit, train → smoke test → compute → analyse → check → picture.

    A model of the registry that fails on the way is left out and stops no other one. Returns what
    is left, and the plan of it; no plan where nothing is left.
    """
    if not diff.audited.models:
        return diff, None
    plan = plan_audit(diff.audited, pairs)
    inputs = audit_steps.store(plan)
    audit_steps.fit(plan, inputs)
    if plan.waiting or plan.by_model:
        study = diff.study
        with connect(study.cluster, user_code(study), study.prints_file) as client:
            diff, plan = on_workers(client, diff, plan, inputs)
    if plan:
        diff, plan = leave_out(diff, plan, audit_steps.quarantined(plan))
    if plan:
        audit_steps.begin(plan)
        audit_steps.analyse(plan, inputs)
        audit_steps.check(plan)
        reaudit_steps.picture(diff, plan)
    return diff, plan


def on_workers(
    client: Client, diff: RegistryDiff, plan: AuditPlan, inputs: Path
) -> tuple[RegistryDiff, AuditPlan | None]:
    """Train → smoke test → compute, without the models that fail; what is left, and its plan."""
    audit_steps.train(client, plan, inputs)
    audit_steps.choose(client, plan, inputs)
    plan = audit_steps.plan(plan)
    tried = audit_steps.smoke_test(client, plan)
    plan = audit_steps.settle(plan, tried)
    problems = {model_id: str(error) for model_id, error in tried.errors.items()}
    diff, plan = leave_out(diff, plan, problems)
    if plan is None:
        return diff, None
    audit_steps.begin(plan)
    if plan.may_stop:
        return until_decided(client, diff, plan, inputs)
    failed = problems_of(audit_steps.compute(client, plan, inputs, {}))
    return leave_out(diff, plan, failed)


def until_decided(
    client: Client, diff: RegistryDiff, plan: AuditPlan, inputs: Path
) -> tuple[RegistryDiff, AuditPlan | None]:
    """Compute until gates are decided, again where a model is left out; what is left, its plan."""
    while True:
        watch = reaudit_steps.watch(diff, plan)
        computed, plan = audit_steps.compute_until_known(client, plan, inputs, {}, watch)
        problems = problems_of(computed) or audit_steps.quarantined(plan)
        diff, plan = leave_out(diff, plan, problems)
        if not problems or plan is None:
            return diff, plan
        audit_steps.begin(plan)
