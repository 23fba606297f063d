"""End a run: record its outcome and write its report."""

import re
from contextlib import ExitStack
from pathlib import Path

from decaf.plan.study import Study
from tasks.manifest import commit_outcome, commit_run
from tasks.pictures import store_pictures
from tasks.plan import AuditPlan
from warehouse.query.damage import connect_whole
from warehouse.report.comparison import read_side, run_named, write_comparison
from warehouse.report.page import write_report
from warehouse.report.paper.page import write_paper_page, write_paper_pages
from warehouse.storage import Root


def finish(plan: AuditPlan) -> None:
    """Record that the run is complete, with its totals from the warehouse."""
    with connect_whole(plan.root, plan.study.study) as connection:
        totals = connection.sql(
            "SELECT coalesce(sum(forward_rows), 0)::BIGINT, "
            "(SELECT count(*) FROM stg_quarantine JOIN core_run_units USING (study, unit_key) "
            "WHERE study = $study) "
            "FROM out_costs WHERE study = $study",
            params={"study": plan.study.study},
        ).fetchall()
    commit_outcome(plan, *totals[0])


def show_again(plan: AuditPlan) -> None:
    """Make a finished run the current one of its study again, and write its report."""
    commit_run(plan)
    store_pictures(plan)
    publish(plan.root, plan.study)


def publish(root: Root, study: Study) -> Path | None:
    """Write the study's report from the warehouse, unless it has none; no model is needed."""
    if study.report_file is None:
        return None
    with connect_whole(root, study.study) as connection:
        return write_report(
            connection,
            study.study,
            study.report_file,
            has_paper=study.report.paper,
            sections=study.report.sections,
        )


def publish_comparison(root: Root, study: Study, report: Path, against: str) -> Path:
    """Compare the study's newest run with a run, a version or a warehouse, beside its report.

    Raises UnknownName when there is no such run.
    """
    name = re.sub(r"[^\w.-]+", "-", against).strip("-.")[-40:]
    target = report.with_name(f"{report.stem}-against-{name}.html")
    is_warehouse = "://" in against or Path(against).is_dir()
    with ExitStack() as opened:
        here = opened.enter_context(connect_whole(root, study.study))
        if is_warehouse:
            there = opened.enter_context(connect_whole(against, study.study))
            before = read_side(there, study.study, against)
        else:
            before = read_side(here, study.study, str(root), run_named(here, study.study, against))
        now = read_side(here, study.study, str(root))
        paired = None if is_warehouse else here
        return write_comparison(target, study.study, before, now, paired)


def publish_paper(root: Root, study: str, target: Path) -> Path:
    """Write the paper's tables of the study as a page of Markdown; no model is needed."""
    with connect_whole(root, study) as connection:
        return write_paper_page(connection, study, target)


def publish_papers(root: Root, folder: Path) -> None:
    """Write such pages of all studies of a warehouse into a folder."""
    with connect_whole(root, None) as connection:
        write_paper_pages(connection, folder)
