"""Audit a study.

Fit, train, choose → plan → smoke test → compute → analyse → check → picture → report.
"""

from tasks.cluster.failures import raise_failures
from tasks.cluster.user_code import user_code
from tasks.cluster.workers import connect
from tasks.plan import AuditPlan
from tasks.prefect import audit_steps as steps


def audit(plan: AuditPlan) -> None:
    """Carry out what is left of a study; the same command again resumes it.

    Writes the input file, checkpoints, the warehouse and the report. What has a receipt stays. A
    model that fails stops no other one: the report shows the others, and the next run tries it
    again. Raises ModelsFailed in the end where some models failed, and their own error where all
    did.
    """
    inputs = steps.store(plan)
    steps.fit(plan, inputs)
    with connect(plan.given.cluster, user_code(plan.given), plan.given.prints_file) as client:
        trained = steps.train(client, plan, inputs, return_state=True)
        chosen = steps.choose(client, plan, inputs, return_state=True)
        plan = steps.plan(plan)
        if not plan.study.models:
            raise_failures([trained, chosen])
        tried = steps.smoke_test(client, plan)
        plan = steps.settle(plan, tried)
        steps.begin(plan)
        if plan.may_stop:
            watch = steps.watch(plan)
            computed, plan = steps.compute_until_known(client, plan, inputs, tried.errors, watch)
        else:
            computed = steps.compute(client, plan, inputs, tried.errors)
    steps.raise_failed(plan, [trained, chosen], computed)
    steps.analyse(plan, inputs)
    steps.check(plan)
    steps.picture(plan)
    steps.report(plan)
