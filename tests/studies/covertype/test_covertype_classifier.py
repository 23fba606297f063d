"""Recipes of Covertype's classifiers: their settings, their rows, and the files that they leave."""

import json
from typing import get_args

import numpy as np
import pytest
import torch
import yaml
from covertype_table import made_up, write
from pydantic import ValidationError
from threadpoolctl import threadpool_limits

from decaf.errors import DataError, WriteFailed
from decaf.models.sources.estimator import EstimatorCard
from decaf.plan.study import Study
from decaf.studies.covertype.channels import Treatment, draw_channels
from decaf.studies.covertype.classifiers import Family, make_estimator
from decaf.studies.covertype.recipes import CovertypeClassifier

FAMILIES = get_args(Family)


@pytest.fixture
def recipe(tmp_path):
    """Settings of a recipe on a small table."""
    table = {"file": write(tmp_path / "covtype.data", made_up(50)), "drawn_per_class": 40}
    treatment = {"mechanism": "invert", "strength": 0.95, "seed": 7701}
    of = {"recipe": "covertype_classifier", "classifier": "logistic_regression"}
    return of | {"table": table} | treatment


def card(recipe, **changes):
    given = {"id": "one", "family": "any", "source": "estimator"} | changes
    return EstimatorCard(training={**recipe}, **given)


SETTINGS = yaml.safe_load("""
logistic_regression: {C: 1.0, solver: lbfgs, max_iter: 1000}
random_forest: {n_estimators: 300, min_samples_leaf: 2, max_features: sqrt, n_jobs: 1}
hist_gradient_boosting:
  {max_iter: 250, learning_rate: 0.06, max_leaf_nodes: 31, l2_regularization: 0.001}
xgboost:
  {n_estimators: 400, max_depth: 6, learning_rate: 0.05, subsample: 0.9, colsample_bytree: 0.9,
   reg_lambda: 1, tree_method: hist, eval_metric: logloss, n_jobs: 1}
mlp:
  {hidden_layer_sizes: [128, 64], activation: relu, solver: adam, learning_rate_init: 0.001,
   alpha: 0.0001, batch_size: 512, max_iter: 60, early_stopping: true, n_iter_no_change: 8}
""")
"""What the paper says of each family."""


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_the_settings_of_the_paper(family):
    found = make_estimator(family, 7702).get_params()
    found |= {name: list(value) for name, value in found.items() if isinstance(value, tuple)}
    assert {name: found[name] for name in SETTINGS[family]} == SETTINGS[family]
    assert found["random_state"] == 7702


SMALL = {"random_forest": {"n_estimators": 9}, "xgboost": {"n_estimators": 9}}
SMALL |= {"hist_gradient_boosting": {"max_iter": 9}}
"""Settings with which a family is fitted in a moment."""


@pytest.fixture
def small_families(monkeypatch):
    """Make estimators of fewer trees."""

    def make_small(family, seed):
        return make_estimator(family, seed).set_params(**SMALL.get(family, {}))

    monkeypatch.setattr("decaf.studies.covertype.recipes.make_estimator", make_small)


@pytest.mark.parametrize(
    ("mechanism", "strength"), [("invert", None), ("fragile", 0.95), ("inverted", 0.95)]
)
def test_a_strength_belongs_to_the_direction_module_alone(recipe, mechanism, strength):
    with pytest.raises(ValidationError):
        CovertypeClassifier(**recipe | {"mechanism": mechanism, "strength": strength})


def test_rows_have_the_channels_of_the_model_however_few_they_are(recipe):
    made = CovertypeClassifier(**recipe)
    part = made.table.part("train")
    inputs, label = made.rows("train")
    channels = draw_channels(Treatment("invert", 0.95), 7701, "train", part.label)
    np.testing.assert_array_equal(inputs[:, :54], part.features)
    np.testing.assert_array_equal(inputs[:, 54:], np.stack(channels, axis=1))
    np.testing.assert_array_equal(label, part.label)
    few, few_labels = made.rows("train", 5)
    places = part.lowest(5)
    assert np.bincount(few_labels).tolist() == [5, 5]
    np.testing.assert_array_equal(few, inputs[places])


@pytest.mark.filterwarnings("ignore:Got `batch_size`")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_trained_classifier_is_opened_without_unpickling_and_answers_the_same(
    recipe, family, tmp_path, small_families
):
    untrained = card(recipe | {"classifier": family})
    file = tmp_path / f"one{untrained.trained_suffix}"
    with threadpool_limits(1):
        untrained.train(file, "cpu")
        made = untrained.with_checkpoint(file)
        estimator, outcome = made.training.fit()
        inputs, _ = made.training.rows("test")
        expected = estimator.predict_proba(inputs)
        model = made.load("cpu")
        found = model.outputs(torch.from_numpy(inputs))
    assert model.output == "probabilities"
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    record = json.loads(made.training_record())
    assert record["recipe"]["classifier"] == family
    kept = outcome._asdict() | {"seconds": record["outcome"]["seconds"]}
    assert record["outcome"] == kept
    assert (outcome.training_rows, made.origin) == (48, f"estimator:covertype_classifier:{family}")


@pytest.mark.filterwarnings(
    "ignore:Got `batch_size`", "error::sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("family", ["mlp", "logistic_regression"])
def test_a_fit_that_does_not_converge_is_recorded_and_no_error(recipe, family, monkeypatch):
    made = CovertypeClassifier(**recipe | {"classifier": family})
    _, free = made.fit()
    assert free.converged
    assert free.iterations > 1

    def stopped(family, seed):
        return make_estimator(family, seed).set_params(max_iter=1)

    monkeypatch.setattr("decaf.studies.covertype.recipes.make_estimator", stopped)
    _, outcome = made.fit()
    assert (outcome.iterations, outcome.converged) == (1, False)


def test_other_warnings_of_a_fit_are_still_heard(recipe):
    made = CovertypeClassifier(**recipe | {"classifier": "mlp"})
    with pytest.warns(UserWarning, match="Got `batch_size`"):
        made.fit()


@pytest.mark.filterwarnings("ignore:Got `batch_size`")
@pytest.mark.parametrize(("family", "fewest"), [("mlp", 10), ("logistic_regression", 1)])
def test_only_a_network_needs_rows_to_hold_out(recipe, family, fewest):
    made = CovertypeClassifier(**recipe | {"classifier": family, "fitted_per_class": fewest})
    assert made.fit()[1].training_rows == 2 * fewest


def test_too_few_rows_of_a_network_are_refused(recipe):
    made = CovertypeClassifier(**recipe | {"classifier": "mlp", "fitted_per_class": 9})
    for fit in (made.fit, made.fit_without_factor):
        with pytest.raises(DataError, match="9 rows.* 10 of each"):
            fit()


def test_what_is_trained_is_not_trained_again_and_another_recipe_is(recipe, tmp_path):
    made = card(recipe)
    path = tmp_path / "checkpoints" / "one.skops"
    made.train(path, "cpu")
    before, digest = path.stat().st_mtime_ns, made.with_checkpoint(path).weights_digest()
    made.train(path, "cpu")
    assert (path.stat().st_mtime_ns, made.with_checkpoint(path).weights_digest()) == (
        before,
        digest,
    )
    assert sorted(file.name for file in path.parent.iterdir()) == [
        path.name,
        f"{path.name}.outcome.json",
    ]
    for change in ({"seed": 7702}, {"strength": 0.75}, {"mechanism": "gate"}):
        assert card(recipe | change).training_parts != made.training_parts


@pytest.mark.parametrize("given", [{}, {"file": "one.skops", "training": ...}])
def test_an_estimator_has_a_file_or_a_recipe(recipe, given):
    given = {name: recipe if value is ... else value for name, value in given.items()}
    with pytest.raises(ValidationError, match="'file' and 'training'"):
        EstimatorCard(id="one", family="any", source="estimator", **given)


def test_a_study_audits_no_row_that_its_models_were_trained_on(recipe):
    def study(table):
        return Study(
            study="held_out",
            data={"adapter": "covertype", "table": table},
            models=[{"id": "one", "family": "any", "source": "estimator", "training": recipe}],
            score={"kind": "class_probability", "classes": 2, "target": 1},
            paths={"context": {"kind": "context"}},
        )

    assert study(recipe["table"]).data.table == study(recipe["table"]).models[0].training.table
    with pytest.raises(ValidationError, match="model one.*'table:'"):
        study(recipe["table"] | {"drawn_per_class": 39})


def test_a_full_disk_leaves_no_estimator(recipe, small_disk):
    made = card(recipe | {"classifier": "random_forest"})
    with pytest.raises(WriteFailed):
        made.train(small_disk / "checkpoints" / "one.skops", "cpu")
    assert not list((small_disk / "checkpoints").glob("*.skops"))
    assert not list((small_disk / "checkpoints").glob("*.tmp"))
