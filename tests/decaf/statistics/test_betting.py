"""Bounds that may be looked at after every item: by hand, by brute force, by simulation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from decaf.errors import ResponseError
from decaf.statistics.betting import STAKES, ratio_limits

LISTS = st.lists(st.integers(0, 100), min_size=1, max_size=12).map(lambda v: np.array(v) / 100)
ONES = np.ones(60_000)


def limits(values, count, error=0.05, **options):
    values = np.asarray(values, dtype=float)
    return ratio_limits(values, ONES[: values.size], count, error, **options)


def capital(values, weights, count, ratio, stakes):
    """The largest capital so far, as it is defined: in fractions, without a logarithm."""
    total, held, largest = Fraction(0), [Fraction(1)] * len(stakes), Fraction(0)
    for number, (value, weight) in enumerate(zip(values, weights, strict=True)):
        item = value + ratio * (1 - weight)
        fair = (count * ratio - total) / (count - number)
        held = [h * (1 + s * (item / fair - 1)) for h, s in zip(held, stakes, strict=True)]
        largest, total = max(largest, sum(held) / len(stakes)), total + item
    return largest


def test_one_item_by_hand():
    """Against r, an item of 1 pays 1 + s (1 / r - 1), in the mean over the stakes 1 / error."""
    gain = np.mean(STAKES)
    error, r = 0.8, 0.3
    r = gain / (1 / error - 1 + gain)
    lower, upper = limits([1.0], 1000, error)
    assert lower == pytest.approx(r, abs=1e-6)
    assert upper == 1.0
    assert limits([0.0], 1000, error) == pytest.approx((0.0, 1.0 - r), abs=1e-6)


@pytest.mark.parametrize("weights", [["1", "1", "1", "1"], ["1", "1/2", "3/4", "1"]])
def test_bounds_by_brute_force_in_fractions(weights):
    weights = [Fraction(weight) for weight in weights]
    shares = [Fraction(9, 10), Fraction(1), Fraction(4, 5), Fraction(1)]
    seen, count, error = [s * w for s, w in zip(shares, weights, strict=True)], 40, 0.2
    stakes = [Fraction(float(stake)) for stake in STAKES]
    lower, upper = ratio_limits([*map(float, seen)], [*map(float, weights)], count, error, most=1.0)
    step = Fraction(1, 2000)
    rest = [w - x for x, w in zip(seen, weights, strict=True)]
    for bound, values in ((lower, seen), (1 - upper, rest)):
        ratio = Fraction(float(bound))
        possible = sum(values) / (sum(weights) + count - len(values))
        assert capital(values, weights, count, ratio + step, stakes) < 1 / Fraction(error)
        assert capital(values, weights, count, ratio - step, stakes) >= 1 / Fraction(error) or (
            ratio <= possible + Fraction(1, 10**8)
        )
    assert lower > 0.3


@settings(max_examples=15)
@example(np.array([0, 0, 0, 0, 1]) / 100, 0, 0.5)  # a bound is wrong before the end
@given(LISTS, st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.05, 0.5]))
def test_promises(values, seed, error):
    """Within what is possible, wider for no other reason, closed at the end; moved and scaled."""
    generator = np.random.default_rng(seed)
    values = generator.permuted(values)
    weights = generator.integers(1, 4, values.size) / 2.0
    count, before = values.size, (0.0, 1.0)
    for n in range(count + 1):
        over, under = values[:n] * weights[:n], weights[:n]
        found = ratio_limits(over, under, count, error, most=1.5)
        rest = 1.5 * (count - n)
        least = over.sum() / (under.sum() + rest)
        greatest = (over.sum() + rest) / (under.sum() + rest)
        assert least - 1e-7 <= found.lower <= found.upper <= greatest + 1e-7
        # Bounds that what was read since has proved wrong move as far as it takes, and no further.
        assert min(before[0], greatest) - 1e-7 <= found.lower
        assert found.upper <= max(before[1], least, found.lower) + 1e-7
        moved = ratio_limits(
            3.0 * over - 2.0 * under, under, count, error, most=1.5, bounds=(-2.0, 1.0)
        )
        assert moved == pytest.approx([3.0 * one - 2.0 for one in found], abs=1e-6)
        turned = ratio_limits(under - over, under, count, error, most=1.5)
        assert turned == pytest.approx((1.0 - found.upper, 1.0 - found.lower), abs=1e-6)
        before = found
    assert before == pytest.approx([(values * weights).sum() / weights.sum()] * 2, abs=1e-7)


def test_equal_weights_are_means():
    values = np.random.default_rng(3).beta(2, 5, 40)
    assert ratio_limits(2.0 * values, 2.0 * ONES[:40], 100, 0.05, most=2.0) == pytest.approx(
        limits(values, 100)
    )


LISTS_OF = {
    "half": lambda n: (np.arange(n) < n // 2) * 1.0,
    "few": lambda n: (np.arange(n) < n // 20) * 1.0,
    "skewed": lambda n: np.linspace(0.0, 1.0, n) ** 8,
}


LOOKS = (10, 30, 50, 59)


@pytest.mark.parametrize("values", LISTS_OF.values(), ids=LISTS_OF)
@pytest.mark.parametrize("is_ratio", [False, True], ids=["mean", "ratio"])
def test_the_truth_is_left_out_no_more_often_than_stated(values, is_ratio):
    """At any of several looks: what is left may prove a wrong bound wrong, and hide it later."""
    values, generator = values(60), np.random.default_rng(11)
    weights = np.linspace(0.1, 1.0, 60) if is_ratio else np.ones(60)
    truth = (values * weights).sum() / weights.sum()
    wrong = 0
    for _ in range(40):
        order = generator.permutation(60)
        looks = [
            ratio_limits((values * weights)[seen], weights[seen], 60, 0.05)
            for seen in (order[:count] for count in LOOKS)
        ]
        wrong += max(one.lower for one in looks) > truth + 1e-9
        wrong += min(one.upper for one in looks) < truth - 1e-9
    # Of 40 orders 4 are expected at most, for both bounds; 12 come by chance once in 700.
    assert wrong < 12


def test_sixty_thousand_values_overflow_nothing():
    values = np.random.default_rng(5).beta(2, 5, 60_000)
    lower, upper = limits(values[:30_000], 60_000, 0.025)
    assert lower < values.mean() < upper
    assert upper - lower < 0.01


def test_short_lists():
    assert limits([], 1) == pytest.approx((0.0, 1.0))
    assert limits([0.25], 1) == pytest.approx((0.25, 0.25))
    assert ratio_limits([0.0], [0.0], 1, 0.05) is None
    assert ratio_limits([0.0], [0.0], 2, 0.05) == pytest.approx((0.0, 1.0))


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (([0.5], [1.0], 2, 0.0), {}, "error .* 0.0"),
        (([0.5], [1.0], 2, 1.0), {}, "the error is 1.0"),
        (([0.5, 0.5], [1.0, 1.0], 1, 0.1), {}, r"\(2,\) .* \(2,\) .* 1"),
        (([0.5], [1.0, 1.0], 3, 0.1), {}, r"\(1,\) .* \(2,\)"),
        (([], [], 0, 0.1), {}, "a list of 0"),
        ((0.5, 1.0, 2, 0.1), {}, r"shapes \(\) and \(\)"),
        (([0.5, 1.5], [1.0, 1.0], 2, 0.1), {}, "1 of 2 .* 1.5"),
        (([0.5], [2.0], 2, 0.1), {}, "from 0 to 1"),
        (([0.5], [-1.0], 2, 0.1), {}, "the first is 0.5 / -1"),
        (([np.nan], [1.0], 2, 0.1), {}, "the first is nan"),
        (([0.5], [1.0], 2, 0.1), {"bounds": (1.0, 1.0)}, "the lower bound first"),
        (([0.5], [1.0], 2, 0.1), {"bounds": (0.0, np.inf)}, "expected finite numbers"),
        (([0.5], [1.0], 2, 0.1), {"most": 0.0}, "divisor at most 0.0"),
    ],
)
def test_what_cannot_be_used(given, options, said):
    with pytest.raises(ResponseError, match=said):
        ratio_limits(*given, **options)
