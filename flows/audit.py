"""Audit the models of a study; a re-audit of a registry audits its models by the same steps."""

from pathlib import Path

from distributed import Client

from decaf.errors import ModelsFailed
from tasks.cluster.user_code import user_code
from tasks.cluster.workers import connect
from tasks.models_under_audit import ConfiguredModels, ModelsUnderAudit
from tasks.plan import AuditPlan
from tasks.prefect import audit_steps as steps
from tasks.step import catch_error
from warehouse.report.audit.facts import Facts


def audit(plan: AuditPlan) -> Facts | None:
    """Compute the missing units of a study; the same command resumes it.

    Writes the input file, checkpoints, the warehouse and the report. Committed results stay. If a
    model fails, the others are still audited and reported, and the next run tries it again. Raises
    ModelsFailed at the end if some models failed, and their common error if all failed. Returns the
    numbers of the report; None if the study has none.
    """
    models = ConfiguredModels()
    plan = audit_models(plan, models)
    failure = models.failure(plan)
    if failure is not None and not isinstance(failure, ModelsFailed):
        raise failure
    facts = steps.report(plan.store, plan.study)
    if failure is not None:
        raise failure
    return facts


def audit_models(plan: AuditPlan, models: ModelsUnderAudit) -> AuditPlan | None:
    """Fit estimators, score the models on workers, analyse and check results, and store pictures.

    Workers are started only if they have work. Returns the plan of the audited models, or None if
    every model was left out. If models failed that stay in the plan, the run is incomplete: it is
    neither analysed nor checked.
    """
    inputs = steps.store_pairs(plan.configuration, plan.pairs)
    steps.fit(plan, inputs)
    if plan.needs_workers:
        with connect(
            plan.configuration.cluster,
            user_code(plan.configuration),
            plan.configuration.worker_log,
        ) as client:
            plan = compute_models(client, plan, models, inputs)
    else:
        plan = models.leave_out(plan, steps.quarantine(plan))
    if plan is None:
        return None
    steps.begin(plan)
    steps.note_failures(plan, models.reasons)
    if models.has_failures:
        return plan
    finer = steps.refine(plan)
    if finer is not plan:
        # Reached only if earlier runs scored all stages of this plan: audit the added stages.
        return audit_models(finer, models)
    steps.analyse(plan, inputs)
    steps.check(plan)
    steps.picture(plan, models.pending_rows(plan))
    return plan


def compute_models(
    client: Client, plan: AuditPlan, models: ModelsUnderAudit, inputs: Path
) -> AuditPlan | None:
    """Train, try and score the models; repeat with more stages, or without models that failed.

    Returns the plan of the computed models; None if no model is left.
    """
    trainings = [catch_error(train, client, plan, inputs) for train in (steps.train, steps.choose)]
    plan = steps.plan(plan)
    models.note_untrained(plan, [error for error in trainings if error is not None])
    tried = steps.try_models(client, plan)
    plan = models.leave_out(steps.plan_after_trial(plan, tried), tried.errors)
    while plan is not None:
        steps.begin(plan)
        computed, errors = steps.compute_until_decided(client, plan, inputs, models)
        plan = models.leave_out(computed, steps.quarantine(computed) | errors)
        if plan is not computed:
            continue
        if models.has_failures:
            break
        plan = steps.refine(computed)
        if plan is computed:
            break
        steps.fit(plan, inputs)
    return plan
