"""Columns whose values an XGBoost model was not fitted on: refused by name, with known values."""

import numpy as np
import pandas as pd
import pytest
import xgboost

import decaf
from decaf.data.frames import FrameSchema
from decaf.errors import DataError
from decaf.models.sources.estimator import EstimatorCard

ROWS = pd.DataFrame(
    {
        "age": [1.0, 2, 3, 4] * 3,
        "area": pd.Categorical(["08014", "09455", "01014"] * 4),
        "owner": pd.Categorical(["yes", "no"] * 6),
        "years": range(12),
    }
)
KNOWS_NAMES = hasattr(xgboost.Booster, "get_categories")

REFUSED = {
    "truth values": (ROWS.assign(owner=[True, False] * 6), "'owner' is bool.*'no', 'yes'"),
    "numbers": (ROWS.assign(owner=[1, 0] * 6), "'owner' is int64.*'no', 'yes'"),
    "unknown text": (
        ROWS.assign(area=["08014", "09455", "99999"] * 4),
        "'area' has '99999'.*01014, 08014, 09455",
    ),
    "unknown category": (
        ROWS.assign(area=pd.Categorical(["09455"] * 12, ["09455", "9455"])),
        "'area' has '9455'.*did you mean '09455'",
    ),
    "text for numbers": (ROWS.assign(years=["one", "two"] * 6), "'years' has 'one', 'two'.*int"),
}


@pytest.fixture(scope="module")
def fitted():
    model = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True)
    return model.fit(ROWS, [0, 1, 0] * 4)


@pytest.mark.skipif(not KNOWS_NAMES, reason="XGBoost knows no names of categories before 3.1")
@pytest.mark.parametrize("name", REFUSED)
def test_values_that_the_fit_did_not_have_are_refused(fitted, tmp_path, name):
    table, words = REFUSED[name]
    fitted.save_model(tmp_path / "m.ubj")
    card = EstimatorCard(id="m", family="any", source="estimator", file=tmp_path / "m.ubj")
    with pytest.raises(DataError, match=words):
        card.load_for("cpu", FrameSchema.of(table))
    with pytest.raises(DataError, match=words):
        decaf.audit(fitted, table, table.assign(age=9.0), target=1, stages=2)


def test_values_of_the_fit_are_accepted(fitted):
    for table in (ROWS, ROWS.assign(area=pd.Categorical(["09455"] * 12, ["09455", "08014"]))):
        audited = decaf.audit(fitted, table, table.assign(age=9.0), target=1, stages=2)
        expected = fitted.predict_proba(table)[:, 1]
        np.testing.assert_allclose(audited.q_plus[:, 0, -1], expected, rtol=1e-6)
