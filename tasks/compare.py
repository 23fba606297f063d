"""Send the baselines of a plan to the workers."""

from distributed import Client

from tasks.baseline import BaselineOrder, BaselineReport, run_baseline
from tasks.cluster.drive import drive
from tasks.plan import AuditPlan, software
from tasks.progress import progress_of
from tasks.score import model_order


def make_baselines(client: Client, plan: AuditPlan) -> None:
    """Make the baselines that are left, model by model; each is committed by its worker.

    One whose receipt is there is passed over, so a second call does only what is left.
    """
    units = plan.uncompared
    if not units:
        return
    study = plan.study
    orders = [
        BaselineOrder(
            root=plan.root,
            study=study.study,
            model=model_order(study, unit.model, unit.inputs),
            data=study.data,
            batch_size=study.batch_size,
            unit=unit,
            software=software(),
        )
        for unit in units
    ]
    with progress_of(len(units), "baselines") as progress:

        def report(done: BaselineReport) -> None:
            progress.advance(done.model_id, done.predicted_rows)

        drive(client, run_baseline, orders, [f"{u.model.id}-{u.method}" for u in units], report)
