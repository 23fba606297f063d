"""Classes of labels: numbers, names, files of names, and estimators of truth values."""

import json

import numpy as np
import pytest
import skops.io
import torch
from applicants import applicants, section
from income_table import FRAME, LABELS, boosted
from pydantic import TypeAdapter
from sklearn.linear_model import LogisticRegression
from small_studies import of_scenes

from decaf.data.class_ids import CLASS_NAMES, class_ids
from decaf.errors import DataError, ModelError, SettingError
from decaf.plan.class_names import match_classes
from decaf.plan.study import Card, Data, Study
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.scoring.scores.regression_value import RegressionValue
from tasks.plan import plan_audit
from tasks.trial import scored_models, trials_of, try_model


@pytest.mark.parametrize(
    ("labels", "classes", "expected"),
    [
        (["7", "0"], [], [7, 0]),
        (["2.0", "10.0", "2.0"], [], [2, 10, 2]),
        (["b", "a"], [], [1, 0]),
        (["10", "x"], [], [0, 1]),
        (["b", "a"], ["b", "c", "a"], [0, 2]),
        (["3", "5"], [5, 3], [1, 0]),
        (["True", "False"], [True, False], [0, 1]),
    ],
)
def test_labels_are_numbers_or_names(labels, classes, expected, tmp_path):
    assert class_ids(labels, classes).ids.tolist() == expected
    if classes:
        named = {str(number): [str(name), "other"] for number, name in enumerate(classes)}
        (tmp_path / "c.json").write_text(json.dumps(named))
        assert class_ids(labels, tmp_path / "c.json").ids.tolist() == expected
    else:
        assert class_ids(labels).are_sorted == any(map(str.isalpha, labels))


FILES = {
    "a list": ["wug", "dax"],
    "names by number": {"0": "wug", "1": "dax"},
    "lists by number": {"0": ["wug", "n1"], "1": ["dax", "n2"]},
    "numbers by name": {"wug": 0, "dax": 1},
    "id2label of a configuration": {"model_type": "vit", "id2label": {"0": "wug", "1": "dax"}},
    "label2id of a configuration": {"model_type": "vit", "label2id": {"wug": 0, "dax": 1}},
}


@pytest.mark.parametrize("form", FILES)
def test_files_of_class_names(tmp_path, form):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(FILES[form]))
    found = class_ids(["dax", "wug"], file)
    assert (found.ids.tolist(), found.names, found.are_sorted) == ([1, 0], ("wug", "dax"), False)


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
    with pytest.raises(ModelError, match=r"\[false, true\]"):
        TypeAdapter(Card).validate_python(settings).load("cpu")


def test_the_classes_of_a_card_are_suggested_in_the_order_of_the_data(tmp_path):
    frame = applicants()
    skops.io.dump(LogisticRegression().fit(frame[["age"]], frame["hired"]), tmp_path / "m.skops")
    file = {"file": str(tmp_path / "m.skops")}
    card = {"id": "m", "family": "any", "source": "estimator"} | file
    settings = {
        "data": section(tmp_path, classes=["yes", "no"]),
        "paths": {"blend": {"kind": "blend", "sigma": 0}},
        "score": {"kind": "class_probability", "classes": 2},
    }
    study = Study(**of_scenes(tmp_path, [card], **settings))
    plan = plan_audit(study, study.pair_set())
    (trial,) = trials_of(plan, scored_models(plan))
    with pytest.raises(ModelError) as raised:
        try_model(trial)
    assert str(raised.value).endswith('\'classes: ["yes", "no"]\'')


def test_an_error_about_the_classes_of_a_booster_names_the_model_once(tmp_path):
    boosted().fit(FRAME, LABELS).save_model(tmp_path / "m.ubj")
    card = {"id": "gb", "family": "any", "source": "estimator", "classes": ["no", "yes"]}
    settings = card | {"file": str(tmp_path / "m.ubj")}
    with pytest.raises(ModelError, match=r"\[0, 1\]") as raised:
        TypeAdapter(Card).validate_python(settings).load("cpu")
    assert str(raised.value).count("model gb") == 1


def test_labels_are_no_classes_of_a_score_without_classes(tmp_path):
    data = TypeAdapter(Data).validate_python(section(tmp_path, label="who", classes=None))
    pairs = data.pair_set()
    assert any(remark.startswith(CLASS_NAMES) for remark in pairs.remarks)
    score = RegressionValue(kind="regression_value")
    matched = match_classes(pairs, data, score, [], None)
    assert not any(remark.startswith(CLASS_NAMES) for remark in matched.remarks)
    assert sum("regression_value" in remark for remark in matched.remarks) == 1
    assert matched.class_names == pairs.class_names


def test_names_of_another_number_than_the_classes_of_the_score_blame_either(tmp_path):
    data = TypeAdapter(Data).validate_python(section(tmp_path))
    score = ClassProbability(kind="class_probability", classes=3)
    with pytest.raises(SettingError, match=r"2 names and .* 3 classes.*list all 3.*'classes:' of"):
        match_classes(data.pair_set(), data, score, [], None)


def test_names_that_fit_no_output_of_a_target_are_dropped(tmp_path):
    data = TypeAdapter(Data).validate_python(section(tmp_path, label="who", classes=None))
    score = ClassProbability(kind="class_probability", classes=2, target=1)
    matched = match_classes(data.pair_set(), data, score, [], None)
    assert not matched.has_labels
    assert matched.class_names == ()
