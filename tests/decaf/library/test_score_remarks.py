"""Remarks of the one-call audit on its pairs and scores."""

import pydoc
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from decaf import DataWarning, audit
from decaf.errors import ResponseError

ROWS = np.random.default_rng(0).random((4, 3))


def total(x):
    return x.sum(1)


@pytest.mark.parametrize("of", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_equal_pairs_are_counted(of):
    minus = ROWS * [-1, 1, 1]
    minus[:3] = ROWS[:3]
    with pytest.warns(DataWarning, match="in 3 of 4 pairs x_minus equals x_plus"):
        audit(total, of(ROWS), of(minus), epsilon=0.1)


@pytest.mark.parametrize("inputs", [ROWS, pd.DataFrame(ROWS, columns=list("abc"))])
def test_pairs_that_are_all_equal_have_a_stronger_remark(inputs):
    score = total if isinstance(inputs, np.ndarray) else lambda frame: frame["a"].to_numpy()
    with pytest.warns(DataWarning, match=r"all 4 pairs.*copy\(\)"):
        audit(score, inputs, inputs.copy(), epsilon=0.1)


def share(x):
    return x.mean(1)


def test_an_epsilon_above_every_difference_of_probabilities_is_refused():
    model = LogisticRegression().fit(ROWS, [0, 1, 0, 1])
    with pytest.raises(ResponseError, match=r"epsilon is 5.* 0\.05"):
        audit(model, ROWS, ROWS / 2, target=1, epsilon=5)


def test_another_threshold_keeps_the_range_of_probabilities():
    audited = audit(LogisticRegression().fit(ROWS, [0, 1, 0, 1]), ROWS, ROWS / 2, target=1)
    assert audited.at(0.04).epsilon == 0.04
    with pytest.raises(ResponseError, match=r"epsilon is 5.* 0\.05"):
        audited.at(5)
    assert audit(lambda x: 99 * x[:, 0], ROWS, ROWS / 2, epsilon=1).at(5).epsilon == 5


def test_help_names_types_instead_of_their_unions():
    shown = pydoc.plain(pydoc.render_doc(audit))
    signature = shown.split("\n")[2]
    assert "x_plus: 'Inputs'" in signature
    assert "Buffer" not in signature


def test_an_epsilon_that_no_pair_reaches_is_remarked_on():
    with pytest.warns(DataWarning, match=r"no pair reaches epsilon 5.* 0\.05"):
        audit(share, ROWS, ROWS / 2, epsilon=5)
    audited = audit(share, ROWS, ROWS / 2, epsilon=0.1)
    with pytest.warns(DataWarning, match=r"no pair reaches epsilon 2.* 0\.05"):
        assert audited.at(2).profiles.evidence.max() == 0
    with pytest.warns(DataWarning, match=r"no pair reaches epsilon 500.* units of the score"):
        audit(lambda x: 9 * total(x), ROWS, ROWS / 2, epsilon=500)
    audit(lambda x: 9 * total(x), ROWS, ROWS / 2, epsilon=0.1)


def test_the_default_epsilon_that_no_pair_reaches_is_remarked_on():
    with pytest.warns(DataWarning, match=r"no pair reaches epsilon 0\.02.* units of the score"):
        audit(lambda x: total(x) / 1000, ROWS, ROWS / 2)
    audit(lambda x: x / 1000, ROWS, ROWS / 2, target=0)  # probabilities of a class
    audit(total, ROWS, ROWS / 2)


@pytest.mark.parametrize("epsilon", [None, 5])
def test_an_epsilon_is_not_remarked_on_if_every_d_is_0(epsilon):
    given = {} if epsilon is None else {"epsilon": epsilon}
    audit(lambda x: x[:, 0] * 0, ROWS, ROWS / 2, **given)
    audit(lambda x: 1e-12 * x[:, 0], ROWS, ROWS / 2, **given)


def test_logits_of_a_network_with_one_output_are_remarked_on():
    network = torch.nn.Sequential(torch.nn.Linear(3, 1)).eval()
    torch.nn.init.constant_(network[0].weight, 9)
    with pytest.warns(DataWarning, match=r"not probabilities.* 0\.02"):
        audit(network, ROWS, ROWS / 2)
    audit(torch.nn.Sequential(network, torch.nn.Sigmoid()).eval(), ROWS, ROWS / 2)


IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])


class Bag(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.vectors = torch.nn.Embedding.from_pretrained(torch.arange(32.0).reshape(16, 2) / 9)

    def forward(self, ids):
        return self.vectors(ids.long()).mean(dim=(1, 2)).sigmoid()


@pytest.mark.parametrize(
    ("score", "ids"), [(Bag().eval(), IDS), (Bag().eval(), IDS.numpy()), (lambda x: x[:, 0], IDS)]
)
def test_whole_numbers_that_may_be_ids_are_remarked_on(score, ids):
    with pytest.warns(DataWarning, match="ids of tokens"):
        audit(score, ids, ids * 2, epsilon=0.1)


def test_amounts_and_contexts_are_no_ids():
    amounts = IDS.numpy()
    audit(lambda x: x[:, 0] / 9, amounts, amounts * 2, epsilon=0.1)
    audit(lambda x: x[:, 0] / 9, IDS.float(), IDS.float() * 2, epsilon=0.1)
    # A context path mixes scores, not inputs.
    audit(lambda x: x[:, 0] / 9, IDS, IDS * 2, epsilon=0.1, context=(IDS, IDS * 2))


@pytest.mark.parametrize(
    ("regions", "is_remarked"),
    [
        ([0, 1, 2], True),
        (np.array([0, 1, 2], np.uint8), True),
        (np.array([[0, 1, 2]] * 4), True),
        ([1, 2, 3], False),
        ([0, 1, 1], False),
        ([2, 0, 1], False),
        ([0, 0, 1], False),
        ([0, 2, 4], False),
        (np.eye(3, dtype=bool), False),
    ],
)
def test_regions_that_probably_count_from_0_are_remarked_on(regions, is_remarked):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        audit(total, ROWS, regions=regions)
    remarks = [str(warning.message) for warning in caught]
    assert [remark.startswith("regions number 3") for remark in remarks] == [True] * is_remarked


class Prices:
    """A regressor, as scikit-learn has them."""

    def predict(self, rows):
        return 1000 * rows[:, 0]


def test_the_default_epsilon_of_a_regressor_is_remarked_on():
    with pytest.warns(DataWarning, match="not probabilities"):
        audit(Prices(), ROWS, ROWS / 2)
    audit(Prices(), ROWS, ROWS / 2, epsilon=20)


@pytest.mark.parametrize(
    ("score", "is_remarked"),
    [
        (lambda x: (x[:, 0] > 0).astype(int), True),
        (lambda x: np.clip(x[:, 0].round(), -1, 1), False),
        (lambda x: np.where(x[:, 0] > 0, 0.5, 0), False),
    ],
)
def test_labels_as_scores_are_remarked_on(score, is_remarked):
    x = np.linspace(-2, 2, 20)[:, None]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        audit(score, x, -x)
    assert any("like a label of a class" in str(entry.message) for entry in caught) == is_remarked
