"""Audit a study that is loaded, and print its results."""

from collections.abc import Sequence

from rich.console import Console

from decaf.errors import ModelsFailed
from decaf.foundation.yaml_source import Source
from decaf.plan.study import Study
from flows.commands import display
from tasks.hold import hold_warehouse
from tasks.manifest import record_forced
from tasks.pictures import are_stored
from tasks.plan import AuditPlan, plan_audit
from tasks.progress import announce
from tasks.verify import refuse_quarantined


def audit(console: Console, config: Source, study: Study, force: Sequence[str]) -> None:
    """Carry out what is left of a study; a study that is done needs no Prefect.

    Prints the results; where some models failed, those of the others, and raises ModelsFailed.
    """
    with hold_warehouse(study):
        plan = plan_audit(study, study.pair_set(), force)
        for remark in plan.remarks:
            announce(remark)
        if force:
            announce(record_forced(plan))
        if plan.is_done:
            refuse_quarantined(plan)
            _show(console, plan)
        else:
            from flows.launch import launch
            from tasks.cluster import fork_server

            fork_server.begin(plan.given.cluster)
            announce(f"auditing {study.study}; the same command resumes it whenever it is stopped")
            try:
                launch("audit", config, plan)
            except ModelsFailed:
                display.results(console, study)
                raise
    display.results(console, study)


def _show(console: Console, plan: AuditPlan) -> None:
    report = plan.study.report_file
    if not (plan.is_current and are_stored(plan) and (report is None or report.exists())):
        from tasks.publish import show_again

        show_again(plan)
    console.print(
        f"nothing to do: all {len(plan.units)} units of study {plan.study.study} are committed "
        f"(run {plan.run_id[:12]}); no forward pass was made"
    )
