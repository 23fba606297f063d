"""Intervals that may be looked at after every value: by hand, by brute force, by simulation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.errors import ResponseError
from decaf.statistics.betting import STAKES, holm, mean_interval, p_at_most

LISTS = st.lists(st.integers(0, 100), min_size=1, max_size=12).map(lambda v: np.array(v) / 100)


def test_two_values_by_hand():
    """Against 1/2 in a list of four: 1 pays 1 + s, then (2 - 1) / 3 is fair, and 1 pays 1 + 2 s."""
    stakes = np.array(STAKES)
    assert p_at_most([1.0], 4, 0.5) == pytest.approx(1 / np.mean(1 + stakes))
    assert p_at_most([1.0, 1.0], 4, 0.5) == pytest.approx(
        1 / np.mean((1 + stakes) * (1 + 2 * stakes))
    )
    # A value below what is fair costs, and the largest capital so far counts.
    assert p_at_most([1.0, 0.0], 4, 0.5) == pytest.approx(1 / np.mean(1 + stakes))
    assert p_at_most([0.0], 4, 0.5) == 1.0


def test_what_the_values_alone_decide():
    assert p_at_most([1.0, 1.0, 1.0], 4, 0.5) == 0.0
    assert p_at_most([0.0, 0.0], 4, 0.5) == 1.0
    assert p_at_most([0.1, 0.2, 0.3], 3, 0.2) == 1.0
    assert p_at_most([0.1, 0.2, 0.3], 3, 0.19) == 0.0
    assert p_at_most([0.5], 2, 1.5) == 1.0
    assert p_at_most([0.5], 2, -0.1) == 0.0


def test_an_interval_by_brute_force_in_fractions():
    """Every mean of a fine grid, with the capital of its definition and no logarithm."""
    seen, count, error = [Fraction(9, 10), Fraction(1), Fraction(4, 5), Fraction(1)], 40, 0.4
    stakes = [Fraction(stake) for stake in STAKES]

    def capital(values, mean):
        total, held, largest = Fraction(0), [Fraction(1)] * len(stakes), Fraction(0)
        for number, value in enumerate(values):
            fair = (count * mean - total) / (count - number)
            held = [h * (1 + s * (value / fair - 1)) for h, s in zip(held, stakes, strict=True)]
            largest, total = max(largest, sum(held) / len(stakes)), total + value
        return largest

    lower, upper = mean_interval([float(value) for value in seen], count, error)
    step = Fraction(1, 2000)
    for bound, values, side in ((lower, seen, 1), (upper, [1 - value for value in seen], -1)):
        mean = Fraction(float(bound)) if side == 1 else 1 - Fraction(float(bound))
        refuted, kept = capital(values, mean - step), capital(values, mean + step)
        possible = sum(values) / count
        assert kept < 2 / Fraction(error)
        assert refuted >= 2 / Fraction(error) or mean <= possible + Fraction(1, 10**9)
    assert lower > 0.3


@given(LISTS, st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.05, 0.5]))
def test_promises(values, seed, error):
    """Never wider, within what is possible, closed at the end, the same under shift and scale."""
    values = np.random.default_rng(seed).permutation(values)
    count, mean = values.size, values.mean()
    before = (0.0, 1.0)
    for n in range(count + 1):
        lower, upper = mean_interval(values[:n], count, error)
        total = values[:n].sum()
        assert before[0] - 1e-12 <= lower <= upper <= before[1] + 1e-12 or n == count
        assert total / count - 1e-12 <= lower
        assert upper <= (total + count - n) / count + 1e-12
        moved = mean_interval(3.0 * values[:n] - 2.0, count, error, (-2.0, 1.0))
        assert moved == pytest.approx((3.0 * lower - 2.0, 3.0 * upper - 2.0), abs=1e-9)
        turned = mean_interval(1.0 - values[:n], count, error)
        assert turned == pytest.approx((1.0 - upper, 1.0 - lower), abs=1e-9)
        before = (lower, upper)
    assert before == pytest.approx((mean, mean), abs=1e-12)


@given(LISTS, st.integers(0, 2**32 - 1), st.floats(0.01, 0.99))
def test_an_interval_and_its_p_values_agree(values, seed, limit):
    values = np.random.default_rng(seed).permutation(values)
    n = values.size // 2
    lower, upper = mean_interval(values[:n], values.size, 0.1)
    above = p_at_most(values[:n], values.size, limit)
    below = p_at_most(-values[:n], values.size, -limit, (-1.0, 0.0))
    if abs(limit - lower) > 1e-6:
        assert (above <= 0.05) == (limit < lower)
    if abs(limit - upper) > 1e-6:
        assert (below <= 0.05) == (limit > upper)


def test_many_lists_at_once_are_each_on_its_own():
    values = np.random.default_rng(3).beta(2, 5, (2, 3, 40))
    lower, upper = mean_interval(values, 100, 0.05)
    p = p_at_most(values, 100, [[0.1], [0.2]])
    assert lower.shape == upper.shape == p.shape == (2, 3)
    one = mean_interval(values[1, 2], 100, 0.05)
    assert (lower[1, 2], upper[1, 2]) == one
    assert p[1, 2] == p_at_most(values[1, 2], 100, 0.2)


@pytest.mark.parametrize(
    "of",
    [
        lambda n: (np.arange(n) < n // 2) * 1.0,
        lambda n: (np.arange(n) < n // 20) * 1.0,
        lambda n: (np.arange(n) < n // 100) * 1.0,
        lambda n: np.full(n, 0.3),
        lambda n: np.linspace(0.0, 1.0, n) ** 8,
        lambda n: np.zeros(n),
    ],
    ids=["half", "few", "one in a hundred", "constant", "skewed", "zero"],
)
def test_the_mean_is_missed_no_more_often_than_stated(of):
    """Over whole paths: a mean that is left out once is missed. 400 orders of 300 values."""
    values, generator = of(300), np.random.default_rng(11)
    orders = generator.permuted(np.tile(values, (400, 1)), axis=1)
    mean = np.full(400, values.mean())
    # p falls only, so the last one before the end says whether the mean was ever refuted.
    above = p_at_most(orders[:, :-1], 300, mean)
    below = p_at_most(-orders[:, :-1], 300, -mean, (-1.0, 0.0))
    assert ((above <= 0.025) | (below <= 0.025)).mean() <= 0.05


def test_sixty_thousand_values_overflow_nothing():
    values = np.random.default_rng(5).beta(2, 5, 60_000)
    lower, upper = mean_interval(values[:30_000], 60_000, 0.05)
    assert lower < values.mean() < upper
    assert upper - lower < 0.01
    assert mean_interval(values, 60_000, 0.05) == pytest.approx([values.mean()] * 2, abs=1e-12)


def test_a_list_of_one():
    assert mean_interval([], 1, 0.05) == pytest.approx((0.0, 1.0))
    assert mean_interval([0.25], 1, 0.05) == pytest.approx((0.25, 0.25))


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 1.0]).tolist() == pytest.approx([0.04, 0.09, 0.09, 1.0])
    assert holm([]).size == 0
    with pytest.raises(ResponseError, match=r"expected one row of numbers in \[0, 1\]"):
        holm([0.5, np.nan])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (([0.5], 2, 0.0), "the error is 0.0; expected a number between 0 and 1"),
        (([0.5], 2, 1.0), "the error is 1.0"),
        (([0.5, 0.5], 1, 0.1), r"shape \(2,\) of a list of 1"),
        (([], 0, 0.1), "of a list of 0"),
        ((0.5, 2, 0.1), r"shape \(\) of a list of 2"),
        (([0.5, 1.5], 2, 0.1), r"1 of 2 values lie outside \[0.0, 1.0\], the first is 1.5"),
        (([np.nan], 2, 0.1), "the first is nan"),
        (([0.5], 2, 0.1, (1.0, 1.0)), "the lower one first"),
        (([0.5], 2, 0.1, (0.0, np.inf)), "two finite numbers"),
    ],
)
def test_what_cannot_be_used(asked, said):
    with pytest.raises(ResponseError, match=said):
        mean_interval(*asked)
