"""scikit-learn and XGBoost estimators from files, against their own predictions."""

import pickle

import numpy as np
import pytest
import skops.io
import torch
import xgboost
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from decaf.errors import ModelError
from decaf.models.sources.estimator import EstimatorCard

RNG = np.random.default_rng(0)
ROWS = RNG.random((80, 12)).astype(np.float32)
TWO = (ROWS[:, 0] > 0.5).astype(int)
FOUR = RNG.integers(0, 4, 80)
AMOUNT = ROWS @ np.arange(12.0)
IMAGES = torch.from_numpy(ROWS).view(80, 3, 2, 2)


def card(path, **changes):
    return EstimatorCard(id="one", family="any", source="estimator", file=path, **changes)


def load(path, **changes):
    given = card(path, **changes)
    given.weights_digest()
    return given.load("cpu")


@pytest.fixture
def dump(tmp_path):
    def written(estimator, name="model.skops"):
        skops.io.dump(estimator, tmp_path / name)
        return tmp_path / name

    return written


@pytest.fixture
def boost(tmp_path):
    def written(model, name="model.ubj"):
        model.save_model(tmp_path / name)
        return tmp_path / name

    return written


@pytest.mark.parametrize("labels", [TWO, FOUR])
def test_probabilities_are_those_of_scikit_learn(dump, labels):
    estimator = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, labels)
    model = load(dump(estimator))
    assert model.output == "probabilities"
    expected = estimator.predict_proba(ROWS)
    np.testing.assert_array_equal(model.outputs(IMAGES), expected)
    np.testing.assert_array_equal(model.outputs(torch.from_numpy(ROWS)), expected)


def test_many_classes_have_logits_and_two_have_one_value(dump):
    many = LogisticRegression().fit(ROWS, FOUR)
    model = load(dump(many), method="decision_function")
    assert model.output == "logits"
    np.testing.assert_array_equal(model.outputs(IMAGES), many.decision_function(ROWS))
    two = LogisticRegression().fit(ROWS, TWO)
    model = load(dump(two), method="decision_function")
    assert model.output == "value"
    np.testing.assert_array_equal(model.outputs(IMAGES)[:, 0], two.decision_function(ROWS))


def test_a_regressor_has_a_value(dump):
    estimator = LinearRegression().fit(ROWS, AMOUNT)
    model = load(dump(estimator), method="predict")
    assert model.output == "value"
    np.testing.assert_allclose(model.outputs(IMAGES)[:, 0], AMOUNT, rtol=1e-4)


def test_columns_are_in_the_order_of_the_studys_classes(dump):
    names = np.array(["cat", "dog", "eel", "fox"])[FOUR]
    estimator = LogisticRegression().fit(ROWS, names)
    path = dump(estimator)
    with pytest.raises(ModelError, match=r"classes \['cat', .*expected \[0, 1, 2, 3\]: give 'cla"):
        load(path)
    model = load(path, classes=("fox", "cat", "eel", "dog"))
    expected = estimator.predict_proba(ROWS)[:, [3, 0, 2, 1]]
    np.testing.assert_array_equal(model.outputs(IMAGES), expected)
    with pytest.raises(ModelError, match="the estimator calls its classes"):
        load(path, classes=("fox", "cat"))


def test_an_estimator_of_one_against_one_has_no_column_for_each_class(dump):
    estimator = SVC(decision_function_shape="ovo").fit(ROWS, FOUR)
    model = load(dump(estimator), method="decision_function")
    with pytest.raises(ModelError, match=r"gave shape \(80, 6\) for 4 classes"):
        model.outputs(IMAGES)


def test_a_type_that_skops_does_not_know_has_to_be_trusted(dump):
    estimator = RandomForestClassifier(3, random_state=0).fit(ROWS, TWO)
    path = dump(estimator)
    with pytest.raises(ModelError, match=r"'trusted: \[sklearn\.tree\._tree\.Tree\]'"):
        load(path)
    model = load(path, trusted=("sklearn.tree._tree.Tree",))
    np.testing.assert_array_equal(model.outputs(IMAGES), estimator.predict_proba(ROWS))


def test_a_function_inside_an_estimator_is_not_run_unless_it_is_trusted(
    tmp_path, dump, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_steps.py").write_text("def double(rows): return 2 * rows\n")
    import own_steps

    steps = make_pipeline(FunctionTransformer(own_steps.double), LogisticRegression())
    path = dump(steps.fit(ROWS, TWO))
    with pytest.raises(ModelError, match="own_steps.double"):
        load(path)
    model = load(path, trusted=("own_steps.double",))
    np.testing.assert_array_equal(model.outputs(IMAGES), steps.predict_proba(ROWS))


@pytest.mark.parametrize("name", ["model.ubj", "model.json"])
@pytest.mark.parametrize("labels", [TWO, FOUR])
def test_probabilities_are_those_of_xgboost(boost, name, labels):
    estimator = xgboost.XGBClassifier(n_estimators=4, max_depth=2).fit(ROWS, labels)
    model = load(boost(estimator, name))
    assert model.output == "probabilities"
    np.testing.assert_allclose(model.outputs(IMAGES), estimator.predict_proba(ROWS), rtol=1e-6)


def test_margins_and_values_are_those_of_xgboost(boost):
    four = xgboost.XGBClassifier(n_estimators=4, max_depth=2).fit(ROWS, FOUR)
    model = load(boost(four), method="decision_function")
    assert model.output == "logits"
    expected = four.predict(ROWS, output_margin=True)
    np.testing.assert_allclose(model.outputs(IMAGES), expected, rtol=1e-6)

    two = xgboost.XGBClassifier(n_estimators=4, max_depth=2).fit(ROWS, TWO)
    model = load(boost(two), method="decision_function")
    assert model.output == "value"
    expected = two.predict(ROWS, output_margin=True)
    np.testing.assert_allclose(model.outputs(IMAGES)[:, 0], expected, rtol=1e-6)

    amount = xgboost.XGBRegressor(n_estimators=4, max_depth=2).fit(ROWS, AMOUNT)
    model = load(boost(amount), method="predict")
    assert model.output == "value"
    np.testing.assert_allclose(model.outputs(IMAGES)[:, 0], amount.predict(ROWS), rtol=1e-6)


def test_xgboost_predicts_with_its_best_iteration(boost):
    noise = RNG.integers(0, 2, 80)
    estimator = xgboost.XGBClassifier(n_estimators=30, early_stopping_rounds=2, learning_rate=1.0)
    estimator.fit(ROWS[:40], noise[:40], eval_set=[(ROWS[40:], noise[40:])], verbose=False)
    assert estimator.best_iteration < estimator.get_booster().num_boosted_rounds() - 1
    model = load(boost(estimator))
    np.testing.assert_allclose(model.outputs(IMAGES), estimator.predict_proba(ROWS), rtol=1e-6)


def test_an_objective_that_does_not_give_what_is_asked_for_is_refused(boost):
    amount = xgboost.XGBRegressor(n_estimators=2).fit(ROWS, AMOUNT)
    with pytest.raises(ModelError, match="trained for reg:squarederror, which has no probabilit"):
        load(boost(amount))
    two = xgboost.XGBClassifier(n_estimators=2).fit(ROWS, TWO)
    with pytest.raises(ModelError, match="trained for binary:logistic, which predicts classes"):
        load(boost(two), method="predict")


def test_a_method_that_the_estimator_has_not_is_named(dump):
    estimator = LinearRegression().fit(ROWS, AMOUNT)
    with pytest.raises(ModelError, match="LinearRegression has no predict_proba; it has predict:"):
        load(dump(estimator))


def test_rows_of_another_length_are_refused(dump, boost):
    wide = torch.zeros(2, 3, 4, 4)
    two = LogisticRegression().fit(ROWS, TWO)
    with pytest.raises(ModelError, match="could not answer: X has 48 features"):
        load(dump(two)).outputs(wide)
    two = xgboost.XGBClassifier(n_estimators=2).fit(ROWS, TWO)
    with pytest.raises(ModelError, match="could not answer: Feature shape mismatch"):
        load(boost(two)).outputs(wide)


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.skops", "model.json"])
def test_a_pickle_is_never_opened(tmp_path, name):
    (tmp_path / name).write_bytes(pickle.dumps(LogisticRegression().fit(ROWS, TWO)))
    with pytest.raises(ModelError, match="without running code .*skops.io.dump"):
        card(tmp_path / name).weights_digest()


def test_a_damaged_file_is_refused(dump, boost):
    path = boost(xgboost.XGBClassifier(n_estimators=2).fit(ROWS, TWO))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ModelError, match="is not a whole file"):
        load(path)
    path.write_bytes(b"{}")
    with pytest.raises(ModelError, match="is no XGBoost model"):
        load(path)
    path = dump(LogisticRegression().fit(ROWS, TWO))
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"__class__"', b'"__clazz__"'))
    with pytest.raises(ModelError, match="cannot be opened"):
        load(path)


def test_a_missing_file_says_where_it_belongs(tmp_path):
    with pytest.raises(ModelError, match=r"a\.skops cannot be read: No such file"):
        card(tmp_path / "a.skops").weights_digest()


def test_the_file_and_what_is_called_are_the_identity(dump, tmp_path):
    path = dump(LogisticRegression().fit(ROWS, TWO))
    one = card(path)
    digest = one.weights_digest()
    with pytest.raises(ModelError, match=f"has sha256 {digest}, the configuration expects abc"):
        card(path, sha256="abc").weights_digest()
    preprocessing = {
        card(path, **changes).preprocessing_digest
        for changes in ({}, {"method": "decision_function"}, {"classes": (1, 0)})
    }
    assert len(preprocessing) == 3
    assert (
        one.preprocessing_digest == card(path, trusted=("x",), sha256=digest).preprocessing_digest
    )
