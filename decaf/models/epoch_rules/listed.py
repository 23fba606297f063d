"""Epochs that the configuration names."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from decaf.models.epoch_rules.base import Epoch, EpochRule


class Listed(EpochRule):
    """The epochs of a list."""

    rule: Literal["listed"] = Field(description="this rule")
    epochs: tuple[int, ...] = Field(min_length=1, description="epochs to audit, from 1")
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"epochs": (1,)},)

    @property
    def needed_epochs(self) -> tuple[int, ...]:
        """All epochs of the list."""
        return self.epochs

    def choose(self, epochs: Sequence[Epoch]) -> Sequence[int]:
        """Choose the epochs of the list, in their order."""
        return sorted(set(self.epochs))
