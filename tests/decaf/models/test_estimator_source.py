"""scikit-learn and XGBoost estimators from files, against their own predictions."""

import importlib
import pickle

import joblib
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
from decaf.foundation import callables
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
def stored(tmp_path):
    """Write an estimator to a file of its library; the path."""

    def written(estimator, name=None):
        if isinstance(estimator, xgboost.XGBModel):
            path = tmp_path / (name or "model.ubj")
            estimator.save_model(path)
        else:
            path = tmp_path / (name or "model.skops")
            skops.io.dump(estimator, path)
        return path

    return written


def boosted(kind=xgboost.XGBClassifier):
    return kind(n_estimators=4, max_depth=2)


@pytest.mark.parametrize("labels", [TWO, FOUR])
@pytest.mark.parametrize("name", ["model.skops", "model.ubj", "model.json"])
def test_probabilities_are_those_of_the_library(stored, name, labels):
    is_boosted = name != "model.skops"
    usual = make_pipeline(StandardScaler(), LogisticRegression())
    estimator = (boosted() if is_boosted else usual).fit(ROWS, labels)
    model = load(stored(estimator, name))
    assert model.output == "probabilities"
    for batch in (IMAGES, torch.from_numpy(ROWS)):
        expected = estimator.predict_proba(ROWS)
        np.testing.assert_allclose(model.outputs(batch), expected, 1e-6 if is_boosted else 0)


@pytest.mark.parametrize(
    ("estimator", "target", "method", "output"),
    [
        (LogisticRegression(), FOUR, "decision_function", "logits"),
        (LogisticRegression(), TWO, "decision_function", "value"),
        (LinearRegression(), AMOUNT, "predict", "value"),
        (boosted(), FOUR, "decision_function", "logits"),
        (boosted(), TWO, "decision_function", "value"),
        (boosted(xgboost.XGBRegressor), AMOUNT, "predict", "value"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else None,
)
def test_margins_and_values_are_those_of_the_library(stored, estimator, target, method, output):
    estimator.fit(ROWS, target)
    model = load(stored(estimator), method=method)
    assert model.output == output
    if isinstance(estimator, xgboost.XGBModel):
        expected = estimator.predict(ROWS, output_margin=True)
    else:
        expected = getattr(estimator, method)(ROWS)
    np.testing.assert_allclose(model.outputs(IMAGES), expected.reshape(80, -1), rtol=1e-6)


def test_columns_are_in_the_order_of_the_studys_classes(stored):
    names = np.array(["cat", "dog", "eel", "fox"])[FOUR]
    estimator = LogisticRegression().fit(ROWS, names)
    path = stored(estimator)
    with pytest.raises(ModelError, match=r"\"cat\", .*\[0, 1, 2, 3\]"):
        load(path)
    model = load(path, classes=("fox", "cat", "eel", "dog"))
    expected = estimator.predict_proba(ROWS)[:, [3, 0, 2, 1]]
    np.testing.assert_array_equal(model.outputs(IMAGES), expected)
    with pytest.raises(ModelError, match="cat"):
        load(path, classes=("fox", "cat"))


def test_an_estimator_of_one_against_one_has_no_column_for_each_class(stored):
    estimator = SVC(decision_function_shape="ovo").fit(ROWS, FOUR)
    model = load(stored(estimator), method="decision_function")
    with pytest.raises(ModelError, match=r"\(80, 6\) for 4 classes"):
        model.outputs(IMAGES)


def test_a_type_that_skops_does_not_know_has_to_be_trusted(stored):
    estimator = RandomForestClassifier(3, random_state=0).fit(ROWS, TWO)
    path = stored(estimator)
    with pytest.raises(ModelError, match=r"'trusted: \[sklearn\.tree\._tree\.Tree\]'"):
        load(path)
    model = load(path, trusted=("sklearn.tree._tree.Tree",))
    np.testing.assert_array_equal(model.outputs(IMAGES), estimator.predict_proba(ROWS))


def test_a_function_inside_an_estimator_is_not_run_unless_it_is_trusted(
    tmp_path, stored, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_steps.py").write_text("def double(rows): return 2 * rows\n")
    import own_steps

    steps = make_pipeline(FunctionTransformer(own_steps.double), LogisticRegression())
    path = stored(steps.fit(ROWS, TWO))
    with pytest.raises(ModelError, match="own_steps.double"):
        load(path)
    model = load(path, trusted=("own_steps.double",))
    np.testing.assert_array_equal(model.outputs(IMAGES), steps.predict_proba(ROWS))


def test_xgboost_predicts_with_its_best_iteration(stored):
    noise = RNG.integers(0, 2, 80)
    estimator = xgboost.XGBClassifier(n_estimators=30, early_stopping_rounds=2, learning_rate=1.0)
    estimator.fit(ROWS[:40], noise[:40], eval_set=[(ROWS[40:], noise[40:])], verbose=False)
    assert estimator.best_iteration < estimator.get_booster().num_boosted_rounds() - 1
    model = load(stored(estimator))
    np.testing.assert_allclose(model.outputs(IMAGES), estimator.predict_proba(ROWS), rtol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "target", "method", "message"),
    [
        (boosted(xgboost.XGBRegressor), AMOUNT, "predict_proba", "reg:squarederror"),
        (boosted(), TWO, "predict", "binary:logistic"),
        (LinearRegression(), AMOUNT, "predict_proba", "LinearRegression .* predict_proba"),
    ],
)
def test_what_the_estimator_does_not_give_is_refused(stored, estimator, target, method, message):
    with pytest.raises(ModelError, match=message):
        load(stored(estimator.fit(ROWS, target)), method=method)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [(LogisticRegression(), "X has 48 features"), (boosted(), "Feature shape mismatch")],
)
def test_rows_of_another_length_are_refused(stored, estimator, message):
    model = load(stored(estimator.fit(ROWS, TWO)))
    with pytest.raises(ModelError, match=f"raised ValueError: {message}"):
        model.outputs(torch.zeros(2, 3, 4, 4))


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.skops", "model.json"])
def test_a_pickle_is_never_opened(tmp_path, name):
    (tmp_path / name).write_bytes(pickle.dumps(LogisticRegression().fit(ROWS, TWO)))
    with pytest.raises(ModelError, match="pickle or joblib.*'unpickle: true'.*skops.io.dump"):
        card(tmp_path / name).weights_digest()


def test_a_cut_file_of_skops_is_incomplete(stored):
    path = stored(LogisticRegression().fit(ROWS, TWO))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ModelError, match=r"\.skops is incomplete"):
        card(path).weights_digest()


def test_a_damaged_file_is_refused(stored):
    path = stored(boosted().fit(ROWS, TWO))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ModelError, match=r"model\.ubj"):
        load(path)
    path.write_bytes(b"{}")
    with pytest.raises(ModelError, match=r"model\.ubj"):
        load(path)
    path = stored(LogisticRegression().fit(ROWS, TWO))
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"__class__"', b'"__clazz__"'))
    with pytest.raises(ModelError, match="cannot be opened"):
        load(path)


def test_a_missing_file_says_where_it_belongs(tmp_path):
    with pytest.raises(ModelError, match=r"a\.skops .* No such file"):
        card(tmp_path / "a.skops").weights_digest()


def test_the_file_and_what_is_called_are_the_identity(stored):
    path = stored(LogisticRegression().fit(ROWS, TWO))
    one = card(path)
    digest = one.weights_digest()
    with pytest.raises(ModelError, match=f"{digest}.*abc"):
        card(path, sha256="abc").weights_digest()
    assert (
        one.preprocessing_digest == card(path, trusted=("x",), sha256=digest).preprocessing_digest
    )


@pytest.mark.parametrize(("protocol", "compress"), [(2, 0), (5, 0), (5, 3)])
@pytest.mark.parametrize("is_package", [False, True])
def test_own_modules_that_the_file_names_are_part_of_the_identity(
    tmp_path, monkeypatch, protocol, compress, is_package
):
    monkeypatch.setattr(callables, "_own_folders", [])
    name = f"prep_{protocol}_{compress}_{is_package}"
    module = tmp_path / (f"{name}/__init__.py" if is_package else f"{name}.py")
    module.parent.mkdir(exist_ok=True)
    module.write_text("def double(rows):\n    return 2 * rows\n")
    (tmp_path / "other.py").write_text("")
    callables.import_from([tmp_path])
    monkeypatch.syspath_prepend(str(tmp_path))
    double = importlib.import_module(name).double
    fitted = make_pipeline(FunctionTransformer(double), LogisticRegression()).fit(ROWS, TWO)
    path = tmp_path / "a.joblib"
    joblib.dump(fitted, path, compress=compress, protocol=protocol)
    before = card(path, unpickle=True).weights_digest()
    (tmp_path / "other.py").write_text("x = 1\n")
    assert card(path, unpickle=True).weights_digest() == before
    module.write_text("def double(rows):\n    return 3 * rows\n")
    assert card(path, unpickle=True).weights_digest() != before


@pytest.mark.parametrize("changed", ["units.py", "tables/sizes.py", "broken.py", "not_imported.py"])
def test_own_modules_that_named_modules_import_are_part_of_the_identity(
    tmp_path, monkeypatch, changed
):
    monkeypatch.setattr(callables, "_own_folders", [])
    code = {
        "steps.py": "from tables import sizes\ndef double(rows):\n    import broken\n",
        "tables/__init__.py": "from . import sizes\n",
        "tables/sizes.py": "import units.length, steps\n",
        "units.py": "import json\n",
        "broken.py": "def (\n",
        "not_imported.py": "import steps\n",
    }
    (tmp_path / "tables").mkdir()
    for file, text in code.items():
        (tmp_path / file).write_text(text)
    callables.import_from([tmp_path])
    path = tmp_path / "a.pickle"
    path.write_bytes(b"csteps\ndouble\n.")  # a pickle that names steps.double
    before = card(path, unpickle=True).weights_digest()
    (tmp_path / changed).write_text(code[changed] + "x = 1\n")
    is_same = card(path, unpickle=True).weights_digest() == before
    assert is_same == (changed == "not_imported.py")
