"""XGBoost's `missing`, which its files forget: stated on the card, or kept by its classes."""

import json
from typing import NamedTuple

import joblib
import numpy as np
import pytest
import skops.io
import torch
import xgboost
import yaml
from income_table import FRAME, HOLES, LABELS, MISSING, boosted, card, scores
from model_server import serving
from sklearn.linear_model import LogisticRegression

from decaf.data.frames import FrameSchema
from decaf.errors import ModelError
from decaf.models.estimators.boosters import make_matrix
from decaf.models.sources.endpoint import EndpointModel
from decaf.models.sources.mlflow_server import MlflowServerCard
from decaf.models.training.estimator import fit_estimator


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
        with pytest.raises(ModelError, match="-999"):
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
    with pytest.raises(ModelError, match="LogisticRegression"):
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
