import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.statistics.discrimination import auroc

UNITS = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=25)


@pytest.mark.parametrize(
    ("labels", "scores", "expected"),
    [
        # Positives 2 and 3 against negatives 1 and 2: three wins and a tie of four.
        ([1, 1, 0, 0], [2, 3, 1, 2], 3.5 / 4),
        ([0, 1], [5, 4], 0),
        ([0, 1, 0], [7, 7, 7], 0.5),
        ([1, 0, 0], [np.inf, 1, -np.inf], 1),
        ([1, 0, 1, 0], [2, 1, np.nan, np.nan], 1),
        ([1, 1], [0.5, np.nan], np.nan),
        ([0, 0], [0.5, np.nan], np.nan),
        ([1, 0], [0.5, np.nan], np.nan),
    ],
)
def test_auroc_by_hand(labels, scores, expected):
    assert auroc(labels, scores) == pytest.approx(expected, nan_ok=True)


@given(UNITS)
def test_equals_pairs_counted_one_by_one(units):
    labels, scores = (np.array(side) for side in zip(*units, strict=True))
    wins = [np.sign(p - n) for p in scores[labels] for n in scores[~labels]]
    expected = (np.mean(wins) + 1) / 2 if wins else np.nan
    assert auroc(labels, scores) == pytest.approx(expected, nan_ok=True)
