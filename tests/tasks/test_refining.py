"""Paths whose stages a run doubles until their means stop moving."""

import json

import numpy as np
import pytest
from in_process import compute, planned
from small_studies import of_scenes, untrained, weighted
from warehouse_answers import fetched

from decaf.plan.study import Study
from warehouse.commits.writer import open_root

PATHS = {
    "blend": {"kind": "blend", "sigma": 1.0},
    "patch": {"kind": "patches", "sigma": 1.0, "side": 4},
}
TRAJECTORIES = (
    "SELECT model_id, path, pair_id, repetition, q_plus, q_minus FROM core_trajectories "
    "ORDER BY ALL"
)
PROFILES = (
    "SELECT model_id, path, pair_type, evidence, contradiction, fragility, abs_response "
    "FROM out_model_profiles ORDER BY ALL"
)
REASONS = "SELECT path, stage_count, reason FROM out_refinements ORDER BY ALL"
KEYS = "SELECT unit_key FROM core_run_units ORDER BY ALL"
FORWARD_ROWS = "SELECT coalesce(sum(forward_rows), 0) FROM stg_costs"


@pytest.fixture
def study_of(tmp_path):
    """Make a study of two networks on scenes, with a warehouse of its name."""
    models = [untrained(tmp_path, name, seed) for seed, name in enumerate(("one", "two"))]

    def of(stages, warehouse="warehouse", models=models, paths=PATHS, **changed):
        place = {"warehouse": str(tmp_path / warehouse)}
        changed = {"sources": 6, "paths": paths, "stages": stages, "epsilon": 0.001} | changed
        return Study.model_validate(of_scenes(tmp_path, models, **place, **changed))

    return of


def rule(until, at_most):
    return {"until": until, "at_most": at_most}


def compute_to_the_end(study):
    """Compute again and again until nothing is left; stages by path of every call."""
    open_root(study.warehouse)
    grids = []
    while (plan := planned(study)).work.pending:
        grids.append({name: len(path.stages.grid) for name, path in plan.study.paths.items()})
        compute(study)
    return grids


def answers(study, query):
    return fetched(study.warehouse, query)


def test_a_refined_study_equals_one_with_its_last_stages_from_the_start(study_of):
    refined = study_of(rule(1e-9, 33))
    grids = compute_to_the_end(refined)
    # A patch path of 16 patches shows every state on 17 stages.
    assert grids == [
        {"blend": 9, "patch": 9},
        {"blend": 17, "patch": 17},
        {"blend": 33, "patch": 17},
    ]
    assert answers(refined, REASONS) == [("blend", 33, "at_most"), ("patch", 17, "exact")]

    paths = {"blend": PATHS["blend"] | {"stages": 33}, "patch": PATHS["patch"] | {"stages": 17}}
    by_hand = study_of(9, "by_hand", paths=paths)
    compute(by_hand)
    assert answers(refined, KEYS) == answers(by_hand, KEYS)
    for fine, fresh in zip(
        answers(refined, TRAJECTORIES), answers(by_hand, TRAJECTORIES), strict=True
    ):
        assert fine[:4] == fresh[:4]
        np.testing.assert_allclose(fine[4:], fresh[4:], atol=1e-5)
    for fine, fresh in zip(answers(refined, PROFILES), answers(by_hand, PROFILES), strict=True):
        assert fine[:3] == fresh[:3]
        np.testing.assert_allclose(fine[3:], fresh[3:], atol=1e-5)
    # Each state is scored once.
    assert answers(refined, FORWARD_ROWS) == answers(by_hand, FORWARD_ROWS)


def test_states_that_are_scored_alike_give_the_same_bits(study_of, tmp_path):
    """A score that treats each row by itself has no batches that could differ."""
    shared = {"epsilon": 1.0, "paths": {"blend": PATHS["blend"]}} | weighted(tmp_path)
    refined = study_of(rule(1e-9, 17), **shared)
    assert len(compute_to_the_end(refined)) == 2
    by_hand = study_of(17, "by_hand", **shared)
    compute(by_hand)
    assert answers(refined, TRAJECTORIES) == answers(by_hand, TRAJECTORIES)
    assert answers(refined, PROFILES) == answers(by_hand, PROFILES)


def test_a_wide_tolerance_ends_at_the_first_stages(study_of):
    refined = study_of(rule(10.0, 33))
    assert len(compute_to_the_end(refined)) == 1
    assert answers(refined, REASONS) == [("blend", 9, "converged"), ("patch", 9, "converged")]


def test_one_model_that_moves_refines_the_path_for_all(study_of):
    fixed = study_of(9, "fixed", paths={"blend": PATHS["blend"]})
    compute(fixed)
    errors = "SELECT max(greatest(-lower_95, upper_95)) FROM out_stage_errors GROUP BY model_id"
    between = np.mean([error for (error,) in answers(fixed, errors)])
    both = study_of(rule(float(between), 17), paths={"blend": PATHS["blend"]})
    compute_to_the_end(both)
    counts = "SELECT DISTINCT model_id, len(q_plus) FROM core_trajectories ORDER BY ALL"
    assert answers(both, counts) == [("one", 17), ("two", 17)]


def test_a_run_goes_on_where_it_ended_and_never_on_fewer_stages(study_of):
    refined = study_of(rule(1e-9, 33), paths={"blend": PATHS["blend"]})
    open_root(refined.warehouse)

    def stages():
        return len(planned(refined).study.paths["blend"].stages.grid)

    assert stages() == 9
    compute(refined)
    assert stages() == 17  # though nothing says so but the scores
    compute(refined)
    assert stages() == 33
    # Another model starts with the stages that the study has come to.
    grown = study_of(
        rule(1e-9, 33),
        paths={"blend": PATHS["blend"]},
        models=[*refined.models, untrained(refined.workspace.parent, "new", 7)],
    )
    assert len(planned(grown).study.paths["blend"].stages.grid) == 17
    # A rule that allows fewer stages than there are starts again, with nothing left to score.
    fewer = study_of(rule(1e-9, 9), paths={"blend": PATHS["blend"]})
    assert len(planned(fewer).study.paths["blend"].stages.grid) == 9
    assert not planned(fewer).work.by_model


def test_another_tolerance_is_another_run_of_the_same_units(study_of):
    strict, loose = (planned(study_of(rule(until, 17))) for until in (0.001, 0.1))
    assert strict.run_id != loose.run_id
    assert [unit.key for unit in strict.work.units] == [unit.key for unit in loose.work.units]
    fixed = planned(study_of(9))
    assert [unit.key for unit in fixed.work.units] == [unit.key for unit in loose.work.units]


def test_a_run_records_the_rule_with_its_grid(study_of):
    refined = study_of(rule(10.0, 33))
    compute_to_the_end(refined)
    ((text,),) = answers(refined, "SELECT config FROM stg_runs")
    stages = json.loads(text)["paths"]["patch"]["stages"]
    assert stages == rule(10.0, 33) | {"grid": np.linspace(0, 1, 9).tolist(), "exact": 17}
