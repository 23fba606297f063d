"""Audit a study: pair → fit and train → plan → examine → score, route, measure → check → report."""

from pathlib import Path

from prefect import flow

from decaf.study import load_study
from tasks import steps
from tasks.cluster import connect
from tasks.plan import by_model
from tasks.progress import progress_of
from warehouse.lock import study_lock
from warehouse.writer import open_root, sweep


@flow(name="audit", flow_run_name="audit-{config.stem}")
def audit(config: Path) -> None:
    """Carry out what is left of a study; the same call again resumes it.

    Reads the data and the models; writes the pixel file, checkpoints, the warehouse and the
    report. What has a receipt is not done again.
    """
    study = load_study(config)
    root = open_root(study.warehouse)
    with study_lock(root, study.study):
        sweep(root, study.study)
        pairs = steps.pair(study)
        pixels = steps.store(study, pairs)
        steps.fit(study, pairs, pixels)
        with connect(study.cluster) as client:
            steps.train(client, study)
            plan = steps.plan(study, pairs)
            steps.examine(client, plan, pixels)
            alone = steps.store_alone(plan)
            count = len(plan.pending) + len(plan.unmeasured)
            unit = "shards and measurements" if plan.measurements else "shards"
            states = []
            with progress_of(count, unit) as progress:
                for work in by_model(plan):
                    scored = steps.score(
                        client,
                        plan,
                        work.model_id,
                        work.shards,
                        pixels,
                        progress,
                        return_state=True,
                    )
                    states.append(scored)
                    if work.measurements and scored.is_completed():
                        states.append(
                            steps.measure(
                                client,
                                plan,
                                work.model_id,
                                work.measurements,
                                pixels,
                                alone,
                                progress,
                                return_state=True,
                            )
                        )
        # A model that cannot be scored stops no other model; its error is raised in the end.
        for state in states:
            state.result()
        sweep(root, study.study)  # a worker may have died in the middle of a commit
        steps.check(plan)
        steps.report(plan)
