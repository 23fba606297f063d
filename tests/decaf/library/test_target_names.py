"""Names of a score's columns as targets, and scores of a target that are no probabilities."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from decaf import DataWarning, audit
from decaf.errors import DataError, ModelError, ResponseError

X = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
NAMES = ["cat", "dog", "emu"]


@pytest.fixture
def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Softmax(dim=1)).eval()


@pytest.mark.parametrize(
    ("named", "numbers"),
    [
        ("dog", 1),
        (np.str_("emu"), 2),
        (["cat", "emu", "dog"] * 2, [0, 2, 1] * 2),
        (np.array(["dog"] * 6, object), 1),
    ],
)
def test_names_are_columns_in_their_order(network, named, numbers):
    by_name = audit(network, X, -X, target=named, classes=NAMES)
    by_number = audit(network, X, -X, target=numbers)
    np.testing.assert_array_equal(by_name.response, by_number.response)


def test_a_named_class_is_shown_and_numbers_stay_numbers(network):
    assert "class 'dog'" in repr(audit(network, X, -X, target="dog", classes=NAMES))
    audited = audit(network, X, -X, target=1, classes=NAMES)
    assert audited.response.tolist() == audit(network, X, -X, target=1).response.tolist()


@pytest.mark.parametrize(
    ("target", "classes", "error", "words"),
    [
        ("dog", None, ResponseError, "classes="),
        (["dog"] * 6, None, ResponseError, "classes="),
        ("dgo", NAMES, ResponseError, "'dgo'.*'dog'"),
        (["dog"] * 5, NAMES, DataError, "5"),
        ("dog", "dog", ResponseError, "classes is"),
        ("dog", ["dog", 3, "cat"], ResponseError, "classes is"),
        ("dog", ["dog", "dog", "cat"], ResponseError, "'dog' more than once"),
        ("dog", ["cat", "dog"], ModelError, "3 columns.* 2"),
        (1, ["cat", "dog"], ModelError, "3 columns.* 2"),
    ],
)
def test_names_that_say_no_column_are_refused(network, target, classes, error, words):
    with pytest.raises(error, match=words):
        audit(network, X, -X, target=target, classes=classes)


@pytest.mark.parametrize("kind", [list, np.array])
@pytest.mark.parametrize("names", [["cat", "dog"], [-1, 1]])
def test_a_refused_target_of_many_inputs_is_abridged(network, kind, names):
    x = np.tile(X, (1000, 1))
    with pytest.raises(ResponseError, match="and 5997 more") as refused:
        audit(network, x, -x, target=kind(names * 3000))
    assert len(str(refused.value)) < 300


def test_the_names_of_a_classifier_are_its_own():
    model = LogisticRegression().fit(X, ["cat", "dog"] * 3)
    assert "class 'dog'" in repr(audit(model, X, -X, target="dog"))
    with pytest.raises(ResponseError, match="classes_"):
        audit(model, X, -X, target="dog", classes=["cat", "dog"])


def test_a_default_threshold_of_logits_is_warned_of(network):
    logits = network[0]
    with pytest.warns(DataWarning, match=r"not probabilities.*0\.02"):
        audited = audit(logits, X, -X, target=1)
    assert audited.epsilon == 0.02
    assert audit(logits, X, -X, target=1, epsilon=0.5).epsilon == 0.5
    audit(network, X, -X, target=1)
    audit(lambda x: 9 * x[:, 0], X, -X)  # its unit is not that of a class
