"""Audit a study: pair → fit, train → plan → smoke test → compute → analyse → check → report."""

from pathlib import Path

from prefect import flow
from prefect.utilities.annotations import opaque

from decaf.plan.study import load_study
from tasks.cluster.failures import raise_failures, require
from tasks.cluster.user_code import user_code
from tasks.cluster.workers import connect
from tasks.prefect import audit_steps as steps
from tasks.train import with_trained_models
from warehouse.commits.lock import study_lock
from warehouse.commits.writer import open_root, remove_temporary_files
from warehouse.upkeep.compaction import repair_compactions


@flow(name="audit", flow_run_name="audit-{config.stem}")
def audit(config: Path) -> None:
    """Carry out what is left of a study; the same call again resumes it.

    Writes the input file, checkpoints, the warehouse and the report. What has a receipt stays. A
    model that fails stops no other one; its error is raised in the end, and tried again next time.
    """
    study = load_study(config)
    root = open_root(study.warehouse)
    with study_lock(root, study.study):
        remove_temporary_files(root, study.study)
        repair_compactions(root, study.study)
        # Prefect looks through all that a task is given, for futures: pairs and plans hold none.
        pairs = opaque(steps.pair(study))
        steps.check_inputs(study, pairs)
        pixels = steps.store(study, pairs)
        steps.fit(study, pairs, pixels)
        with connect(study.cluster, user_code(study)) as client:
            states = [steps.train(client, study, return_state=True)]
            trained = with_trained_models(study)
            if not trained.models:
                states[0].result()
            plan = opaque(steps.plan(trained, pairs))
            tested = steps.smoke_test(client, plan, pixels, return_state=True)
            require(tested, states)
            states += steps.model_by_model(client, plan.unwrap(), pixels).values()
        raise_failures(states)
        remove_temporary_files(root, study.study)  # of a worker that died while it wrote
        steps.analyse(plan, pixels)
        steps.check(plan)
        steps.report(plan)
