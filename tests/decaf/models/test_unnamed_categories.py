"""Models of XGBoost that store positions of categories and no names."""

import json
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import decaf
from decaf.data.frames import FrameSchema
from decaf.errors import DecafError
from decaf.models.sources.estimator import EstimatorCard

ROWS = pd.DataFrame({"age": [1, 2, 3, 4] * 3, "area": pd.Categorical(["x", "y", "z"] * 4)})
KNOWS_NAMES = hasattr(xgboost.Booster, "get_categories")


def fitted():
    model = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True)
    return model.fit(ROWS, [0, 1, 0] * 4)


def old_file(folder):
    """File as XGBoost 2.1.4 wrote it: without names, with its version."""
    fitted().save_model(folder / "new.json")
    content = json.loads((folder / "new.json").read_text())
    content["learner"]["gradient_booster"]["model"].pop("cats", None)
    content["version"] = [2, 1, 4]
    (folder / "old.json").write_text(json.dumps(content))
    return folder / "old.json"


def scores(file, rows):
    """Scores of a model for the rows of a table, as a study asks it."""
    columns = FrameSchema.of(rows)
    card = EstimatorCard(id="m", family="any", source="estimator", file=file)
    return card.load_for("cpu", columns).outputs(torch.from_numpy(columns.encode(rows))).numpy()


def remarks(file, rows=ROWS, **keys):
    card = EstimatorCard(id="m", family="any", source="estimator", file=file, **keys)
    return card.load_for("cpu", FrameSchema.of(rows)).remarks


def warned(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", decaf.DataWarning)
        decaf.audit(model, ROWS, ROWS.assign(age=5), target=1, stages=2)
    return [str(one.message) for one in caught]


def test_an_old_file_has_a_remark_with_its_version(tmp_path):
    (remark,) = remarks(old_file(tmp_path))
    assert "2.1.4" in remark
    assert "'area'" in remark
    assert "'age'" not in remark
    # Codes as numbers are not declared in an order.
    assert remarks(tmp_path / "old.json", ROWS.assign(area=[0, 1, 2] * 4)) == ()


@pytest.mark.parametrize("suffix", ["json", "ubj", "joblib"])
def test_a_binary_or_pickled_model_names_its_version(tmp_path, suffix):
    old = xgboost.XGBClassifier()
    old.load_model(old_file(tmp_path))
    file = tmp_path / f"again.{suffix}"
    joblib.dump(old, file) if suffix == "joblib" else old.save_model(file)
    (remark,) = remarks(file, unpickle=suffix == "joblib")
    assert f"XGBoost {xgboost.__version__}," in remark


def test_the_library_warns_of_a_model_without_names(tmp_path):
    old = xgboost.XGBClassifier()
    old.load_model(old_file(tmp_path))
    (remark,) = warned(old)
    assert "'area'" in remark


@pytest.mark.skipif(not KNOWS_NAMES, reason="XGBoost knows no names of categories before 3.1")
def test_a_model_with_names_has_no_remark(tmp_path):
    fitted().save_model(tmp_path / "new.ubj")
    assert remarks(tmp_path / "new.ubj") == ()
    assert warned(fitted()) == []


@pytest.mark.skipif(not KNOWS_NAMES, reason="XGBoost knows no names of categories before 3.1")
def test_text_is_a_category_where_the_model_knows_the_names(tmp_path):
    fitted().save_model(tmp_path / "new.ubj")
    text = ROWS.assign(area=ROWS["area"].astype(str))
    expected = fitted().predict_proba(ROWS)
    np.testing.assert_array_equal(scores(tmp_path / "new.ubj", ROWS), expected)
    np.testing.assert_array_equal(scores(tmp_path / "new.ubj", text[::-1]), expected[::-1])
    two = text[text["area"] != "x"]
    np.testing.assert_array_equal(scores(tmp_path / "new.ubj", two), expected[text["area"] != "x"])
    with pytest.raises(DecafError, match="zoo"):
        scores(tmp_path / "new.ubj", text.assign(area="zoo"))


def test_text_stays_refused_where_the_model_knows_positions(tmp_path):
    text = ROWS.assign(area=ROWS["area"].astype(str))
    with pytest.raises(DecafError, match="categories: {area"):
        scores(old_file(tmp_path), text)


@pytest.mark.parametrize("is_searched", [False, True])
def test_a_pipeline_that_ends_with_xgboost_is_looked_into(tmp_path, is_searched):
    old = xgboost.XGBClassifier(enable_categorical=True)
    old.load_model(old_file(tmp_path))
    columns = make_column_transformer(
        ("passthrough", ["age"]), ("passthrough", ["area"]), verbose_feature_names_out=False
    ).set_output(transform="pandas")
    model = make_pipeline(columns.fit(ROWS), old)
    if is_searched:
        search = GridSearchCV(model, {})
        search.best_estimator_ = model
        search.feature_names_in_ = model.feature_names_in_
        model = search
    (remark,) = [text for text in warned(model) if "XGBoost" in text]
    assert "'area'" in remark
    if not is_searched:
        joblib.dump(model, tmp_path / "model.joblib")
        (remark,) = remarks(tmp_path / "model.joblib", unpickle=True)
        assert "'area'" in remark
        # An encoder before XGBoost makes numbers of the categories.
        encoder = make_column_transformer((OrdinalEncoder(), ["area"]), remainder="passthrough")
        encoded = xgboost.XGBClassifier(n_estimators=2)
        assert warned(make_pipeline(encoder, encoded).fit(ROWS, [0, 1, 0] * 4)) == []


@pytest.mark.skipif(not KNOWS_NAMES, reason="XGBoost knows no names of categories before 3.1")
def test_names_beyond_ascii_are_positions_for_xgboost(tmp_path):
    """XGBoost cuts such names, and then takes categories in another order for each other."""
    words = ["Aachen", "Köln", "Ulm"]
    rows = ROWS.assign(area=ROWS["area"].cat.rename_categories(words))
    model = xgboost.XGBClassifier(n_estimators=9, min_child_weight=0, enable_categorical=True)
    model.fit(rows, rows["area"] == "Ulm").save_model(tmp_path / "new.ubj")
    expected = model.predict_proba(rows)
    turned = rows.assign(area=rows["area"].cat.reorder_categories(words[::-1]))
    cuts_names = not np.allclose(model.predict_proba(turned), expected)
    for table in (rows, turned):
        found = remarks(tmp_path / "new.ubj", table)
        assert ["'area'" in remark for remark in found] == [True] * cuts_names
    np.testing.assert_array_equal(scores(tmp_path / "new.ubj", rows), expected)
    text = rows.assign(area=rows["area"].astype(str))
    if cuts_names:
        with pytest.raises(DecafError, match="categories: {area"):
            scores(tmp_path / "new.ubj", text)
    else:
        np.testing.assert_array_equal(scores(tmp_path / "new.ubj", text), expected)
