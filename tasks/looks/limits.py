"""Bounds of a metric over all items from the first items, valid at any number of looks."""

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
"""Metrics that are means, with the columns that they sum."""
SHARES = {
    "evidence_frac": "evidence",
    "contradiction_frac": "contradiction",
    "fragility_frac": "fragility",
}
"""Metrics that are shares of the whole response, with the columns of their parts."""
WHOLE = "abs_response"
COUNTED = ("active_frac", "accuracy")
"""Means of true or false values."""
EARLIER_NAMES = {"is_correct": "was_correct"}
"""Columns of the earlier version with special names; others end in ``_before``."""
ROUNDING = 1e-5
"""Share of the score's range by which float32 values may exceed it."""

Sums = Mapping[str, NDArray[np.float64]]


class BoundedEstimate(NamedTuple):
    """Value over the first items, and its bounds over all items."""

    value: float | None
    limits: Limits


def columns_of(metric: str) -> tuple[str, ...]:
    """Columns of sums that a metric needs; those of the earlier version come last."""
    columns = (MEANS[metric],) if metric in MEANS else (SHARES[metric], WHOLE)
    return (*columns, *map(earlier_column, columns))


def earlier_column(column: str) -> str:
    """Name of a column for the earlier version."""
    return EARLIER_NAMES.get(column, f"{column}_before")


def of_value(
    metric: str, sums: Sums, items: Items, count: int, error: float, width: float
) -> BoundedEstimate:
    """Metric over the first ``count`` items, and its bounds over all items.

    ``width`` is the largest difference of two scores, in score units. The probability that a bound
    is wrong at any count is at most ``error``.
    """
    if metric in SHARES:
        return _share(sums[SHARES[metric]], sums[WHOLE], items, count, error, width)
    numerators, denominators = sums[MEANS[metric]][:count], items.weight[:count]
    bounds = (0.0, 1.0 if metric in COUNTED else width * (1.0 + ROUNDING))
    return _bound_ratio(
        numerators, denominators, items.block.size, error, float(items.weight.max()), bounds
    )


def of_change(
    metric: str, sums: Sums, items: Items, count: int, error: float, width: float
) -> BoundedEstimate:
    """Change of the metric from the earlier version; parameters as in :func:`of_value`.

    Means are compared item by item. For shares, the bounds of both versions are combined.
    """
    if metric in SHARES:
        current = (sums[SHARES[metric]], sums[WHOLE])
        earlier = (sums[earlier_column(SHARES[metric])], sums[earlier_column(WHOLE)])
        now, before = (
            _share(*parts, items, count, error / 2, width) for parts in (current, earlier)
        )
        is_defined = now.value is not None and before.value is not None
        return BoundedEstimate(
            now.value - before.value if is_defined else None,
            Limits(now.limits.lower - before.limits.upper, now.limits.upper - before.limits.lower),
        )
    column = MEANS[metric]
    numerators = sums[column][:count] - sums[earlier_column(column)][:count]
    reach = 1.0 if metric in COUNTED else width * (1.0 + ROUNDING)
    most = float(items.weight.max())
    denominators = items.weight[:count]
    return _bound_ratio(numerators, denominators, items.block.size, error, most, (-reach, reach))


def _share(
    part: NDArray[np.float64],
    whole: NDArray[np.float64],
    items: Items,
    count: int,
    error: float,
    width: float,
) -> BoundedEstimate:
    most = float(items.weight.max()) * width * (1.0 + ROUNDING)
    # In sums of floats, a part may exceed its whole in the last digits.
    denominators = np.maximum(whole[:count], part[:count])
    return _bound_ratio(part[:count], denominators, items.block.size, error, most, (0.0, 1.0))


def _bound_ratio(
    numerators: NDArray[np.float64],
    denominators: NDArray[np.float64],
    count: int,
    error: float,
    most: float,
    bounds: tuple[float, float],
) -> BoundedEstimate:
    limits = ratio_limits(numerators, denominators, count, error, most=most, bounds=bounds)
    value = float(numerators.sum() / denominators.sum()) if denominators.sum() > 0.0 else None
    if limits is None:  # without any response, shares are undefined
        return BoundedEstimate(None, Limits(*bounds))
    is_complete = numerators.size == count
    return BoundedEstimate(
        value, Limits(value, value) if is_complete and value is not None else limits
    )
