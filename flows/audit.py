"""Audit a study: pair → fit, train → plan → smoke test → compute → analyse → check → report."""

from pathlib import Path

from prefect import flow

from decaf.plan.study import load_study
from tasks.cluster.failures import raise_failures, require
from tasks.cluster.user_code import user_code
from tasks.cluster.workers import connect
from tasks.hold import hold_warehouse
from tasks.prefect import audit_steps as steps
from tasks.train import with_trained_models


@flow(name="audit", flow_run_name="audit-{config.stem}")
def audit(config: Path) -> None:
    """Carry out what is left of a study; the same call again resumes it.

    Writes the input file, checkpoints, the warehouse and the report. What has a receipt stays. A
    model that fails stops no other one; its error is raised in the end, and tried again next time.
    """
    study = load_study(config)
    with hold_warehouse(study):
        pairs = steps.pair(study)
        steps.check_inputs(study, pairs)
        inputs = steps.store(study, pairs)
        steps.fit(study, pairs, inputs)
        with connect(study.cluster, user_code(study)) as client:
            states = [steps.train(client, study, return_state=True)]
            trained = with_trained_models(study)
            if not trained.models:
                states[0].result()
            plan = steps.plan(trained, pairs)
            tested = steps.smoke_test(client, plan, inputs, return_state=True)
            require(tested, states)
            states += steps.compute(client, plan, inputs).values()
        raise_failures(states)
        steps.analyse(plan, inputs)
        steps.check(plan)
        steps.report(plan)
