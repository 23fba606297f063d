"""Scores of a few inputs in several batches: equal, or refused with both scores."""

import numpy as np
import pytest

from decaf.errors import UnstableScore
from decaf.scoring.consistency import NOISE, UNKNOWN_NOISE, Noise, check_consistency

VALUES = np.array([[0.5], [0.25], [0.125], [1.0]])
EPSILON = 0.02


class Scorer:
    """Scores of numbered inputs, changed by ``change(scores, rows, call)``; keeps every batch."""

    def __init__(self, change=lambda scores, rows, call: scores):
        self.change, self.batches = change, []

    def __call__(self, rows):
        self.batches.append(rows.tolist())
        return self.change(VALUES[rows].copy(), rows, len(self.batches))


def test_a_stable_score_is_asked_in_five_batches():
    scorer = Scorer()
    check_consistency(scorer, 4, 6, EPSILON)
    assert scorer.batches == [[0], [0], [0, 1, 2, 3], [3, 2, 1, 0], [0, 0, 3, 2, 1, 0]]


def test_batches_of_one_row_have_no_neighbours():
    scorer = Scorer(lambda scores, rows, call: scores * len(rows))
    check_consistency(scorer, 4, 1, EPSILON)
    assert scorer.batches == [[0], [0]]


@pytest.mark.parametrize(
    ("change", "numbers"),
    [
        (lambda scores, rows, call: scores + call / 8, ("0.625", "0.75")),  # another call
        (lambda scores, rows, call: scores / scores.max(), ("1 alone", "0.5 in a batch of 4")),
        (lambda scores, rows, call: scores - scores.mean(axis=0), ("0 alone", "in a batch of 4")),
        (
            lambda scores, rows, call: np.sort(scores, axis=0) if len(rows) == 4 else scores,
            ("0.5 alone", "0.125 in a batch of 4"),
        ),
        (lambda scores, rows, call: scores * (1 + (len(rows) > 4)), ("in a batch of 6",)),
        (lambda scores, rows, call: np.where(len(rows) > 4, np.nan, scores), ("nan",)),
    ],
)
def test_a_score_that_depends_on_its_batch_is_refused_with_both_values(change, numbers):
    with pytest.raises(UnstableScore) as refusal:
        check_consistency(Scorer(change), 4, 6, EPSILON)
    for number in numbers:
        assert number in str(refusal.value)


def test_scores_that_are_not_finite_equal_each_other():
    for value in (np.nan, np.inf):
        check_consistency(Scorer(lambda scores, rows, call, v=value: scores * v), 4, 6, EPSILON)


def test_rounding_is_no_difference_and_more_is():
    noise = Noise(relative=0.01, of_epsilon=0.5)  # 0.01 of 0.5 to 1 and 0.01: 0.01 at least
    for shift, is_refused in ((0.009, False), (0.011, True)):
        scorer = Scorer(lambda scores, rows, call, s=shift: scores + s * (len(rows) > 1))
        if is_refused:
            with pytest.raises(UnstableScore):
                check_consistency(scorer, 4, 6, EPSILON, noise)
        else:
            check_consistency(scorer, 4, 6, EPSILON, noise)


def test_the_tolerance_is_a_share_of_the_scores_or_of_epsilon():
    scores = np.array([[-200.0, np.nan], [3.0, np.inf]])
    assert NOISE["float32"].tolerance(scores, EPSILON) == pytest.approx(0.02)
    assert UNKNOWN_NOISE.tolerance(np.zeros((2, 1)), EPSILON) == pytest.approx(0.001)


def test_a_full_batch_that_does_not_fit_the_memory_is_halved():
    def change(scores, rows, call):
        if len(rows) > 5:
            raise MemoryError
        return scores

    scorer = Scorer(change)
    check_consistency(scorer, 4, 8, EPSILON)
    assert [len(batch) for batch in scorer.batches] == [1, 1, 4, 4, 8, 4]
