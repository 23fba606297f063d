"""Epochs that rules choose, by hand."""

import pytest

from decaf.errors import ModelError
from decaf.models.epoch_rules.base import Epoch
from decaf.models.epoch_rules.listed import Listed
from decaf.models.epoch_rules.spread import Spread
from decaf.models.epoch_rules.turning_points import TurningPoints


def epochs(*values):
    return [Epoch(number, {"v": value}) for number, value in enumerate(values, 1)]


def turning_points(*values, **settings):
    return TurningPoints(rule="turning_points", statistic="v", **settings).choose(epochs(*values))


def test_a_list_is_chosen_in_its_order():
    rule = Listed(rule="listed", epochs=(5, 1, 5))
    assert (rule.choose(epochs(*range(6))), set(rule.needed_epochs)) == ([1, 5], {1, 5})


@pytest.mark.parametrize(
    ("count", "kept", "chosen"),
    [
        # The eight epochs of the paper's flat trajectories of thirty.
        (8, range(1, 31), [1, 5, 9, 13, 18, 22, 26, 30]),
        (2, range(1, 31), [1, 30]),
        (1, range(1, 31), [30]),
        (3, [1, 2, 4, 8], [1, 4, 8]),
        (5, [1, 2], [1, 2]),
    ],
)
def test_epochs_are_spread_over_those_that_were_kept(count, kept, chosen):
    assert Spread(rule="spread", count=count).choose([Epoch(n, {}) for n in kept]) == chosen


@pytest.mark.parametrize(
    ("values", "chosen"),
    [
        # Highest at 2, lowest at 6, steepest fall from 4 to 5.
        ((0.5, 0.9, 0.8, 0.8, 0.2, 0.1, 0.3), [1, 2, 4, 5, 6, 7]),
        # It only rises: there is no fall.
        ((0.1, 0.2, 0.5, 0.9), [1, 4]),
        # Of equal values and falls the first.
        ((0.5, 0.0, 0.5, 0.0, 0.5), [1, 2, 5]),
        # It hardly moves: two epochs, spread evenly.
        ((0.50, 0.54, 0.50), [1, 3]),
        ((0.5,), [1]),
    ],
)
def test_epochs_at_which_a_statistic_turns(values, chosen):
    assert turning_points(*values, count_if_flat=2) == chosen


@pytest.mark.parametrize("value", [None, "much", True, float("nan")])
def test_a_statistic_that_is_no_number_is_refused(value):
    with pytest.raises(ModelError, match="'v', .* epoch 2"):
        turning_points(0.1, value, 0.9)
