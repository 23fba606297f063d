"""Carry out a study in this process, without Prefect and Dask, as workers and the flow would."""

from collections import Counter
from pathlib import Path

from tasks.compute import fit
from tasks.inputs import store_foregrounds, store_pairs
from tasks.make_task import make_task
from tasks.manifest import commit_run
from tasks.plan import plan_audit
from tasks.reasons import count_reasons
from tasks.reaudit.judge import judge_newest
from tasks.reaudit.plan import commit_reaudit, discover
from tasks.reaudit.recorded import ALERTS
from tasks.reaudit.watch import with_references
from tasks.units.kinds import KINDS
from tasks.units.run_task import run_task
from warehouse.commits.writer import commit, open_root

NO_INPUTS = Path("no inputs")


def planned(study, force=()):
    """The plan of a study as its command makes it."""
    return plan_audit(study, study.pair_set(), force)


def reasons(plan):
    """Why units have to be computed: how many, by kind and reason."""
    found = Counter()
    for miss in count_reasons(plan.work.units, plan.work.reasons):
        found[miss.kind, *miss.reason] += miss.unit_count
    return dict(found)


def train(study, pairs=None):
    """Train what waits for it, and choose epochs; the plan of the study then."""
    open_root(study.warehouse)
    pairs = pairs or study.pair_set()
    plan = plan_audit(study, pairs)
    for group in (*plan.work.pending_groups("train"), *plan.work.pending_groups("choose")):
        run_task(make_task(plan, group, NO_INPUTS, None))
    return plan_audit(study, pairs)


def compute(study, pairs=None):
    """Compute everything but the analyses; the plan before it."""
    plan = train(study, pairs)
    inputs = store_pairs(study, plan.pairs)
    commit_run(plan)
    fit(plan, inputs)
    images = store_foregrounds(plan.study, plan.foregrounds)
    for groups in plan.work.by_model.values():
        for group in groups:
            run_task(make_task(plan, group, inputs, images))
    return plan


def checkpoints(study):
    """Final files of the trainings of a study, present or future, by the model's id."""
    plan = planned(study)
    trainings = [unit for unit in plan.work.units if unit.kind == "train"]
    return {unit.name: KINDS["train"].files(unit, study)[0] for unit in trainings}


def reaudited(study, store, only=()):
    """Audit and judge the current entries in this process, if they changed, without alerts."""
    diff = with_references(discover(study, store, study.pair_set(), only))
    if diff.is_changed:
        key = commit_reaudit(diff, compute(diff.audited_study).run_id)
        judge_newest(store, study)
        commit(store, ALERTS, study.study, key, {})
