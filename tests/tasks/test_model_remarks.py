"""Remarks of trials on models: stored once, shown while the scores are, replaced by a new trial."""

import pytest
from in_process import compute, planned
from small_studies import of_scenes, untrained
from warehouse_answers import fetched

from decaf.models.network_faults import OUTPUTS_LIKE_PROBABILITIES
from decaf.plan.study import Study
from tasks.model_remarks import TRIALS, commit_trial, update_remarks
from warehouse.commits import receipts

WARNINGS = "SELECT model_id, detail FROM out_warnings WHERE warning = 'model_remark'"


@pytest.fixture
def settings(tmp_path):
    cards = [untrained(tmp_path, name, seed) for seed, name in enumerate("ab")]
    return of_scenes(tmp_path, cards, 2)


def commit_remarks(plan, **remarks):
    commit_trial(plan.store, plan.study.study, plan.work.units, remarks)


def test_remarks_are_planned_and_shown_once_the_model_is_not_tried_again(settings):
    study = Study(**settings)
    plan = planned(study)
    compute(study)
    commit_remarks(plan, a=["first", "second"], b=[])
    assert planned(study).model_remarks == {"a": ("first", "second"), "b": ()}
    assert fetched(study.warehouse, WARNINGS) == [("a", "first"), ("a", "second")]
    # Another threshold makes another run of the same scores.
    other = Study(**settings | {"epsilon": 0.3})
    assert planned(other).all_remarks[-2:] == ("a: first", "a: second")
    compute(other)
    assert fetched(study.warehouse, WARNINGS) == [("a", "first"), ("a", "second")]


def test_a_model_that_is_tried_again_has_no_earlier_remark(settings):
    plan = planned(Study(**settings))
    compute(Study(**settings))
    commit_remarks(plan, a=["first"])
    settings["models"][0]["std"] = [0.25]
    assert planned(Study(**settings)).model_remarks == {}


def test_the_newest_trial_counts_even_without_remarks(settings):
    study = Study(**settings)
    plan = planned(study)
    compute(study)
    commit_remarks(plan, a=["first"], b=["other"])
    commit_remarks(plan, a=[])
    assert planned(study).model_remarks == {"a": (), "b": ("other",)}
    assert fetched(study.warehouse, WARNINGS) == [("b", "other")]


def test_trials_without_remarks_are_not_stored(settings):
    plan = planned(Study(**settings))
    compute(Study(**settings))
    commit_remarks(plan, a=[], b=[])
    assert receipts.keys(plan.store, TRIALS, plan.study.study) == set()


def test_outputs_like_probabilities_leave_passed_limits_undecided(settings):
    settings |= {"expect": {"wall_hue": {"should_not_matter": {"at_most": 0.9}}}}
    settings["data"]["sources"] = 6
    plan = planned(Study(**settings))
    compute(Study(**settings))
    commit_remarks(plan, a=[OUTPUTS_LIKE_PROBABILITIES], b=["other"])
    decisions = "SELECT model_id, decision FROM out_findings ORDER BY model_id"
    assert fetched(plan.study.warehouse, decisions) == [("a", "undecided"), ("b", "safe")]
    ((sentence,),) = fetched(
        plan.study.warehouse, "SELECT sentence FROM out_findings WHERE model_id = 'a'"
    )
    assert OUTPUTS_LIKE_PROBABILITIES in sentence
    settings["models"][0]["output"] = "logits"
    plan = planned(Study(**settings))
    update_remarks(plan.store, plan.study.study, plan.work, plan.study.models)
    assert fetched(plan.study.warehouse, decisions) == [("a", "safe"), ("b", "safe")]


def test_a_remark_that_the_card_answers_is_dropped(settings):
    plan = planned(Study(**settings))
    compute(Study(**settings))
    commit_remarks(plan, a=[OUTPUTS_LIKE_PROBABILITIES, "second"])
    settings["models"][0]["output"] = "logits"
    plan = planned(Study(**settings))
    assert plan.model_remarks == {"a": ("second",)}
    update_remarks(plan.store, plan.study.study, plan.work, plan.study.models)
    assert fetched(plan.study.warehouse, WARNINGS) == [("a", "second")]
