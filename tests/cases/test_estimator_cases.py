"""Estimators as people bring them: what their files forget, other names, versions and targets."""

import gzip
import json
import pickle
import warnings
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
import torch
import xgboost
import yaml
from ended_commands import refused, succeeded
from model_server import serving
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from warehouse_answers import fetched

from decaf import audit
from decaf.data.frames import FrameSchema
from decaf.errors import ModelError
from decaf.models.estimators.boosters import make_matrix
from decaf.models.sources.endpoint import EndpointModel
from decaf.models.sources.estimator import EstimatorCard
from decaf.models.sources.mlflow_server import MlflowServerCard
from decaf.models.training.estimator import fit_estimator

MISSING = -999.0
COLUMNS = ["age", "income"]


def rows(income="income", hole=None):
    """Sixty applicants; a third of them without an income where a hole is given."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, 60).astype(float),
            income: rng.normal(3000, 800, 60).round(2),
        }
    )
    if hole is not None:
        frame.loc[::3, income] = hole
    return frame


FRAME = rows()
LABELS = (FRAME["income"] > FRAME["income"].median()).astype(int).to_numpy()
TARGETS = np.stack([LABELS, 1 - LABELS], axis=1)
HOLES = rows(hole=MISSING)


def card(path, **keys):
    return EstimatorCard(id="m", family="f", source="estimator", file=path, **keys)


def scores(given, frame):
    """Outputs of a card for rows of a table."""
    columns = FrameSchema.of(frame)
    model = given.load_for("cpu", columns)
    return model.outputs(torch.from_numpy(columns.encode(frame))).numpy()


def remarks(given, frame):
    return given.load_for("cpu", FrameSchema.of(frame)).remarks


@pytest.fixture
def table_study(study, tmp_path):
    """Settings of a study of a table and some models; without models, of the table alone."""

    def of(frame, models, **changes):
        table = frame.assign(id=[f"r{n:02d}" for n in range(len(frame))], granted=LABELS)
        table.to_csv(tmp_path / "table.csv", index=False)
        data = {"adapter": "table_pairs", "table": "table.csv", "id": "id", "label": "granted"}
        data["changes"] = {"older": {"add": {frame.columns[0]: 20}}}
        common = {"family": "f", "source": "estimator"}
        return {
            **study,
            "data": data,
            "models": [common | model for model in models],
            "score": {"kind": "class_probability", "classes": 2, "target": 1},
            "paths": {"blend": {"kind": "blend", "sigma": 0}},
            "stages": 3,
        } | changes

    return of


def boosted(kind=xgboost.XGBClassifier, **keys):
    return kind(n_estimators=8, max_depth=2, **keys)


# XGBoost's `missing`


@pytest.mark.parametrize("name", ["m.json", "m.ubj"])
@pytest.mark.parametrize("booster", ["gbtree", "dart", "gblinear"])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function", "predict"])
def test_a_card_says_which_value_counts_as_missing(tmp_path, name, booster, method):
    kind = xgboost.XGBRegressor if method == "predict" else xgboost.XGBClassifier
    is_hole = HOLES["income"] == MISSING
    target = HOLES["income"].mask(is_hole, 5000) if method == "predict" else LABELS
    fitted = kind(n_estimators=8, missing=MISSING, booster=booster).fit(HOLES, target)
    fitted.save_model(tmp_path / name)
    given = card(tmp_path / name, method=method, missing=MISSING)
    if method == "predict_proba":
        expected = fitted.predict_proba(HOLES)
    else:
        expected = fitted.predict(HOLES, output_margin=method == "decision_function")[:, None]
    np.testing.assert_allclose(scores(given, HOLES), expected, rtol=1e-6)
    forgotten = scores(given.model_copy(update={"missing": None}), HOLES)
    assert np.abs(forgotten - expected).max() > 0.01


def test_rows_of_an_array_miss_values_too(tmp_path):
    labels = np.arange(60) % 3
    fitted = boosted(missing=-1).fit(HOLES.replace(MISSING, -1).to_numpy(), labels)
    fitted.save_model(tmp_path / "m.ubj")
    given = card(tmp_path / "m.ubj", missing=-1)
    inputs = HOLES.replace(MISSING, -1).to_numpy(np.float32)
    found = given.load("cpu").outputs(torch.tensor(inputs)).numpy()
    np.testing.assert_allclose(found, fitted.predict_proba(inputs), rtol=1e-6)


def test_missing_is_in_the_digest_where_it_is_given(tmp_path):
    digests = {
        card(tmp_path / "m.json", **keys).preprocessing_digest
        for keys in ({}, {"missing": None}, {"missing": -999}, {"missing": -1}, {"missing": "nan"})
    }
    assert len(digests) == 4
    # The digest of a card without the new keys, as it has always been.
    expected = "6adb23cbe1c1b2fb"
    assert card(tmp_path / "m.json").preprocessing_digest.startswith(expected)
    read = yaml.safe_load("missing: .nan")
    assert card(tmp_path / "m.json", **read) == card(tmp_path / "m.json", missing="nan")


@pytest.mark.parametrize("name", ["m.skops", "m.joblib", "booster.pkl"])
def test_a_class_of_xgboost_keeps_its_own_missing(tmp_path, name):
    fitted = boosted(missing=MISSING).fit(HOLES, LABELS)
    path, keys = tmp_path / name, {}
    if name == "m.skops":
        skops.io.dump(fitted, path)
        keys = {"trusted": skops.io.get_untrusted_types(file=path)}
    else:
        is_booster = name == "booster.pkl"
        joblib.dump(fitted.get_booster() if is_booster else fitted, path)
        keys = {"unpickle": True} | ({"missing": MISSING} if is_booster else {})
    expected = fitted.predict_proba(HOLES)
    np.testing.assert_allclose(scores(card(path, **keys), HOLES), expected, rtol=1e-6)
    same = scores(card(path, **keys | {"missing": MISSING}), HOLES)
    np.testing.assert_allclose(same, expected, rtol=1e-6)
    if name != "booster.pkl":
        with pytest.raises(ModelError, match="says that -999 counts as missing"):
            card(path, **keys, missing=-1).load("cpu")


def test_a_recipe_keeps_the_missing_of_its_fit(tmp_path):
    class Outcome(NamedTuple):
        rounds: int

    class Recipe:
        def fit(self):
            return boosted(missing=MISSING).fit(HOLES, LABELS), Outcome(8)

    fit_estimator(Recipe(), tmp_path / "m.ubj")
    expected = boosted(missing=MISSING).fit(HOLES, LABELS).predict_proba(HOLES)
    np.testing.assert_allclose(scores(card(tmp_path / "m.ubj"), HOLES), expected, rtol=1e-6)


def test_missing_of_another_estimator_is_refused(tmp_path):
    skops.io.dump(LogisticRegression().fit(FRAME, LABELS), tmp_path / "m.skops")
    with pytest.raises(ModelError, match="LogisticRegression is no model of XGBoost"):
        card(tmp_path / "m.skops", missing=MISSING).load("cpu")


def test_explanations_of_a_booster_miss_values_too(tmp_path):
    fitted = boosted(missing=MISSING).fit(HOLES.to_numpy(), LABELS)
    fitted.save_model(tmp_path / "m.json")
    booster = card(tmp_path / "m.json", missing=MISSING).load("cpu").estimator
    matrix = xgboost.DMatrix(HOLES.to_numpy(), missing=MISSING)
    expected = fitted.get_booster().predict(matrix, pred_contribs=True)
    found = booster.predict(make_matrix(booster, HOLES.to_numpy()), pred_contribs=True)
    np.testing.assert_array_equal(found, expected)


def test_a_server_of_mlflow_is_sent_missing_values(tmp_path):
    flavours = {"python_function": {}, "xgboost": {"data": "model.ubj"}}
    (tmp_path / "MLmodel").write_text(yaml.safe_dump({"flavors": flavours}))
    keys = {"id": "m", "family": "f", "source": "mlflow_server", "output": "value"}
    keys |= {"model": tmp_path, "python": "python3"}
    plain, given = MlflowServerCard(**keys), MlflowServerCard(**keys, missing=MISSING)
    assert plain.weights_digest() == given.weights_digest()
    assert plain.preprocessing_digest != given.preprocessing_digest

    def ages(request, number):
        found = json.loads(request.body)["dataframe_records"]
        return 200, json.dumps({"predictions": [row["age"] for row in found]}), {}

    columns = FrameSchema.of(HOLES)
    with serving(ages) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        model = MlflowServerCard(**keys | {"python": None, "url": server.url}, missing=MISSING)
        served = model.load("cpu")
        assert isinstance(served, EndpointModel)
        served.of_frames(columns).outputs(torch.from_numpy(columns.encode(HOLES)))
        (request,) = server.requests
    sent = [row["income"] for row in json.loads(request.body)["dataframe_records"]]
    assert sent == [None if value == MISSING else value for value in HOLES["income"]]

    del flavours["xgboost"]
    (tmp_path / "MLmodel").write_text(yaml.safe_dump({"flavors": flavours}))
    with pytest.raises(ModelError, match="no flavour xgboost"):
        given.weights_digest()


@pytest.mark.slow
def test_a_run_stores_the_scores_of_the_model_as_it_was_fitted(
    tmp_path, table_study, write, decaf, prefect_server
):
    fitted = boosted(missing=MISSING).fit(HOLES, LABELS)
    fitted.save_model(tmp_path / "m.json")
    model = {"id": "m", "file": str(tmp_path / "m.json"), "missing": MISSING}
    succeeded(decaf("run", write(table_study(HOLES, [model])), **prefect_server))
    sql = "SELECT image_id, class_scores FROM core_predictions"
    stored = dict(fetched(tmp_path / "warehouse", sql))
    found = [stored[f"factual/r{n:02d}"] for n in range(60)]
    np.testing.assert_allclose(found, fitted.predict_proba(HOLES), rtol=1e-6)


# Columns under other names


class Renaming(ClassifierMixin, BaseEstimator):
    """Takes columns by position and writes their names as LightGBM does."""

    def fit(self, frame, labels):
        self.feature_names_in_ = np.array([name.replace(" ", "_") for name in frame.columns])
        self.classes_ = np.unique(labels)
        self._model = LogisticRegression().fit(frame.to_numpy() / 1000, labels)
        return self

    def predict_proba(self, frame):
        return self._model.predict_proba(np.asarray(frame) / 1000)


@pytest.mark.parametrize("name", ["own income", "own.income", "own-income", "own income (€)"])
def test_a_name_that_differs_in_special_characters_is_the_same_column(tmp_path, name):
    frame = rows(name)
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    fitted = boosted().fit(frame.set_axis(["age", plain], axis=1), LABELS)
    fitted.save_model(tmp_path / "m.json")
    expected = fitted.predict_proba(frame.set_axis(["age", plain], axis=1))
    for table in (frame, frame[[name, "age"]]):
        np.testing.assert_allclose(scores(card(tmp_path / "m.json"), table), expected, rtol=1e-6)
        assert remarks(card(tmp_path / "m.json"), table) == ()


def test_a_name_that_could_be_two_columns_is_refused(tmp_path):
    fitted = boosted().fit(rows("own_income"), LABELS)
    fitted.save_model(tmp_path / "m.json")
    table = rows("own income").assign(**{"own-income": 1.0})
    with pytest.raises(ModelError, match="lacks own_income"):
        scores(card(tmp_path / "m.json"), table)


def test_lightgbm_and_what_it_renames(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    frame = rows("own income")
    fitted = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(frame, LABELS)
        expected = fitted.predict_proba(frame)
        joblib.dump(fitted, tmp_path / "m.joblib")
        joblib.dump(fitted.booster_, tmp_path / "booster.joblib")
        turned = frame[["own income", "age"]]
        for table in (frame, turned):
            found = scores(card(tmp_path / "m.joblib", unpickle=True), table)
            np.testing.assert_allclose(found, expected)
            raw = card(tmp_path / "booster.joblib", unpickle=True, method="predict")
            np.testing.assert_allclose(scores(raw, table)[:, 0], expected[:, 1])
        # It takes columns by position, so the library has to order them.
        changed = turned.assign(age=turned["age"] + 20)
        audited = audit(fitted, turned, changed, target=1, stages=2)
        np.testing.assert_allclose(audited.q_plus[:, 0, -1], expected[:, 1])


def test_the_library_calls_an_estimator_in_the_order_of_its_fit():
    frame = rows("own income")
    fitted = Renaming().fit(frame, LABELS)
    turned = frame[["own income", "age"]]
    changed = turned.assign(age=turned["age"] + 20)
    fitted.predict = None
    for score in (fitted, fitted.predict_proba):
        audited = audit(score, turned, changed, target=1, stages=2)
        np.testing.assert_allclose(audited.q_plus[:, 0, -1], fitted.predict_proba(frame)[:, 1])


GENERIC = [("Column_0", "Column_1"), ("f0", "f1"), ("x0", "x1"), ("0", "1"), ("V1", "V2")]


@pytest.mark.parametrize("names", GENERIC)
def test_generic_names_are_taken_by_position_with_a_remark(tmp_path, names):
    fitted = boosted().fit(FRAME.set_axis(names, axis=1), LABELS)
    fitted.save_model(tmp_path / "m.json")
    expected = fitted.predict_proba(FRAME.set_axis(names, axis=1))
    given = card(tmp_path / "m.json")
    np.testing.assert_allclose(scores(given, FRAME), expected, rtol=1e-6)
    assert f"{names[1]} is income" in remarks(given, FRAME)[0]
    with pytest.raises(ModelError, match=f"lacks {names[0]}"):
        scores(given, FRAME.assign(third=1.0))
    with pytest.raises(ModelError, match=f"lacks {names[1]}"):  # the table has the other one
        scores(given, FRAME.set_axis([names[0], "income"], axis=1))


def test_other_names_need_a_key(tmp_path):
    fitted = LogisticRegression().fit(FRAME, LABELS)
    skops.io.dump(fitted, tmp_path / "m.skops")
    other = FRAME.set_axis(["alter", "lohn"], axis=1)
    given = card(tmp_path / "m.skops")
    by_position = card(tmp_path / "m.skops", columns="by_position")
    assert given.preprocessing_digest != by_position.preprocessing_digest
    with pytest.raises(ModelError, match="add 'columns: by_position'"):
        scores(given, other)
    np.testing.assert_array_equal(scores(by_position, other), fitted.predict_proba(FRAME))
    assert "income is lohn" in remarks(by_position, other)[0]
    np.testing.assert_array_equal(scores(by_position, FRAME), fitted.predict_proba(FRAME))
    assert remarks(by_position, FRAME) == ()
    with pytest.raises(ModelError, match="fitted on 2 columns, and the table has 3"):
        scores(by_position, other.assign(third=1.0))
    with pytest.raises(ModelError, match="another position"):
        scores(by_position, FRAME[["income", "age"]])


# Classifiers of several targets

SEVERAL = {
    "forest": RandomForestClassifier(3),
    "neighbours": KNeighborsClassifier(),
    "multi": MultiOutputClassifier(LogisticRegression()),
    "chain": ClassifierChain(LogisticRegression()),
    "ovr": OneVsRestClassifier(LogisticRegression()),
    "mlp": MLPClassifier(4, max_iter=2),
    "pipe": make_pipeline(SimpleImputer(), OneVsRestClassifier(LogisticRegression())),
    "search": GridSearchCV(OneVsRestClassifier(LogisticRegression()), {}, cv=2),
    "boosted": boosted(),
}


@pytest.fixture(scope="module")
def several():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            name: estimator.fit(FRAME.to_numpy(), TARGETS) for name, estimator in SEVERAL.items()
        }


@pytest.mark.parametrize("method", ["predict_proba", "predict"])
@pytest.mark.parametrize("name", SEVERAL)
def test_a_classifier_of_several_targets_is_refused(tmp_path, several, name, method):
    joblib.dump(several[name], tmp_path / "m.joblib")
    with pytest.raises(ModelError, match="it has 2 targets"):
        card(tmp_path / "m.joblib", unpickle=True, method=method).load("cpu")
    with pytest.raises(ModelError, match="of 2 targets"):
        audit(several[name], FRAME.to_numpy(), FRAME.to_numpy() + 1, target=1)


def test_a_native_booster_of_several_targets_is_refused(tmp_path, several):
    several["boosted"].save_model(tmp_path / "m.json")
    boosted(xgboost.XGBRegressor).fit(FRAME, TARGETS).save_model(tmp_path / "r.json")
    for given in (card(tmp_path / "m.json"), card(tmp_path / "r.json", method="predict")):
        with pytest.raises(ModelError, match="it has 2 targets"):
            given.load("cpu")


def test_a_regressor_of_several_targets_is_refused(tmp_path):
    skops.io.dump(LinearRegression().fit(FRAME, TARGETS), tmp_path / "m.skops")
    with pytest.raises(ModelError, match="it has 2 targets"):
        card(tmp_path / "m.skops", method="predict").load("cpu")
    neighbours = KNeighborsRegressor().fit(FRAME, TARGETS)  # which says nowhere how many it has
    skops.io.dump(neighbours, tmp_path / "n.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "n.skops")
    given = card(tmp_path / "n.skops", method="predict", trusted=trusted)
    with pytest.raises(ModelError, match="it has 2 targets"):
        scores(given, FRAME)


def test_one_target_in_a_list_is_refused(tmp_path):
    fitted = MultiOutputClassifier(LogisticRegression()).fit(FRAME, TARGETS[:, :1])
    skops.io.dump(fitted, tmp_path / "m.skops")
    with pytest.raises(ModelError, match="it has 1 target, "):
        card(tmp_path / "m.skops").load("cpu")
    with pytest.raises(ModelError, match="of 1 target, "):
        audit(fitted, FRAME, FRAME + 1, target=1)


def test_one_target_is_not_taken_for_several(tmp_path):
    one = {
        "mlp": MLPClassifier(4, max_iter=2),
        "ovr": OneVsRestClassifier(LogisticRegression()),
        "boosted": boosted(),
        "search": GridSearchCV(LogisticRegression(), {}, cv=2),
    }
    labels = np.arange(60) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, estimator in one.items():
            joblib.dump(estimator.fit(FRAME.to_numpy(), labels), tmp_path / f"{name}.joblib")
            found = scores(card(tmp_path / f"{name}.joblib", unpickle=True), FRAME)
            np.testing.assert_allclose(found, estimator.predict_proba(FRAME.to_numpy()))


def test_a_list_of_tables_in_the_library(several):
    with pytest.raises(ModelError, match="list of 2 tables"):
        audit(several["forest"].predict_proba, FRAME.to_numpy(), FRAME.to_numpy() + 1, target=1)


# Files of joblib and pickle

WRITERS = {
    "m.joblib": joblib.dump,
    "m.pkl": lambda estimator, path: path.write_bytes(pickle.dumps(estimator)),
    "m.pickle": joblib.dump,
    "m.sav": joblib.dump,
    "zlib.joblib": lambda estimator, path: joblib.dump(estimator, path, compress=3),
    "m.joblib.gz": joblib.dump,
    "m.joblib.xz": joblib.dump,
    "m.pkl.bz2": joblib.dump,
    "m.pkl.gz": lambda estimator, path: path.write_bytes(gzip.compress(pickle.dumps(estimator))),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_messages_lead_to_an_open_file(tmp_path, name):
    fitted = RandomForestClassifier(3).fit(FRAME, LABELS)
    WRITERS[name](fitted, tmp_path / name)
    with pytest.raises(ModelError, match="'unpickle: true' to the card"):
        card(tmp_path / name).weights_digest()
    found = scores(card(tmp_path / name, unpickle=True), FRAME)
    np.testing.assert_array_equal(found, fitted.predict_proba(FRAME))


HELD = {
    "a dict": ({"model": 1, "columns": 2}, "dict with the keys model, columns"),
    "a list": ([1], "list has no predict_proba"),
    "text": (b"no pickle at all", "cannot be opened: .*the file is damaged or of another kind"),
    "nothing": (b"", "cannot be opened: .*the file is damaged or of another kind"),
    "cut short": (pickle.dumps(LogisticRegression())[:80], "the file is damaged"),
    "no package": (b"cnot_there.trees\nForest\n.", "install not_there where decaf runs"),
    "a notebook's": (b"c__main__\nOwnSteps\n.", "defined in a script or a notebook"),
}


@pytest.mark.parametrize("held", HELD)
def test_a_pickle_that_holds_no_estimator(tmp_path, held):
    content, message = HELD[held]
    is_raw = isinstance(content, bytes)
    (tmp_path / "m.pkl").write_bytes(content if is_raw else pickle.dumps(content))
    with pytest.raises(ModelError, match=message):
        card(tmp_path / "m.pkl", unpickle=True).load("cpu")


# Files of another version of scikit-learn


@pytest.fixture
def older(tmp_path, monkeypatch):
    """Save a pipeline as scikit-learn 1.4.2 does, whose imputer lacks an attribute of today."""

    def save(estimator, name):
        with monkeypatch.context() as patch:
            patch.setattr("sklearn.base.__version__", "1.4.2")
            dump = skops.io.dump if name.endswith("skops") else joblib.dump
            dump(estimator, tmp_path / name)
        return tmp_path / name

    return save


@pytest.mark.parametrize("name", ["m.skops", "m.pkl", "m.joblib.gz"])
def test_an_older_file_names_both_versions(older, name):
    import sklearn

    fitted = make_pipeline(SimpleImputer(), LogisticRegression()).fit(FRAME, LABELS)
    keys = {"unpickle": True} if name != "m.skops" else {"trusted": ("numpy.dtype",)}
    works = card(older(fitted, name), **keys)
    np.testing.assert_array_equal(scores(works, FRAME), fitted.predict_proba(FRAME))
    (remark,) = remarks(works, FRAME)
    assert remark.startswith(f"scikit-learn 1.4.2 saved it, and {sklearn.__version__} is installed")
    del fitted.steps[0][1].statistics_
    del fitted.steps[0][1]._fill_dtype
    with pytest.raises(ModelError) as error:
        scores(card(older(fitted, name), **keys), FRAME)
    for word in ("model m: ", name, "1.4.2", sklearn.__version__, "save it again", "install"):
        assert word in str(error.value)


def test_an_error_at_opening_names_both_versions(older):
    fitted = RandomForestClassifier(2).fit(FRAME, LABELS)
    path = older(fitted, "m.pkl")
    content = path.read_bytes().replace(b"sklearn.ensemble._forest", b"sklearn.ensemble.forests")
    path.write_bytes(content)
    with pytest.raises(ModelError, match="1.4.2 saved it"):
        card(path, unpickle=True).load("cpu")


# Through the command line


def test_a_plan_accepts_what_people_bring(tmp_path, table_study, write, decaf):
    xgboost.XGBClassifier(booster="gblinear").fit(FRAME, LABELS).save_model(
        tmp_path / "linear.json"
    )
    boosted(booster="dart").fit(FRAME.to_numpy(), LABELS).save_model(tmp_path / "dart.json")
    joblib.dump(LogisticRegression().fit(FRAME, LABELS), tmp_path / "m.joblib")
    generic = FRAME.set_axis(["Column_0", "Column_1"], axis=1)
    boosted().fit(generic, LABELS).save_model(tmp_path / "generic.ubj")
    german = FRAME.set_axis(["alter", "lohn"], axis=1)
    boosted().fit(german, LABELS).save_model(tmp_path / "german.ubj")
    models = [
        {"id": "linear", "file": str(tmp_path / "linear.json")},
        {"id": "dart", "file": str(tmp_path / "dart.json")},
        {"id": "joblib", "file": str(tmp_path / "m.joblib"), "unpickle": True},
        {"id": "generic", "file": str(tmp_path / "generic.ubj")},
        {"id": "german", "file": str(tmp_path / "german.ubj"), "columns": "by_position"},
        {"id": "missing", "file": str(tmp_path / "linear.json"), "missing": MISSING},
    ]
    done = decaf("plan", write(table_study(FRAME, models)))
    assert "tried 6 models: the answers fit the score" in succeeded(done)
    assert "generic: columns of the table are taken by position: Column_0 is age" in done.stderr
    assert "german: columns of the table are taken by position: alter is age" in done.stderr
    assert "dart: the file names no columns" in done.stderr


def test_a_plan_names_what_cannot_be_scored(tmp_path, table_study, write, decaf, several, older):
    joblib.dump(several["forest"], tmp_path / "several.joblib")
    imputer = make_pipeline(SimpleImputer(), LogisticRegression()).fit(FRAME, LABELS)
    del imputer.steps[0][1]._fill_dtype
    del imputer.steps[0][1].statistics_
    older(imputer, "older.pkl")
    jobs = FRAME.assign(job=pd.Categorical(["cook", "smith"] * 30))
    boosted(enable_categorical=True).fit(jobs, LABELS).save_model(tmp_path / "jobs.json")
    german = FRAME.set_axis(["alter", "lohn"], axis=1).assign(beruf=1.0)
    boosted().fit(german, LABELS).save_model(tmp_path / "german.json")
    models = [
        {"id": "several", "file": str(tmp_path / "several.joblib"), "unpickle": True},
        {"id": "older", "file": str(tmp_path / "older.pkl"), "unpickle": True},
        {"id": "jobs", "file": str(tmp_path / "jobs.json")},
        {"id": "german", "file": str(tmp_path / "german.json")},
    ]
    settings = table_study(jobs, models)
    told = refused(decaf("plan", write(settings)))
    for words in (
        ("several: ", "has 2 targets"),
        ("older: ", "older.pkl", "1.4.2", "save it again"),
        ("jobs: ", "data: categories: {job:"),
        ("german: ", "columns: by_position"),
    ):
        assert any(all(word in line for word in words) for line in told.splitlines()), told
    settings["data"]["categories"] = {"job": ["cook", "smith"]}
    settings["models"] = settings["models"][2:3]
    succeeded(decaf("plan", write(settings)))


def test_a_card_of_several_targets_and_of_joblib(tmp_path, write, decaf, table_study, several):
    for name in ("several", "pickled", "boosted"):
        (tmp_path / "models" / name / "1").mkdir(parents=True)
    skops.io.dump(several["multi"], tmp_path / "models" / "several" / "1" / "m.skops")
    joblib.dump(several["multi"], tmp_path / "models" / "pickled" / "1" / "m.joblib")
    boosted().fit(FRAME, LABELS).save_model(tmp_path / "models" / "boosted" / "1" / "m.ubj")
    registry = {"kind": "folder", "root": str(tmp_path / "models"), "follow": ["latest"]}
    settings = {**table_study(FRAME, []), "registry": registry}
    del settings["models"]
    config = write(settings)
    refused(decaf("card", "several", "-c", config), "m.skops", "has 2 targets")
    proposed = succeeded(decaf("card", "pickled", "-c", config))
    expected = {"source": "estimator", "file": "m.joblib", "unpickle": True}
    assert yaml.safe_load(proposed) == {"cards": {"pickled": expected}}
    assert "trust:" in proposed
    assert "# missing: " in succeeded(decaf("card", "boosted", "-c", config))
