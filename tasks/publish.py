"""End a run: record its outcome and write its report."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from decaf.plan.study import Study
from tasks.manifest import commit_outcome, commit_run
from tasks.pictures import store_pictures
from tasks.plan import AuditPlan
from warehouse import storage
from warehouse.query.damage import connect_whole, fetch_whole
from warehouse.report.audit.facts import Facts
from warehouse.report.comparison import read_side, run_named, write_comparison
from warehouse.report.own_page import write_own_page
from warehouse.report.page import write_report
from warehouse.report.paper.page import write_paper_page, write_paper_pages
from warehouse.report.sides import write_sides
from warehouse.storage import Storage


def finish(plan: AuditPlan) -> None:
    """Record that the run is complete, with its totals from the warehouse."""
    sql = (
        "SELECT coalesce(sum(forward_rows), 0)::BIGINT, "
        "(SELECT count(*) FROM stg_quarantine JOIN core_run_units USING (study, unit_key) "
        "WHERE study = $study) "
        "FROM out_costs WHERE study = $study"
    )
    (totals,) = fetch_whole(plan.store, plan.study.study, sql)
    commit_outcome(plan, *totals)


def publish_again(plan: AuditPlan) -> Facts | None:
    """Make a finished run the current run of its study again; returns what ``publish`` does."""
    commit_run(plan)
    store_pictures(plan)
    return publish(plan.store, plan.study)


def publish(store: Storage, study: Study, config: str = "CONFIG") -> Facts | None:
    """Write the study's report, and return its numbers; None if the study has no report.

    Commands on the page name the study's file ``config``.
    """
    if study.report_file is None:
        return None
    with connect_whole(store, study.study) as connection:
        return write_report(
            connection,
            study.study,
            study.report_file,
            has_paper=study.report.paper,
            sections=study.report.sections,
            config=config,
        )


def publish_comparison(store: Storage, study: Study, report: Path, against: Sequence[str]) -> Path:
    """Write a page, next to the report, that compares the newest run with runs or warehouses.

    ``against`` has ids of runs, versions or warehouses. A single comparison pairs equal pairs;
    several are shown side by side. Raises UnknownName for an unknown run.
    """
    compared = list(dict.fromkeys(against))
    name = "-and-".join(
        re.sub(r"[^\w.-]+", "-", name_of_side).strip("-.")[-40:] for name_of_side in compared
    )
    target = report.with_name(f"{report.stem}-against-{name[:160]}.html")
    with ExitStack() as opened:
        here = opened.enter_context(connect_whole(store, study.study))
        sides = {}
        for name_of_side in compared:
            if _is_warehouse(name_of_side):
                other_warehouse = opened.enter_context(
                    connect_whole(storage.open(name_of_side), study.study)
                )
                sides[name_of_side] = read_side(other_warehouse, study.study, name_of_side)
            else:
                run_id = run_named(here, study.study, name_of_side)
                sides[name_of_side] = read_side(here, study.study, study.warehouse, run_id)
        now = read_side(here, study.study, study.warehouse)
        if len(sides) > 1:
            return write_sides(target, study.study, sides, now)
        paired = None if _is_warehouse(compared[0]) else here
        return write_comparison(target, study.study, sides[compared[0]], now, paired)


def _is_warehouse(name: str) -> bool:
    return "://" in name or Path(name).is_dir()


def publish_results(store: Storage, study: Study, target: Path) -> Path:
    """Write a study's tables as a page of Markdown: those of its data, or of the paper."""
    with connect_whole(store, study.study) as connection:
        if study.data.results_folder is None:
            return write_paper_page(connection, study.study, target)
        return write_own_page(connection, study.study, study.data.results_folder, target)


def publish_papers(store: Storage, folder: Path) -> None:
    """Write the pages with the paper's tables of all studies into a folder."""
    with connect_whole(store, None) as connection:
        write_paper_pages(connection, folder)
