"""Mean sizes of changes by pair type: a control should change inputs as much as other changes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.overview import read_both
from decaf.data.pairs import Input, PairSet
from decaf.errors import abridge

SAMPLE = 20
"""Most pairs of a type that are read, evenly spread."""
FACTOR = 2.0
"""Smallest ratio of two sizes that leads to a remark."""
CONTROL = "control"
NOT_COMPARED = (CONTROL, "should_matter")


def change_sizes(pairs: PairSet, read: Callable[[Input], NDArray[Any]]) -> dict[str, float]:
    """Mean of |x⁺ - x⁻| over the values and pairs of each type, from up to ``SAMPLE`` pairs.

    For images it is a share of 255; for other inputs it has their units. Rows whose columns have
    names have no size, because their columns have different units; neither has a removed feature,
    which has no second input.

    Raises DataError when an input cannot be read, or inputs of a pair differ in shape or type.
    """
    if pairs.columns is not None:
        return {}
    sizes = {}
    pair_types = pairs.pairs.pair_types
    for name in sorted(pair_types.counts()):
        rows = np.flatnonzero(pair_types.codes == list(pair_types.values).index(name))
        spread = rows[np.unique(np.linspace(0, rows.size - 1, SAMPLE).astype(int))]
        chosen = (pairs.pairs[row] for row in spread.tolist())
        of_pairs = [
            _size_of(*read_both(pairs, pair, read)) for pair in chosen if pair.plus != pair.minus
        ]
        if of_pairs:
            sizes[name] = float(np.mean(of_pairs))
    return sizes


def _size_of(plus: NDArray[Any], minus: NDArray[Any]) -> float:
    unit = 255.0 if plus.dtype == np.uint8 else 1.0
    return float(np.nanmean(np.abs(plus.astype(np.float64) - minus)) / unit)


def remarks_on_controls(sizes: Mapping[str, float], expect: Mapping[str, str]) -> Iterator[str]:
    """Yield a remark for each control that changes inputs by very different sizes than pair types.

    Pair types that should matter are not compared with controls.

    >>> list(remarks_on_controls({"wall": 0.3, "floor": 0.1}, {"floor": "control"}))[0][:51]
    "control 'floor' changes inputs by 0.1, 'wall' by 0."
    """
    for control in (name for name in sizes if expect.get(name) == CONTROL):
        differing = [
            f"{name!r} by {size:.3g}"
            for name, size in sizes.items()
            if expect.get(name) not in NOT_COMPARED and _differ(sizes[control], size)
        ]
        if differing:
            yield (
                f"control {control!r} changes inputs by {sizes[control]:.3g}, "
                f"{abridge(differing)}; choose a control of similar size: otherwise their "
                "responses are hard to compare"
            )


def _differ(first: float, second: float) -> bool:
    small, large = sorted((first, second))
    return large >= FACTOR * small and large > 0
