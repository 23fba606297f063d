"""Scores that depend on their batch or on chance: a warning, or the mean of several queries."""

from functools import partial

import numpy as np
import pytest
import torch

import decaf
from decaf.errors import ResponseError

PLUS = np.arange(1.0, 9.0)[:, None]
MINUS = PLUS * 0


def share(x):
    return x[:, 0] / max(x.max(), 1)


def drawing(seed=0):
    generator = np.random.default_rng(seed)
    return lambda x: x[:, 0] + generator.standard_normal(len(x))


@pytest.mark.parametrize("score", [share, drawing()])
def test_a_score_that_is_not_of_the_input_alone_is_warned_of(score):
    with pytest.warns(decaf.UnstableScoreWarning) as warned:
        decaf.audit(score, PLUS, MINUS, stages=3)
    assert warned[0].filename == __file__


def test_a_network_that_mixes_its_batch_is_warned_of():
    network = torch.nn.Sequential(
        torch.nn.BatchNorm1d(1, track_running_stats=False), torch.nn.Linear(1, 1)
    ).eval()
    inputs = torch.from_numpy(PLUS).float()
    with pytest.warns(decaf.UnstableScoreWarning):
        decaf.audit(network, inputs, inputs * 0, stages=3, epsilon=0.02)


GLOBAL_NETWORK = torch.nn.Sequential(torch.nn.BatchNorm1d(1, affine=False), torch.nn.Linear(1, 1))
EVALUATED = torch.nn.Linear(1, 1).eval()


def _closure_of(network):
    return lambda x: network(x)


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("score", [lambda x: GLOBAL_NETWORK(x), _closure_of(GLOBAL_NETWORK)])
def test_a_function_of_a_network_in_training_mode_is_warned_of(score, repeats):
    ones = torch.ones(4, 1)
    with pytest.warns(decaf.UnstableScoreWarning) as warned:
        decaf.audit(score, ones, ones - 2, stages=3, repeats=repeats, epsilon=1e-6)
    assert warned[0].filename == __file__
    assert "(BatchNorm1d)" in str(warned[0].message)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("score", [lambda x: EVALUATED(x), _closure_of(EVALUATED), torch.sum])
def test_other_functions_are_not_warned_of(score):
    call = score if score is not torch.sum else partial(score, dim=1)
    decaf.audit(call, torch.ones(2, 1), torch.zeros(2, 1), stages=3, epsilon=1e-6)


@pytest.mark.filterwarnings("error")
def test_batches_of_one_row_mix_nothing():
    decaf.audit(share, PLUS, MINUS, stages=3, batch_size=1)


@pytest.mark.filterwarnings("error")
def test_q_is_the_mean_of_the_queries_and_the_errors_are_theirs():
    queries = []

    def drawn(x):
        queries.append(x[:, 0] + 0.5 * len(queries))
        return queries[-1]

    audited = decaf.audit(drawn, [[2.0]], [[1.0]], stages=2, repeats=2, epsilon=0.75)
    # Three states: the midpoint, which both branches share, and both inputs. 0.5 more each call.
    assert audited.q_plus.tolist() == [[[1.75, 2.25]]]
    assert audited.q_minus.tolist() == [[[1.75, 1.25]]]
    assert audited.response_errors.tolist() == [[[0.0, 0.0]]]
    assert audited.near_epsilon == ()
    assert audited.forward_rows == 6


@pytest.mark.filterwarnings("error")
def test_pairs_within_the_noise_of_epsilon_are_named():
    signs = iter([1, -1, 1, -1])

    def drawn(x):
        return x[:, 0] * (1 + 0.1 * next(signs))

    audited = decaf.audit(drawn, [[1.0], [9.0]], [[0.0], [0.0]], stages=2, repeats=4, epsilon=1.1)
    spread = 0.1 * np.sqrt(4 / 3) / 2
    assert audited.response_errors[:, 0, -1] == pytest.approx([spread, 9 * spread])
    assert audited.near_epsilon == ("0",)


@pytest.mark.parametrize("repeats", [0, 1.5, "2"])
def test_impossible_repeats_are_refused(repeats):
    with pytest.raises(ResponseError):
        decaf.audit(share, PLUS, MINUS, repeats=repeats)


def test_the_errors_of_the_mean_shrink_with_the_queries():
    few, many = (
        decaf.audit(drawing(), PLUS, MINUS, stages=3, repeats=repeats).response_errors[:, 0, -1]
        for repeats in (4, 64)
    )
    assert few.mean() == pytest.approx(np.sqrt(2) / 2, rel=0.5)
    assert many.mean() == pytest.approx(np.sqrt(2) / 8, rel=0.2)
