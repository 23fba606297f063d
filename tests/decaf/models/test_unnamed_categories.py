"""Models of XGBoost that store positions of categories and no names."""

import json
import warnings

import joblib
import pandas as pd
import pytest
import xgboost

import decaf
from decaf.data.frames import FrameSchema
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


def remarks(file, rows=ROWS, **keys):
    card = EstimatorCard(id="m", family="any", source="estimator", file=file, **keys)
    return card.load_for("cpu", FrameSchema.of(rows)).remarks


def warned(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", decaf.DataWarning)
        decaf.audit(model, ROWS, ROWS.assign(age=2), target=1, stages=2)
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
