"""Files of class names that name no classes, and estimators whose classes are truth values."""

import json

import numpy as np
import pytest
import skops.io
import torch
from pydantic import TypeAdapter
from sklearn.linear_model import LogisticRegression

from decaf.data.class_ids import class_ids
from decaf.errors import DataError, ModelError
from decaf.plan.study import Card


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        "wug",
        {"0": 1, "1": 2, "2": 0},
        {"1": "wug", "2": "dax"},
        {"wug": 1, "dax": 2},
        {"wug": 0, "dax": 0},
        {"wug": True, "dax": False},
        {"0": None, "1": "dax"},
        {"0": {"name": "wug"}, "1": "dax"},
        {"id2label": ["wug", None]},
        ["wug", "wug"],
    ],
)
def test_files_that_name_no_classes_are_refused(tmp_path, content):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"config\.json|name twice"):
        class_ids(["wug", "dax"], file)


def test_a_name_of_two_outputs_matters_where_a_label_has_it(tmp_path):
    file = tmp_path / "names.json"
    file.write_text('["crane", "wug", "crane"]')
    assert class_ids(["wug"], file).ids.tolist() == [1]
    with pytest.raises(DataError, match="twice"):
        class_ids(["wug", "crane"], file)


@pytest.mark.parametrize("classes", [[False, True], ["False", "True"], [0, 1], [True, False]])
def test_an_estimator_of_truth_values(tmp_path, classes):
    rows = np.array([[20.0], [25], [30], [35], [40], [45]])
    fitted = LogisticRegression().fit(rows, np.arange(6) > 2)
    skops.io.dump(fitted, tmp_path / "ill.skops")
    card = {"id": "ill", "family": "any", "source": "estimator", "classes": classes}
    settings = card | {"file": str(tmp_path / "ill.skops")}
    outputs = TypeAdapter(Card).validate_python(settings).load("cpu").outputs(torch.tensor(rows))
    order = [1, 0] if classes[0] is True else [0, 1]
    np.testing.assert_allclose(outputs.numpy(), fitted.predict_proba(rows)[:, order], atol=1e-6)


def test_a_wrong_name_of_a_truth_value_is_told_the_right_ones(tmp_path):
    fitted = LogisticRegression().fit([[0.0], [1.0]], [False, True])
    skops.io.dump(fitted, tmp_path / "ill.skops")
    card = {"id": "ill", "family": "any", "source": "estimator", "classes": ["no", "yes"]}
    settings = card | {"file": str(tmp_path / "ill.skops")}
    with pytest.raises(ModelError, match=r"give 'classes: \[false, true\]'"):
        TypeAdapter(Card).validate_python(settings).load("cpu")
