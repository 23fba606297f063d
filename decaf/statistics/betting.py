"""Confidence sequences for ratios of sums over a finite list that is read in random order.

The bounds hold after every item, at all items together. A bettor bets on the following items that
the ratio is above ``r``, and gains in the long run only if it is, so a capital that has grown to
``1 / error`` refutes ``r`` (Waudby-Smith and Ramdas, "Estimating means
of bounded random variables by betting", 2024; drawing without replacement: their section 5).
The statement is about the list itself, not about items beyond it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError

Row = NDArray[np.float64]
STAKES = np.geomspace(0.1, 0.95, 8)
"""Stakes, as shares of the largest bet that cannot lose more than the capital.

Small stakes win if the ratio is close to the limit, large stakes if it is far from it. The capital
is the mean over all stakes, so the length of the reading need not be known beforehand.
"""
TOLERANCE = 1e-9
"""Least mean of the unread items, as a share of the range.

If all of them are zero, rounding makes that mean a tiny number other than zero, which would
refute the true ratio. A bet as if the mean were a little larger gains less, and refutes less.
"""
HALVINGS = 30
"""Bisection steps: a bound is exact to ``2 ** -30`` of the range, and errs on the wide side."""


class Limits(NamedTuple):
    """Bounds of a ratio; both hold with probability 1 - 2 error or more."""

    lower: float
    upper: float


def ratio_limits(
    over: ArrayLike,
    under: ArrayLike,
    count: int,
    error: float,
    *,
    most: float = 1.0,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Limits | None:
    """Bounds of ``sum(over) / sum(under)`` of a list of ``count`` items, from the first n items.

    For a mean, ``under`` is ones, or the weights of sources with several pairs; for the share of a
    part, ``under`` is the whole. Each bound is wrong with a probability of
    ``error`` at most, for all numbers of items below ``count`` at once, if the order was drawn at
    random, independently of the values; so reading may stop at any item. Both bounds lie within the
    range that the read items leave possible, and equal the ratio, to rounding, if all are read.
    More items give narrower bounds, unless the new items refute the earlier bounds. None if all are
    read and the ratio is undefined.

    Raises ResponseError for an error that is not between 0 and 1, a list of no items, more than
    ``count``, and values that leave their bounds.

    Parameters
    ----------
    over
        (n,) real: ``under`` times a number within ``bounds``.
    under
        (n,) real, from 0 to ``most``.
    most
        Largest possible ``under`` of an item of the list, above 0.
    """
    if not 0.0 < error < 1.0:
        raise ResponseError(f"the error is {error}; expected a number between 0 and 1, as 0.05")
    low, high = bounds
    if not (np.isfinite([low, high, most]).all() and low < high and most > 0.0):
        raise ResponseError(
            f"the ratio has bounds {bounds}, the divisor at most {most}; expected finite numbers, "
            "the lower bound first, and a divisor above 0"
        )
    part, whole = _scale_to_range(over, under, count, most, bounds)
    total, weight, unseen_count = part.sum(), whole.sum(), count - part.size
    if unseen_count == 0 and weight == 0.0:
        return None
    least, greatest = (
        total / (weight + unseen_count),
        (total + unseen_count) / (weight + unseen_count),
    )
    enough = np.log(1.0 / error)
    lower = _crossing(lambda r: _largest(part, whole, count, r) >= enough, least, greatest)
    remainder = whole - part
    upper = 1.0 - _crossing(
        lambda r: _largest(remainder, whole, count, r) >= enough, 1.0 - greatest, 1.0 - least
    )
    return Limits(low + (high - low) * lower, low + (high - low) * max(lower, upper))


def _scale_to_range(
    over: ArrayLike, under: ArrayLike, count: int, most: float, bounds: tuple[float, float]
) -> tuple[Row, Row]:
    """Divide both by ``most`` and clip ``over`` to 0 … ``under``."""
    numbers = np.asarray(over, dtype=np.float64), np.asarray(under, dtype=np.float64)
    if (
        numbers[0].ndim != 1
        or numbers[0].shape != numbers[1].shape
        or not (0 < count >= numbers[0].size)
    ):
        raise ResponseError(
            f"over and under have shapes {numbers[0].shape} and {numbers[1].shape} for a list of "
            f"{count} items; expected (n,) for both, with n at most the number of items"
        )
    low, high = bounds
    whole = numbers[1] / most
    part = (numbers[0] / most - low * whole) / (high - low)
    is_outside = ~((whole >= 0.0) & (whole <= 1.0 + TOLERANCE))
    is_outside |= ~((part >= -TOLERANCE) & (part <= whole + TOLERANCE))
    if is_outside.any():
        first = int(np.flatnonzero(is_outside)[0])
        raise ResponseError(
            f"{int(is_outside.sum())} of {part.size} values are outside their bounds, the first is "
            f"{numbers[0][first]:g} / {numbers[1][first]:g}; expected a ratio from {low:g} to "
            f"{high:g}, with a divisor from 0 to {most:g}: give wider bounds"
        )
    whole = np.minimum(whole, 1.0)
    return np.clip(part, 0.0, whole), whole


def _largest(part: Row, whole: Row, count: int, ratio: float) -> float:
    """Logarithm of the largest capital so far of bets that the ratio is above ``ratio``.

    If ``ratio`` is true, the mean of ``part + ratio * (1 - whole)`` over the list is ``ratio``. So
    after t items the mean of the remaining items is known, and a bet on it is fair. Each factor
    falls as ``ratio`` grows, and so does the capital. Minus infinity without items.
    """
    values = part + ratio * (1.0 - whole)
    before = np.cumsum(ratio - values) - (ratio - values)
    fair = np.maximum(ratio + before / (count - np.arange(part.size)), TOLERANCE)
    gains = values / fair - 1.0
    capital = np.full(part.shape, -np.inf)
    for stake in STAKES:
        np.logaddexp(capital, np.cumsum(np.log1p(stake * gains)), out=capital)
    return float(capital.max(initial=-np.inf)) - float(np.log(len(STAKES)))


def _crossing(is_refuted: Callable[[float], bool], least: float, greatest: float) -> float:
    """Largest refuted ratio, found by bisection; ``least`` if none is refuted."""
    below, above = least, greatest
    for _ in range(HALVINGS):
        middle = (below + above) / 2.0
        if is_refuted(middle):
            below = middle
        else:
            above = middle
    return below
