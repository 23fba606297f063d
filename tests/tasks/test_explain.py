"""Units of baselines: what they are known by, and what a worker computes and commits of one."""

from dataclasses import replace

import in_process
import numpy as np
import pytest
from in_process import planned
from pydantic import ValidationError
from small_studies import classifier, of_scenes, of_table
from warehouse_answers import fetched

from decaf.errors import DataError, ModelError
from decaf.plan.study import Study
from tasks.make_task import make_task
from tasks.plan import run_id_of
from tasks.units.run_task import UNITS, commit_key, run_task
from tasks.units.scope import of_kind
from warehouse import storage
from warehouse.commits import receipts
from warehouse.commits.stored import read_unit
from warehouse.commits.writer import open_root


@pytest.fixture
def given(tmp_path):
    """A study of two classifiers of a made-up table."""
    models = [
        classifier("linear_s1", mechanism="direct", strength=0.95),
        classifier("trees_s2", "xgboost", mechanism="fragile"),
    ]
    baselines = {
        "pdp_ale": {"kind": "pdp_ale"},
        "shap_interaction": {"kind": "shap_interaction", "rows": 4},
        "lime": {"kind": "lime", "rows": 2, "samples": 20, "models": ["*_s2"]},
    }
    return of_table(tmp_path, models, 60, study="s", baselines=baselines)


@pytest.fixture
def trained(given):
    study = Study(**given)
    in_process.train(study)
    return study


def explained(study):
    units = of_kind(in_process.train(study).work.units, "explain")
    return {(unit.model_id, unit.name): unit for unit in units}


def task(study, unit):
    open_root(study.warehouse)
    return make_task(planned(study), (unit,), in_process.NO_INPUTS, None)


def scores_of(study, unit):
    store = storage.open(study.warehouse)
    return read_unit(store, "s", commit_key((unit,)), unit.key, "baseline_scores")


def test_a_recipe_without_a_table_fits_to_that_of_the_data(given):
    study = Study(**given)
    assert {card.training.table for card in study.models} == {study.data.table}


def test_a_method_is_planned_for_the_models_that_it_applies_to(trained):
    units = explained(trained)
    assert list(units) == [
        ("linear_s1", "pdp_ale"),
        ("linear_s1", "shap_interaction"),
        ("trees_s2", "pdp_ale"),
        ("trees_s2", "shap_interaction"),
        ("trees_s2", "lime"),
    ]
    assert len({unit.key for unit in units.values()}) == 5


def test_what_changes_a_number_changes_its_key_and_no_other(given, trained):
    before = explained(trained)
    given["baselines"]["lime"] |= {"samples": 21}
    after = explained(Study(**given))
    changed = {name for name in before if before[name].key != after[name].key}
    assert changed == {("trees_s2", "lime")}
    given["baselines"]["lime"] |= {"samples": 20, "models": None}
    wider = explained(Study(**given))
    assert {name: wider[name].key for name in before} == {n: u.key for n, u in before.items()}
    assert wider.keys() - before.keys() == {("linear_s1", "lime")}
    given["data"]["audited_per_class"] = 5
    assert not {u.key for u in explained(Study(**given)).values()} & {u.key for u in wider.values()}


def test_baselines_are_part_of_what_a_run_is(trained):
    plan = planned(trained)
    others = [unit for unit in plan.work.units if unit.kind != "explain"]
    assert plan.run_id != run_id_of(plan.study, others, plan.pairs)
    baselines = of_kind(plan.work.pending, "explain")
    assert baselines == of_kind(plan.work.units, "explain")
    run_task(task(trained, baselines[0]))
    after = planned(trained)
    assert after.run_id == plan.run_id
    assert of_kind(after.work.pending, "explain") == baselines[1:]


def test_a_worker_commits_scores_and_costs_once(trained):
    unit = explained(trained)["linear_s1", "pdp_ale"]
    assert run_task(task(trained, unit))[:3] == ("linear_s1-explain-pdp_ale", 1, 6 * 24)
    assert run_task(task(trained, unit)).forward_rows == 0
    receipt = receipts.read_one(storage.open(trained.warehouse), UNITS, "s", commit_key((unit,)))
    assert receipt.units == (unit.key,)
    scores = scores_of(trained, unit)
    assert scores["component"].to_pylist() == ["pdp", "ale", "mean"]
    pdp, ale, mean = scores["score"].to_pylist()
    assert mean == pytest.approx((abs(pdp) + abs(ale)) / 2)
    costs = fetched(
        trained.warehouse,
        "SELECT name, forward_rows, wall_seconds > load_seconds + prepare_seconds, "
        "cpu_seconds > 0, peak_memory_bytes > 1e6, worker <> '' FROM stg_costs",
    )
    assert costs == [("pdp_ale", 144, True, True, True, True)]


def test_the_same_probabilities_as_the_audits_are_explained(trained):
    unit = explained(trained)["linear_s1", "pdp_ale"]
    run_task(task(trained, unit))
    scores = scores_of(trained, unit)
    estimator, _ = trained.models[0].training.fit()
    rows = trained.data.factual_rows(trained.models[0].training)
    corner = {
        (context, factor): estimator.predict_proba(rows.at(context, factor))[:, 1].mean()
        for context in (1, -1)
        for factor in (1, -1)
    }
    effect = {context: corner[context, 1] - corner[context, -1] for context in (1, -1)}
    assert scores["score"][0].as_py() == pytest.approx(effect[1] - effect[-1], abs=1e-6)
    assert abs(effect[1]) > 0.1


@pytest.mark.slow
def test_what_a_method_cannot_do_is_committed_with_its_reason(trained):
    units = explained(trained)
    for name in ("linear_s1", "trees_s2"):
        run_task(task(trained, units[name, "shap_interaction"]))
    found = fetched(
        trained.warehouse,
        "SELECT model_id, score IS NULL, explained_rows, reason FROM stg_baseline_scores "
        "ORDER BY ALL",
    )
    assert [row[:3] for row in found] == [("linear_s1", True, 0), ("trees_s2", False, 4)]
    assert found[0][3].startswith("LogisticRegression has no interaction values")


def test_a_model_without_probabilities_is_a_fault_of_the_configuration(given):
    given["models"][0]["method"] = "decision_function"
    with pytest.raises(ValidationError, match="pdp_ale.*linear_s1"):
        Study(**given)
    for baseline in given["baselines"].values():
        baseline["families"] = ["trees_s2"]
    assert Study(**given).models[0].method == "decision_function"


def test_what_gives_no_probabilities_is_not_explained_as_if_it_did(trained):
    unit = explained(trained)["linear_s1", "pdp_ale"]
    made = task(trained, unit)
    ready = in_process.train(trained).study.models[0]
    card = ready.model_copy(update={"method": "decision_function"})
    model = replace(made.model, card=card, preprocessing=card.preprocessing_digest)
    with pytest.raises(ModelError, match="value.*pdp_ale"):
        run_task(replace(made, model=model))
    assert commit_key((unit,)) not in receipts.keys(made.destination.store, UNITS, "s")


def test_a_refit_has_no_factor_and_is_not_kept(trained):
    recipe = trained.models[0].training
    before = sorted(path.name for path in (trained.workspace / "checkpoints").iterdir())
    refitted = recipe.fit_without_factor()
    inputs, label = recipe.rows("train")
    assert refitted.n_features_in_ == inputs.shape[1] - 1
    np.testing.assert_array_equal(refitted.classes_, np.unique(label))
    assert before == sorted(path.name for path in (trained.workspace / "checkpoints").iterdir())


def test_a_model_without_a_recipe_cannot_be_explained(given, trained):
    path = in_process.train(trained).study.models[0].trained_file
    given["models"][0] = {"id": "linear_s1", "family": "linear", "source": "estimator"}
    given["models"][0]["file"] = str(path)
    with pytest.raises(DataError, match="linear_s1.*'training:'"):
        explained(Study(**given))
    for baseline in given["baselines"].values():
        baseline["families"] = ["trees_s2"]
    assert {model for model, _ in explained(Study(**given))} == {"trees_s2"}


def test_a_data_set_without_factual_rows_has_no_baselines(tmp_path):
    card = {"id": "f", "family": "f", "source": "function", "output": "value"}
    card |= {"function": "decaf.statistics.ranks:average_ranks"}
    baselines = {"pdp_ale": {"kind": "pdp_ale"}}
    study = Study(**of_scenes(tmp_path, [card], baselines=baselines))
    with pytest.raises(DataError, match="'shapes3d'"):
        explained(study)


def test_a_baseline_of_no_model_is_a_fault_of_the_configuration(given):
    given["baselines"]["lime"]["models"] = ["mlp_*"]
    with pytest.raises(ValidationError, match="baseline lime"):
        Study(**given)
