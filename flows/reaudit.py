"""Re-audit a registry: pair → discover → audit what changed → record → judge → report → notify."""

from pathlib import Path
from typing import Any

from prefect import flow

from decaf.data.pairs import PairSet
from decaf.plan.study import load_study
from tasks.cluster.user_code import user_code
from tasks.cluster.workers import connect
from tasks.hold import hold_warehouse
from tasks.plan import AuditPlan
from tasks.prefect import audit_steps, reaudit_steps
from tasks.prefect.reaudit_steps import leave_out, needs_workers, problems_of
from tasks.reaudit.plan import RegistryDiff


@flow(name="reaudit", flow_run_name="reaudit-{config.stem}")
def reaudit(config: Path) -> dict[str, Any]:
    """Audit what changed in the registry of a study, and say what was found.

    Reads the registry, the data and the models; writes downloads, the input file, the warehouse
    and the report; sends alerts. What has a receipt is not done again.
    """
    study = load_study(config)
    with hold_warehouse(study) as root:
        pairs = audit_steps.pair(study)
        diff = reaudit_steps.discover(study, root, pairs)
        if diff.is_changed:
            diff, plan = audit(diff, pairs)
            if diff.is_changed:  # an entry that fails as it did before is no change
                reaudit_steps.record(diff, plan)
        reaudit_steps.judge(root, study)
        reaudit_steps.report(root, study)
        return reaudit_steps.notify(root, study)


def audit(diff: RegistryDiff, pairs: PairSet) -> tuple[RegistryDiff, AuditPlan | None]:
    """Fit, train → smoke test → plan → compute → plan → analyse → check.

    A model of the registry that fails on the way is left out and stops no other one. Returns what
    is left, and the plan of it; no plan where nothing is left.
    """
    if not diff.audited.models:
        return diff, None
    inputs = audit_steps.store(diff.study, pairs)
    audit_steps.fit(diff.study, pairs, inputs)
    if needs_workers(diff.audited, pairs):
        with connect(diff.study.cluster, user_code(diff.study)) as client:
            audit_steps.train(client, diff.study)
            unusable = reaudit_steps.smoke_test(client, diff.audited, pairs, inputs)
            diff = leave_out(diff, unusable)
            if diff.audited.models:
                plan = audit_steps.plan(diff.audited, pairs)
                failed = problems_of(audit_steps.compute(client, plan, inputs))
                diff = leave_out(diff, failed)
    if not diff.audited.models:
        return diff, None
    plan = audit_steps.plan(diff.audited, pairs)  # of what is left, with its commits
    audit_steps.analyse(plan, inputs)
    audit_steps.check(plan)
    return diff, plan
