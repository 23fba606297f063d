"""Estimators instead of callables: what is asked of them, and for which class."""

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from decaf import audit
from decaf.errors import DataError, ModelError, ResponseError

X, OTHER = np.array([[1.0], [2.0]]), np.array([[0.0], [-1.0]])


class Classifier:
    def __init__(self, *classes):
        self.classes_ = np.array(classes)

    def predict_proba(self, x):
        first = 1 / (1 + np.exp(-x[:, 0]))
        return np.stack([first, 1 - first], axis=1)

    def predict(self, x):
        raise AssertionError("labels are no scores")


class Regressor:
    def predict(self, x):
        return 3 * x[:, 0]


@pytest.mark.parametrize(
    ("classes", "target", "columns"),
    [
        (("no", "yes"), "no", 0),
        (("no", "yes"), np.str_("yes"), 1),
        (("no", "yes"), ["yes", "no"], [1, 0]),
        (("no", "yes"), pd.Series(["no", "yes"], dtype="category"), [0, 1]),
        ((3, 7), 7, 1),
        ((3.0, 7.0), 7, 1),
        ((False, True), True, 1),
    ],
)
def test_the_target_of_a_classifier_is_a_label(classes, target, columns):
    model = Classifier(*classes)
    audited = audit(model, X, OTHER, target=target)
    expected = audit(model.predict_proba, X, OTHER, target=columns)
    np.testing.assert_array_equal(audited.response, expected.response)


def test_a_regressor_predicts():
    audited = audit(Regressor(), X, OTHER, epsilon=1)
    assert audited.profiles.endpoint_delta.tolist() == [3, 9]
    assert repr(audited).endswith(" forward rows, predict of Regressor>")


def test_what_was_asked_is_said():
    audited = audit(Classifier("no", "yes"), X, OTHER, target="yes")
    said = "predict_proba of Classifier, class 'yes'"
    assert said in repr(audited)
    assert str(audited.summary()).startswith(f"{said}: 2 pairs")
    assert "class &#x27;yes&#x27;: 2 pairs" in audited._repr_html_()
    each = audit(Classifier("no", "yes"), X, OTHER, target=["yes", "no"])
    assert "'yes'" not in repr(each)


class Callable(Regressor):
    def __call__(self, x):
        return x[:, 0]


def test_what_can_be_called_is_called():
    assert audit(Callable(), X, OTHER, epsilon=1).profiles.endpoint_delta.tolist() == [1, 3]


class Labels(Classifier):
    predict_proba = property()


class Unfitted(Classifier):
    def __init__(self):
        pass


CLASSES = "expected one of 'no', 'yes'"


@pytest.mark.parametrize(
    ("model", "target", "error", "message"),
    [
        (Classifier("no", "yes"), None, ResponseError, f"needs a 'target'; {CLASSES}"),
        (Classifier("no", "yes"), "maybe", ResponseError, f"'maybe' .*; {CLASSES}"),
        (Classifier("no", "yes"), 1, ResponseError, f"target 1 .*; {CLASSES}"),
        (Classifier("no", "yes"), ["no", "yes", "no"], DataError, r"shape \(3,\); expected \(2,\)"),
        (Classifier(0, 1), True, ResponseError, "True .*0, 1"),
        (Classifier(0, 1), np.nan, ResponseError, "nan"),
        (Classifier((0, 1), (2, 3)), 0, ModelError, "2 label columns"),
        (Labels("no", "yes"), "no", ModelError, "Labels without predict_proba"),
        (Unfitted(), "no", ModelError, "classes_"),
        (object(), None, ModelError, "object"),
    ],
)
def test_models_and_classes_that_do_not_fit_are_refused(model, target, error, message):
    with pytest.raises(error, match=message):
        audit(model, X, OTHER, target=target)


def test_text_for_xgboost_is_refused_with_the_types_to_give():
    xgboost = pytest.importorskip("xgboost")
    texts = pd.DataFrame({"job": ["cook", "smith"] * 10, "age": range(20)})
    other = texts.assign(job=["smith", "cook"] * 10)
    types = {"job": "category"}
    model = xgboost.XGBClassifier(n_estimators=1, enable_categorical=True)
    model.fit(texts.astype(types), [0, 1] * 10)
    with pytest.raises(DataError, match=r"'job'.*astype\(\{'job': 'category'\}\)"):
        audit(model, texts, other, target=1)
    audit(model, texts.astype(types), other.astype(types), target=1)


def test_a_booster_of_xgboost_needs_a_matrix():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    labels = rows[:, 0] > 0
    options = {"objective": "binary:logistic"}
    booster = xgboost.train(options, xgboost.DMatrix(rows, label=labels), 5)
    with pytest.raises(ModelError, match=r"Booster.*booster\.predict\(xgboost\.DMatrix\(rows\)\)"):
        audit(booster, rows, rows - 1)
    audited = audit(lambda x: booster.predict(xgboost.DMatrix(x)), rows, rows - 1)
    expected = booster.inplace_predict(rows) - booster.inplace_predict(rows - 1)
    np.testing.assert_allclose(audited.profiles.endpoint_delta, expected, atol=1e-6)


def test_rows_of_an_array_with_missing_values_become_a_frame():
    rows = np.array([[1.0, np.nan], [2.0, 0.5], [3.0, 1.0]])
    model = make_pipeline(SimpleImputer(), LinearRegression()).fit(rows, [1.0, 2.0, 3.0])
    other = rows + [[1.0, 0.0]]
    with pytest.raises(DataError, match=r"not finite.*pandas\.DataFrame.*frame\.to_numpy\(\)"):
        audit(model, rows, other)
    plus, minus = (pd.DataFrame(values, columns=["a", "b"]) for values in (rows, other))
    audited = audit(lambda frame: model.predict(frame.to_numpy()), plus, minus)
    expected = model.predict(rows) - model.predict(other)
    np.testing.assert_allclose(audited.profiles.endpoint_delta, expected)
