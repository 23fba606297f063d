"""Epochs that are spread evenly over a training."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.models.epoch_rules.base import Epoch, EpochRule


class Spread(EpochRule):
    """`count` epochs, evenly spread from the first kept epoch to the last."""

    rule: Literal["spread"] = Field(description="this rule")
    count: int = Field(ge=1, le=100_000, description="epochs to audit; all if fewer are kept")
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"count": 2},)

    def choose(self, epochs: Sequence[Epoch]) -> Sequence[int]:
        """Positions ``round(linspace(0, n - 1, count))`` of kept epochs; the last if one."""
        if self.count == 1:
            return [epochs[-1].number]
        positions = np.linspace(0, len(epochs) - 1, self.count).round().astype(int)
        return [epochs[position].number for position in np.unique(positions)]
