import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from decaf.errors import ConfigError, DataError, ModelError
from decaf.scoring.scores.centred_logit import CentredLogit
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.scoring.scores.margin import Margin
from decaf.scoring.scores.regression_value import RegressionValue
from decaf.scoring.scores.superclass_probability import SuperclassProbability
from decaf.scoring.scores.target_logit import TargetLogit

LOGITS = torch.tensor([[0.0, np.log(3.0)]])
PROBABILITY = ClassProbability(kind="class_probability", classes=2)
LOGIT = TargetLogit(kind="target_logit", classes=3)
MARGIN = Margin(kind="margin", classes=3)
VALUE = RegressionValue(kind="regression_value")


def superclass(tmp_path, mapping, classes=2):
    (tmp_path / "map.json").write_text(json.dumps(mapping))
    return SuperclassProbability(
        kind="superclass_probability", class_map=tmp_path / "map.json", classes=classes
    )


def test_class_probability_is_the_softmax():
    values = PROBABILITY.values(LOGITS, "logits")
    np.testing.assert_allclose(values, [[0.25, 0.75]], rtol=1e-6)
    assert values.dtype == torch.float64


def test_probabilities_pass_as_they_are():
    given = torch.tensor([[0.25, 0.5], [1.0, 1.0], [np.nan, 0.5]], dtype=torch.float64)
    values = PROBABILITY.values(given, "probabilities")
    np.testing.assert_array_equal(values, given)


@pytest.mark.parametrize("stray", [-0.1, 1.1, 7.0])
def test_probabilities_lie_between_0_and_1(tmp_path, stray):
    outputs = torch.tensor([[0.5, stray]])
    for score in (PROBABILITY, superclass(tmp_path, {"0": 0, "1": 1})):
        with pytest.raises(ModelError, match=f"returned {stray:g} to {stray:g}; expected 0 to 1"):
            score.values(outputs, "probabilities")


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([0.1, 0.2, 0.3, 0.4], [0.1, 0.6]), ([0.25, 0.75], [0.25, 0.75])],
    ids=["mapped, without the unmapped mass", "superclasses need no map"],
)
def test_superclass_probability_is_a_sum(tmp_path, shares, expected):
    score = superclass(tmp_path, {"0": 0, "1": 1, "2": -1, "3": 1})
    shares = torch.tensor([shares])
    for outputs, output in ((torch.log(shares), "logits"), (shares, "probabilities")):
        values = score.values(outputs, output)
        np.testing.assert_allclose(values, [expected], rtol=1e-6)
        assert values.dtype == torch.float64


def test_a_centred_logit_is_the_lead_over_the_mean():
    score = CentredLogit(kind="centred_logit", classes=3)
    values = score.values(torch.tensor([[1.0, 2.0, 6.0], [-4.0, -4.0, -4.0]]), "logits")
    assert values.tolist() == [[-2.0, -1.0, 3.0], [0.0, 0.0, 0.0]]
    one = CentredLogit(kind="centred_logit", classes=2).values(torch.tensor([3.0]), "logits")
    assert one.tolist() == [[-1.5, 1.5]]
    with pytest.raises(ModelError):
        score.values(torch.tensor([[0.2, 0.3, 0.5]]), "probabilities")


def test_a_margin_is_the_lead_over_the_best_of_the_others():
    values = MARGIN.values(torch.tensor([[1.0, 4.0, 2.0], [3.0, 3.0, 0.0]]), "logits")
    assert values.tolist() == [[-3.0, 2.0, -2.0], [0.0, 0.0, -3.0]]


@given(arrays.arrays(np.float64, (5, 3), elements=st.floats(-50, 50)))
def test_margins_are_those_of_a_loop(logits):
    values = MARGIN.values(torch.from_numpy(logits), "logits").numpy()
    for row, scored in zip(logits, values, strict=True):
        others = [max(np.delete(row, c)) for c in range(3)]
        np.testing.assert_array_equal(scored, row - others)


def test_a_margin_of_an_unknown_logit_is_unknown():
    values = MARGIN.values(torch.tensor([[1.0, np.nan, 2.0]]), "logits")
    assert torch.isnan(values).all()


@pytest.mark.parametrize("outputs", [[1.5, -2.0], [[1.5], [-2.0]]])
def test_a_regression_value_is_the_value(outputs):
    values = VALUE.values(torch.tensor(outputs), "value")
    assert values.tolist() == [[1.5], [-2.0]]
    assert values.dtype == torch.float64
    assert VALUE.columns(np.array([0, 7])).tolist() == [0, 0]
    assert not VALUE.has_classes


@pytest.mark.parametrize(
    ("score", "output"),
    [
        (PROBABILITY, "value"),
        (LOGIT, "probabilities"),
        (MARGIN, "probabilities"),
        (MARGIN, "value"),
        (VALUE, "logits"),
        (VALUE, "probabilities"),
    ],
)
def test_a_score_refuses_outputs_of_another_kind(score, output):
    with pytest.raises(ModelError, match=f"score {score.kind} is made from .*gives {output}"):
        score.values(torch.zeros(1, 2), output)


def test_the_column_is_the_class_of_the_pair_or_the_target():
    classes = np.array([0, 2, 1])
    assert LOGIT.columns(classes).tolist() == [0, 2, 1]
    fixed = TargetLogit(kind="target_logit", classes=3, target=1)
    assert fixed.columns(classes).tolist() == [1, 1, 1]
    assert fixed.columns(np.array([8])).tolist() == [1]


def test_a_class_that_the_score_has_not_is_refused():
    with pytest.raises(DataError, match=r"class 2; .* 2 classes"):
        PROBABILITY.columns(np.array([0, 2]))


def test_a_target_that_is_no_class_is_refused():
    with pytest.raises(ConfigError, match="'target' is 3; .*expected 0 to 2"):
        TargetLogit(kind="target_logit", classes=3, target=3)


def test_less_is_more_where_the_score_decreases():
    assert VALUE.sign == 1
    assert RegressionValue(kind="regression_value", direction="decreasing").sign == -1


def test_the_identity_is_the_mapping_not_its_file(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = superclass(tmp_path / "a", {"0": 0, "1": 1})
    assert one.identity() == superclass(tmp_path / "b", {"1": 1, "0": 0}).identity()
    assert one.identity() != superclass(tmp_path / "b", {"0": 1, "1": 0}).identity()


@pytest.mark.parametrize("columns", [4, 5])
def test_a_model_with_another_number_of_outputs_is_refused(tmp_path, columns):
    logits = torch.zeros(4, columns)
    with pytest.raises(ModelError, match="returned shape"):
        PROBABILITY.values(logits, "logits")
    score = superclass(tmp_path, {"0": 0, "1": 1, "2": -1})
    with pytest.raises(ModelError, match=r"shape \(4, .*\); .* \(rows, 3\), .* or \(rows, 2\)"):
        score.values(logits, "logits")


def test_a_class_map_is_the_same_file_for_a_worker_in_another_folder(tmp_path, monkeypatch):
    superclass(tmp_path, {"0": 0, "1": 1, "2": -1})
    monkeypatch.chdir(tmp_path)
    score = SuperclassProbability(kind="superclass_probability", class_map="map.json", classes=2)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert score.mapping == (0, 1, -1)


def test_the_shipped_map_scores_networks_of_imagenet_and_of_its_superclasses():
    score = SuperclassProbability(kind="superclass_probability", class_map="imagenet9")
    logits = torch.full((1, 1000), -40.0)
    logits[0, [155, 0, 1, 999]] = 0.0  # a dog, two fish, and what belongs to none
    values = score.values(logits, "logits")
    np.testing.assert_allclose(values, [[0.25, 0, 0, 0, 0, 0, 0, 0, 0.5]], atol=1e-6)
    np.testing.assert_allclose(score.values(torch.zeros(1, 9), "logits"), np.full((1, 9), 1 / 9))
    with pytest.raises(ModelError, match=r"\(rows, 1000\), .* or \(rows, 9\)"):
        score.values(torch.zeros(1, 10), "logits")


def test_a_model_with_two_values_is_no_regression():
    with pytest.raises(ModelError, match=r"returned shape \(4, 2\).* expects \(rows, 1\)"):
        VALUE.values(torch.zeros(4, 2), "value")


def test_labels_that_count_from_one_are_said_to():
    with pytest.raises(DataError, match="count from 1"):
        LOGIT.columns(np.array([1, 2, 3]))
    with pytest.raises(DataError, match="correct the label"):
        LOGIT.columns(np.array([0, 2, 3]))
