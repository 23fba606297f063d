"""Carry out ``decaf run``: compute the missing units of a study, and print its results."""

from collections.abc import Sequence

from rich.console import Console

from decaf.errors import ModelsFailed
from decaf.foundation.yaml_source import Overrides, Source
from decaf.plan.study import Study, load_study
from flows.commands import display
from flows.commands.options import warn_of_other_warehouse
from flows.commands.reaudits import refuse_registry
from flows.launch import launch
from tasks.cluster import fork_server
from tasks.hold import hold_study
from tasks.manifest import record_forced
from tasks.missing_inputs import read_pairs
from tasks.model_remarks import update_remarks
from tasks.pictures import are_pictures_stored
from tasks.plan import AuditPlan, plan_audit
from tasks.progress import announce
from tasks.verify import refuse_quarantined
from warehouse.query.damage import connect_whole
from warehouse.report.audit.facts import Facts, read_printed
from warehouse.storage import Storage


def run(
    console: Console,
    config: Source,
    force: Sequence[str],
    overrides: Overrides = (),
    *,
    should_score_all: bool = False,
) -> None:
    """Compute the missing units of a study, and print its results; a finished study starts no flow.

    Units whose names match a pattern of ``force`` (:func:`tasks.editions.select_forced`) are
    computed again. If ``should_score_all``, all pairs are scored in spite of the study's ``stop``.

    Raises ConfigError if the study takes its models from a registry. If some models failed, prints
    the results of the others and raises ModelsFailed.
    """
    study = load_study(config, overrides)
    if should_score_all:
        study = study.to_the_end()
    warn_of_other_warehouse(study)
    fork_server.begin_early(study)  # it takes 2 s, while this process plans
    refuse_registry(study, "run")
    pairs = read_pairs(study)  # first, so that unreadable data leave no new warehouse behind
    with hold_study(study) as store:
        plan = plan_audit(study, pairs, force)
        update_remarks(store, study.study, plan.work, plan.study.models)
        for remark in plan.all_remarks:
            announce(remark)
        if force:
            announce(record_forced(plan))
        if plan.is_done:
            facts = _show_finished(console, plan)
        else:
            if plan.needs_workers:
                fork_server.begin(plan.configuration.cluster, plan.study.models)
            announce(f"auditing {study.study}; the same command resumes it whenever it is stopped")
            results: list[Facts | None] = []
            try:
                from flows.audit import audit  # imports Dask

                launch(audit, config, plan, conclude=results.append)
            except ModelsFailed:
                display.print_results(console, store, study, _read_results(store, study))
                raise
            (facts,) = results
    display.print_results(console, store, study, facts or _read_results(store, study))


def _read_results(store: Storage, study: Study) -> Facts:
    with connect_whole(store, study.study) as connection:
        return read_printed(connection, study.study)


def _show_finished(console: Console, plan: AuditPlan) -> Facts | None:
    refuse_quarantined(plan.store, plan.study, plan.work.units)
    report = plan.study.report_file
    facts = None
    if not (plan.is_current and are_pictures_stored(plan) and (report is None or report.exists())):
        from tasks.publish import publish_again  # imports charts

        facts = publish_again(plan)
    count = len(plan.work.units)
    console.print(
        f"nothing to do: all {count} units of study {plan.study.study} are committed "
        f"(run {plan.run_id[:12]}); no forward pass was made"
    )
    return facts
