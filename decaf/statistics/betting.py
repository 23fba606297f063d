"""Confidence sequences for the mean of a finite list that is read in random order.

They may be looked at after every value, and hold at all of these times at once. Bets are paid by
the values that follow: who bets that the mean is above ``m`` gains in the long run only where it
is, so a capital that has grown to ``1 / error`` refutes ``m`` (Waudby-Smith and Ramdas, "Estimating
means of bounded random variables by betting", 2024; drawing without replacement: their section 5).
The statement is about the mean of the list itself, not of sources beyond it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError

Table = NDArray[np.float64]
STAKES = tuple(np.geomspace(0.02, 0.9, 16).tolist())
"""Shares of the largest bet that loses no more than it has; the capital is the mean over them.

Small stakes win on lists that lie close to the limit, large ones far from it, and a mean of
capitals is a capital, so nobody has to say beforehand how long the list will be read.
"""
TOLERANCE = 1e-9
"""Least mean of the values that are left, in parts of the range.

Where all that is left is zero, rounding makes of that mean some number beside zero, which would
refute the true mean. To bet as if it were a little larger gains less, and so refutes less.
"""
HALVINGS = 50
"""A bound is found to ``2 ** -50`` of the range."""


def mean_interval(
    seen: ArrayLike, count: int, error: float, bounds: tuple[float, float] = (0.0, 1.0)
) -> tuple[Table, Table]:
    """Lower and upper bounds of the means of lists of ``count`` values, of the first of them.

    ``seen`` is (..., n) real: the first n values of each list in an order that was drawn at random
    without a look at the values, all within ``bounds``. Both bounds are (...) float64. With
    probability 1 - ``error`` or more, the mean lies within the bounds for all n below ``count`` at
    once, so one may stop whenever they suffice; intervals of more values lie within those of fewer.
    They are within what the seen values leave possible, ``bounds`` where n is 0, and both are the
    mean itself, to rounding, where n is ``count``. Raises ResponseError for an error that is not
    between 0 and 1, no values at all, more than ``count``, and values outside ``bounds``.
    """
    if not 0.0 < error < 1.0:
        raise ResponseError(f"the error is {error}; expected a number between 0 and 1, as 0.05")
    values = _scaled(seen, count, bounds)
    total = values.sum(axis=-1)
    least = total / count
    most = (total + (count - values.shape[-1])) / count
    enough = np.log(2.0 / error)  # half of the capital bets on each side
    lower = _crossing(lambda m: _largest(values, count, m) >= enough, least, most)
    upper = 1.0 - _crossing(
        lambda m: _largest(1.0 - values, count, m) >= enough, 1.0 - most, 1.0 - least
    )
    low, high = bounds
    return low + (high - low) * lower, low + (high - low) * np.maximum(lower, upper)


def p_at_most(
    seen: ArrayLike, count: int, limit: ArrayLike, bounds: tuple[float, float] = (0.0, 1.0)
) -> Table:
    """P-values of "the mean of the list is at most ``limit``", valid whenever one stops.

    ``seen``, ``count`` and ``bounds`` are as for `mean_interval`, ``limit`` is (...) real. The
    result is (...) float64: one over the largest capital so far, so where the mean is at most
    ``limit``, it ever falls to p with a probability of p at most. It is 0 as soon as the seen
    values alone put the mean above ``limit``, and 1 where they, or all of them, put it at or below.
    The opposite hypothesis is that of the negated values, limit and bounds. Raises ResponseError as
    `mean_interval` does.
    """
    values = _scaled(seen, count, bounds)
    low, high = bounds
    limits = (np.asarray(limit, dtype=np.float64) - low) / (high - low)
    limits = np.broadcast_to(limits, values.shape[:-1])
    total = values.sum(axis=-1)
    rounding = 1e-12 * max(1.0, abs(low), abs(high)) / (high - low)
    is_above = total / count > limits + rounding
    is_below = (total + (count - values.shape[-1])) / count <= limits + rounding
    p = np.exp(-np.maximum(_largest(values, count, np.clip(limits, 0.0, 1.0)), 0.0))
    return np.where(is_above, 0.0, np.where(is_below, 1.0, p))


def holm(p_values: ArrayLike) -> Table:
    """P-values adjusted for all hypotheses together, by Holm's method.

    ``p_values`` is (n_hypotheses,) in [0, 1], one for each hypothesis that was planned: 1 for those
    of which nothing is known yet. The result is (n_hypotheses,) float64; whatever depends on
    whatever, one true hypothesis among those with an adjusted value of at most ``error`` has a
    probability of at most ``error``. None of no hypotheses. Raises ResponseError for values
    outside [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0.0) & (p <= 1.0)).all():
        raise ResponseError(f"p-values {p.tolist()}; expected one row of numbers in [0, 1]")
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty(p.shape)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def _scaled(seen: ArrayLike, count: int, bounds: tuple[float, float]) -> Table:
    """The values as parts of their range."""
    low, high = bounds
    if not (np.isfinite([low, high]).all() and low < high):
        raise ResponseError(f"bounds {bounds}; expected two finite numbers, the lower one first")
    values = np.asarray(seen, dtype=np.float64)
    if values.ndim == 0 or not 0 < count >= values.shape[-1]:
        raise ResponseError(
            f"values of shape {values.shape} of a list of {count}; expected no more than it has, "
            "and one at least"
        )
    is_outside = ~((values >= low) & (values <= high))
    if is_outside.any():
        raise ResponseError(
            f"{int(is_outside.sum())} of {values.size} values lie outside [{low}, {high}], the "
            f"first is {values[is_outside][0]}; expected bounds that no value can leave"
        )
    return (values - low) / (high - low)


def _largest(values: Table, count: int, means: Table) -> Table:
    """Logarithm of the largest capital so far of bets that the mean is above ``means``.

    ``values`` is (..., n) in [0, 1], ``means`` and the result (...); minus infinity for no values.
    Where the mean is m and t values are seen, what follows has the mean (count m - sum) / (count -
    t), and a bet on it is fair. Each factor falls as m grows, and so does the capital.
    """
    before = np.cumsum(values, axis=-1) - values
    left = count - np.arange(values.shape[-1])
    fair = np.maximum((count * means[..., np.newaxis] - before) / left, TOLERANCE)
    gains = values / fair - 1.0
    capital = np.full(values.shape, -np.inf)
    for stake in STAKES:
        np.logaddexp(capital, np.log1p(stake * gains).cumsum(axis=-1), out=capital)
    return capital.max(axis=-1, initial=-np.inf) - np.log(len(STAKES))


def _crossing(is_refuted: Callable[[Table], NDArray[np.bool_]], least: Table, most: Table) -> Table:
    """The largest mean that is refuted, as all below it are; ``least`` where none is."""
    below, above = least, most
    for _ in range(HALVINGS):
        middle = (below + above) / 2.0
        refuted = is_refuted(middle)
        below, above = np.where(refuted, middle, below), np.where(refuted, above, middle)
    return below
