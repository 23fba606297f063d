"""What every rule is that chooses epochs of a training once they have been measured."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from decaf.foundation.place import Place
from decaf.foundation.settings import Settings


class Epoch(NamedTuple):
    """One epoch whose weights a training kept."""

    number: int
    """From 1."""
    measured: Mapping[str, Any]
    """What the recipe measured after it, by name."""


class EpochRule(Settings, ABC):
    """A rule that chooses epochs of a training (``epoch_rule:`` of a network)."""

    place: ClassVar[Place] = Place("epoch_rule", room="decaf.models.epoch_rules", tag="rule")

    @property
    def needed(self) -> tuple[int, ...]:
        """Epochs that it chooses whatever is measured: a training has to keep them."""
        return ()

    @abstractmethod
    def choose(self, epochs: Sequence[Epoch]) -> Sequence[int]:
        """Numbers of the epochs that are audited, among those that the training kept.

        There is at least one of these; they come in their order. Raises BadInput when the rule
        cannot choose among them.
        """
