"""Refine the stages of paths: continue from recorded grids, and add stages while means move."""

from collections.abc import Mapping
from dataclasses import replace

from decaf.plan.refining import list_rules
from decaf.plan.study import Study
from decaf.reveal.refinement import Refinement
from tasks.runs import read_newest_run
from warehouse.query.damage import fetch_whole
from warehouse.storage import Storage


def continue_grids(study: Study, store: Storage) -> Study:
    """Set the grid of every refined path without a grid.

    It is the grid of the newest run if refinement can reach it, and the first grid otherwise.
    Returns the study itself if every refined path has a grid.
    """
    rules = list_rules(study.paths, study.stages)
    open_rules = {name: rule for name, rule in rules.items() if rule.grid is None}
    if not open_rules:
        return study
    recorded = _recorded_grids(store, study.study)
    settled = {
        name: rule.settle(study.grid, study.paths[name].exact_stages, recorded.get(name))
        for name, rule in open_rules.items()
    }
    return with_stages(study, settled)


def refine_stages(study: Study, store: Storage) -> Study:
    """Double the stages of the paths whose means still move; the study itself without such paths.

    The study's run must be the newest one with all its trajectories stored. Reads the view
    ``out_refinements``; writes nothing.
    """
    rules = list_rules(study.paths, study.stages)
    if not rules:
        return study
    sql = "SELECT path FROM out_refinements WHERE study = $study AND reason IS NULL"
    rows = fetch_whole(store, study.study, sql)
    finer = {path: rules[path].refine() for (path,) in rows}
    return with_stages(study, {path: rule for path, rule in finer.items() if rule is not None})


def with_stages(study: Study, stages: Mapping[str, Refinement]) -> Study:
    """Copy a study with other stages of some paths; the study itself if ``stages`` is empty."""
    if not stages:
        return study
    paths = {
        name: replace(path, stages=stages[name]) if name in stages else path
        for name, path in study.paths.items()
    }
    return study.model_copy(update={"paths": paths})


def _recorded_grids(store: Storage, study: str) -> dict[str, tuple[float, ...]]:
    """Grids of the refined paths of the newest run, by path."""
    run = read_newest_run(store, study)
    stages = {name: path.get("stages") for name, path in run.config["paths"].items()} if run else {}
    return {name: tuple(rule["grid"]) for name, rule in stages.items() if isinstance(rule, dict)}
