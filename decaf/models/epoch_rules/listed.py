"""Epochs that the configuration names."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from decaf.errors import ModelError
from decaf.models.epoch_rules.base import Epoch, EpochRule


class Listed(EpochRule):
    """The epochs of a list."""

    rule: Literal["listed"] = Field(description="this rule")
    epochs: tuple[int, ...] = Field(min_length=1, description="epochs to audit, from 1")
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"epochs": (1,)},)

    def choose(self, epochs: Sequence[Epoch]) -> Sequence[int]:
        """Those of the list, which the training has to have kept."""
        kept = [epoch.number for epoch in epochs]
        if missing := sorted(set(self.epochs) - set(kept)):
            raise ModelError(
                f"epochs {missing} of 'epoch_rule:' are not among those that the training kept, "
                f"{kept}; correct 'epochs:' of the rule or 'keep_epochs:' of the recipe"
            )
        return sorted(set(self.epochs))
