"""Epochs at which a measured statistic turns."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.errors import ModelError
from decaf.models.epoch_rules.base import Epoch, EpochRule
from decaf.models.epoch_rules.spread import Spread


class TurningPoints(EpochRule):
    """First and last, highest and lowest, and both sides of the steepest fall of a statistic.

    The epochs of the paper's training trajectories were picked around such points (appendix
    "Evidence validation through training trajectories"). If the statistic hardly moves,
    epochs are spread evenly.
    """

    rule: Literal["turning_points"] = Field(description="this rule")
    statistic: str = Field(
        description="name of a statistic that the recipe measures after every epoch"
    )
    flat_below: float = Field(
        0.05,
        ge=0,
        le=1e9,
        description="range of the statistic below which it has no turning points",
    )
    count_if_flat: int = Field(
        8, ge=1, le=100_000, description="number of evenly spread epochs in this case"
    )
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"statistic": "accuracy"},)

    def choose(self, epochs: Sequence[Epoch]) -> Sequence[int]:
        """Up to six turning points, the first of equal epochs; a spread of epochs if nothing turns.

        Raises ModelError when the statistic is not a finite number in every epoch.
        """
        values = np.array([self._value(epoch) for epoch in epochs])
        if np.ptp(values) < self.flat_below or len(epochs) == 1:
            return Spread(rule="spread", count=self.count_if_flat).choose(epochs)
        places = {0, len(epochs) - 1, int(values.argmax()), int(values.argmin())}
        changes = np.diff(values)
        if changes.min() < 0:
            fall = int(changes.argmin())
            places |= {fall, fall + 1}
        return [epochs[place].number for place in sorted(places)]

    def _value(self, epoch: Epoch) -> float:
        value: Any = epoch.measurements.get(self.statistic)
        if type(value) not in (int, float) or not math.isfinite(value):
            raise ModelError(
                f"'epoch_rule:' uses {self.statistic!r}, which is {value!r} after epoch "
                f"{epoch.number}; expected a finite number, as one of: "
                f"{', '.join(epoch.measurements) or 'nothing was measured'}"
            )
        return float(value)
