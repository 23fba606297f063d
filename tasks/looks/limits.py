"""What the first items say of a column over all items: bounds that may be looked at any time."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.statistics.betting import Limits, ratio_limits
from tasks.looks.items import Items

MEANS = {
    "endpoint_magnitude": "endpoint_magnitude",
    "evidence": "evidence",
    "contradiction": "contradiction",
    "fragility": "fragility",
    "abs_response": "abs_response",
    "active_frac": "is_endpoint_active",
    "accuracy": "is_correct",
}
"""Columns that are means, by what they are sums of."""
SHARES = {
    "evidence_frac": "evidence",
    "contradiction_frac": "contradiction",
    "fragility_frac": "fragility",
}
"""Columns that are parts of the whole response, by what they are the part of."""
WHOLE = "abs_response"
COUNTED = ("active_frac", "accuracy")
"""Means of what is either so or not."""
BEFORE = {"is_correct": "was_correct"}
"""Columns of the version before; others have the ending ``_before``."""
ROUNDING = 1e-5
"""Part of the score's range by which float32 may leave it."""

Sums = Mapping[str, NDArray[np.float64]]


class Known(NamedTuple):
    """A value over the first items, and bounds of it over all."""

    value: float | None
    limits: Limits


def columns_of(metric: str) -> tuple[str, ...]:
    """Columns of sums that a metric is made of, those of the version before last."""
    own = (MEANS[metric],) if metric in MEANS else (SHARES[metric], WHOLE)
    return (*own, *map(before, own))


def before(column: str) -> str:
    """A column of the version before."""
    return BEFORE.get(column, f"{column}_before")


def of_value(
    metric: str, sums: Sums, items: Items, count: int, error: float, width: float
) -> Known:
    """The metric over the first ``count`` items, and bounds of it over all of them.

    ``width`` is how far two scores can lie apart, score units; each bound is wrong with a
    probability of ``error`` at most, at all counts together.
    """
    if metric in SHARES:
        return _share(sums[SHARES[metric]], sums[WHOLE], items, count, error, width)
    over, under = sums[MEANS[metric]][:count], items.weight[:count]
    bounds = (0.0, 1.0 if metric in COUNTED else width * (1.0 + ROUNDING))
    return _known(over, under, items.block.size, error, float(items.weight.max()), bounds)


def of_change(
    metric: str, sums: Sums, items: Items, count: int, error: float, width: float
) -> Known:
    """How far the metric moved from the version before; the rest as :func:`of_value`.

    Means are compared item by item. Of shares, each version has bounds of its own.
    """
    if metric in SHARES:
        own = (sums[SHARES[metric]], sums[WHOLE])
        then = (sums[before(SHARES[metric])], sums[before(WHOLE)])
        now, past = (_share(*parts, items, count, error / 2, width) for parts in (own, then))
        is_defined = now.value is not None and past.value is not None
        return Known(
            now.value - past.value if is_defined else None,
            Limits(now.limits.lower - past.limits.upper, now.limits.upper - past.limits.lower),
        )
    column = MEANS[metric]
    over = sums[column][:count] - sums[before(column)][:count]
    reach = 1.0 if metric in COUNTED else width * (1.0 + ROUNDING)
    most = float(items.weight.max())
    under = items.weight[:count]
    return _known(over, under, items.block.size, error, most, (-reach, reach))


def _share(
    part: NDArray[np.float64],
    whole: NDArray[np.float64],
    items: Items,
    count: int,
    error: float,
    width: float,
) -> Known:
    most = float(items.weight.max()) * width * (1.0 + ROUNDING)
    # Sums of floats: a part may be larger than its whole in the last digits.
    under = np.maximum(whole[:count], part[:count])
    return _known(part[:count], under, items.block.size, error, most, (0.0, 1.0))


def _known(
    over: NDArray[np.float64],
    under: NDArray[np.float64],
    count: int,
    error: float,
    most: float,
    bounds: tuple[float, float],
) -> Known:
    limits = ratio_limits(over, under, count, error, most=most, bounds=bounds)
    value = float(over.sum() / under.sum()) if under.sum() > 0.0 else None
    if limits is None:  # no response at all, so no share of it
        return Known(None, Limits(*bounds))
    is_whole = over.size == count
    return Known(value, Limits(value, value) if is_whole and value is not None else limits)
