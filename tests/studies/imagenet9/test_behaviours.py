import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from decaf.errors import ResponseError
from decaf.studies.imagenet9.behaviours import (
    needs_corruptions,
    shows_contradiction,
    shows_evidence,
    shows_fragility,
)

EVIDENCE = {
    "nothing changes": ([0.6, 0.3, 0.1], [0.6, 0.3, 0.1], 0, False),
    "another class, hardly lower": ([0.5, 0.4, 0.1], [0.45, 0.5, 0.05], 0, True),
    "the same class, much lower": ([0.9, 0.1, 0.0], [0.6, 0.4, 0.0], 0, True),
    "much higher is no evidence": ([0.5, 0.4, 0.1], [0.9, 0.1, 0.0], 0, False),
    "wrong from the start": ([0.1, 0.8, 0.1], [0.0, 0.1, 0.9], 0, False),
    "another class and wrong from the start": ([0.3, 0.4, 0.3], [0.9, 0.1, 0.0], 0, False),
    "lower by exactly the change": ([0.2, 0.1, 0.0], [0.0, 0.0, 0.0], 0, True),
    "lower by just less": ([0.2, 0.1, 0.0], [1e-9, 0.0, 0.0], 0, False),
    "a tie goes to the first class": ([0.4, 0.4, 0.2], [0.4, 0.4, 0.2], 0, False),
    "a tie goes to the first class, which is wrong": ([0.4, 0.4, 0.2], [0.0, 0.1, 0.9], 1, False),
    "a tie that the true class loses": ([0.3, 0.4, 0.3], [0.4, 0.4, 0.2], 1, True),
}


def test_the_change_is_a_parameter():
    same, rand = [[0.75, 0.25]], [[0.625, 0.25]]
    assert shows_evidence(same, rand, [0], change=0.125).tolist() == [True]
    assert shows_evidence(same, rand, [0], change=0.1251).tolist() == [False]


CONTRADICTION = {
    "to the class of the background": ([0.8, 0.1, 0.1], [0.2, 0.7, 0.1], 0, True),
    "to another class": ([0.8, 0.1, 0.1], [0.2, 0.1, 0.7], 0, False),
    "nowhere": ([0.8, 0.1, 0.1], [0.8, 0.1, 0.1], 0, False),
    "after the last class comes the first": ([0.1, 0.1, 0.8], [0.7, 0.2, 0.1], 2, True),
    "wrong from the start": ([0.1, 0.8, 0.1], [0.2, 0.7, 0.1], 0, False),
    "a tie goes to the first class": ([0.8, 0.1, 0.1], [0.5, 0.5, 0.0], 0, False),
}


BY_HAND = {name: (shows_evidence, *case) for name, case in EVIDENCE.items()}
BY_HAND |= {f"to: {name}": (shows_contradiction, *case) for name, case in CONTRADICTION.items()}


@pytest.mark.parametrize("name", BY_HAND)
def test_behaviours_by_hand(name):
    shows, same, changed, truth, expected = BY_HAND[name]
    assert shows([same], [changed], [truth]).tolist() == [expected]


def test_only_the_score_of_the_true_class_says_who_needs_corruptions():
    same = [[0.5, 0.2], [0.5, 0.2], [0.5, 0.2], [0.02, 0.0], [0.0, 0.02]]
    rand = [[0.5, 0.9], [0.51, 0.2], [0.4, 0.2], [0.0, 0.0], [0.5, 0.02]]
    truth = [0, 0, 0, 0, 1]
    # Exactly epsilon is active, in either direction.
    expected = [True, True, False, False, True]
    assert needs_corruptions(same, rand, truth, 0.02).tolist() == expected
    assert needs_corruptions(rand, same, truth, 0.02).tolist() == expected
    assert needs_corruptions(same, rand, truth, 0.021).tolist() == [True, True, False, True, True]


FRAGILITY = {
    "no corruption matters": ([[0.6, 0.3], [0.5, 0.4]], False),
    "one switches the class": ([[0.6, 0.3], [0.45, 0.5]], True),
    "one lowers the score by the change": ([[0.6, 0.3], [0.375, 0.1]], True),
    "one raises it by the change": ([[0.6, 0.3], [0.875, 0.1]], True),
    "one moves another class alone": ([[0.6, 0.3], [0.625, 0.0]], False),
}


@pytest.mark.parametrize("name", FRAGILITY)
def test_fragility_by_hand(name):
    corrupted, expected = FRAGILITY[name]
    found = shows_fragility([[0.625, 0.25]], [corrupted], [0], [True], change=0.25)
    assert found.tolist() == [expected]


def test_a_wrong_prediction_can_be_fragile():
    assert shows_fragility([[0.2, 0.8]], [[[0.6, 0.4]]], [0], [True]).tolist() == [True]


def test_fragility_at_exactly_the_default_change():
    corrupted = [[[0.2, 0.0]], [[np.nextafter(0.2, 0), 0.0]]]
    found = shows_fragility(np.zeros((2, 2)), corrupted, [0, 0], [True, True])
    assert found.tolist() == [True, False]


def test_units_that_respond_at_the_endpoint_are_not_fragile():
    corrupted = [[[0.1, 0.9]], [[0.9, 0.1]]]
    found = shows_fragility([[0.9, 0.1]] * 4, corrupted, [0] * 4, [False, True, False, True])
    assert found.tolist() == [False, True, False, False]
    nobody = np.empty((0, 1, 2))
    assert not shows_fragility([[0.9, 0.1]] * 2, nobody, [0, 0], np.zeros(2, bool)).any()


SCORES = arrays.arrays(np.float64, (6, 3), elements=st.floats(0, 1))


@given(SCORES, SCORES, SCORES, arrays.arrays(np.int64, 6, elements=st.integers(0, 2)))
def test_labels_are_those_of_a_loop(same, rand, next_, truth):
    evidence, contradiction, null, fragile = [], [], [], []
    corrupted = np.stack([rand, next_], axis=1)
    for s, r, n, y in zip(same, rand, next_, truth, strict=True):
        right = list(s).index(max(s)) == y
        evidence.append(right and (list(r).index(max(r)) != y or s[y] - r[y] >= 0.2))
        contradiction.append(right and list(n).index(max(n)) == (y + 1) % 3)
        null.append(abs(s[y] - r[y]) < 0.02)
        moves = [c.argmax() != s.argmax() or abs(c[y] - s[y]) >= 0.2 for c in (r, n)]
        fragile.append(null[-1] and any(moves))
    needed = needs_corruptions(same, rand, truth)
    assert shows_evidence(same, rand, truth).tolist() == evidence
    assert shows_contradiction(same, next_, truth).tolist() == contradiction
    assert needed.tolist() == null
    assert shows_fragility(same, corrupted[needed], truth, needed).tolist() == fragile


BAD = {
    "not finite": (lambda: shows_evidence([[np.nan, 1]], [[0, 1]], [0]), "1 non-finite"),
    "shapes": (lambda: shows_evidence([[0, 1]], [[0, 1, 2]], [0]), r"\(1, 2\) and \(1, 3\)"),
    "classes": (lambda: shows_contradiction([[0, 1]], [[0, 1]], [2]), "2 to 2 of dtype int64"),
    "fractions": (lambda: shows_contradiction([[0, 1]], [[0, 1]], [0.5]), "dtype float64"),
    "change": (lambda: shows_evidence([[0, 1]], [[0, 1]], [1], change=0), "change is 0"),
    "epsilon": (lambda: needs_corruptions([[0, 1]], [[0, 1]], [1], epsilon=0), "epsilon is 0"),
    "all rows": (
        lambda: shows_fragility([[0, 1]] * 2, [[[0, 1]]] * 2, [1, 1], [True, False]),
        r"\(2, 1, 2\); expected \(1, corruptions, 2\)",
    ),
    "needed": (lambda: shows_fragility([[0, 1]], [[[0, 1]]], [1], [1]), "one truth value"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_score_is_refused(name):
    call, message = BAD[name]
    with pytest.raises(ResponseError, match=message):
        call()
