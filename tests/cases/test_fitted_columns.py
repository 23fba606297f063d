"""Columns of a table that a model knows under other names, or by their positions."""

import numpy as np
import pytest
import skops.io
from income_table import FRAME, LABELS, boosted, card, remarks, rows, scores
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from decaf import audit
from decaf.errors import ModelError


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


def test_the_library_calls_an_estimator_in_the_order_of_its_fit():
    frame = rows("own income")
    fitted = Renaming().fit(frame, LABELS)
    turned = frame[["own income", "age"]]
    changed = turned.assign(age=turned["age"] + 20)
    fitted.predict = None
    for score in (fitted, fitted.predict_proba):
        audited = audit(score, turned, changed, target=1, stages=2)
        np.testing.assert_allclose(audited.q_plus[:, 0, -1], fitted.predict_proba(frame)[:, 1])


@pytest.mark.parametrize("fitted", [boosted(), LogisticRegression()])
def test_the_library_leaves_out_columns_that_an_estimator_was_not_fitted_on(fitted):
    fitted.fit(FRAME, LABELS)
    table = FRAME.assign(branch="north")[["branch", "income", "age"]]
    changed = table.assign(age=table["age"] + 20)
    audited = audit(fitted, table, changed, target=1, stages=2)
    expected = fitted.predict_proba(FRAME)[:, 1]
    np.testing.assert_allclose(audited.q_plus[:, 0, -1], expected, rtol=1e-6)


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
    with pytest.raises(ModelError, match="2 columns, .* 3"):
        scores(by_position, other.assign(third=1.0))
    with pytest.raises(ModelError, match="another position"):
        scores(by_position, FRAME[["income", "age"]])
