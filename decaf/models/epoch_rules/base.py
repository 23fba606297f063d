"""Base class of rules that choose epochs of a training by their measurements."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from decaf.foundation.place import Place
from decaf.foundation.settings import Settings


class Epoch(NamedTuple):
    """One epoch whose weights a training kept."""

    number: int
    """Number of the epoch, from 1."""
    measurements: Mapping[str, Any]
    """Measurements of the recipe after the epoch, by name."""


class EpochRule(Settings, ABC):
    """A rule that chooses epochs of a training (``epoch_rule:`` of a network)."""

    place: ClassVar[Place] = Place("epoch_rule", room="decaf.models.epoch_rules", tag="rule")

    @property
    def needed_epochs(self) -> tuple[int, ...]:
        """Epochs that the rule always chooses: a training has to keep them."""
        return ()

    @abstractmethod
    def choose(self, epochs: Sequence[Epoch]) -> Sequence[int]:
        """Numbers of the epochs that are audited, among those that the training kept.

        ``epochs`` are in ascending order, at least one. Raises BadInput when the rule cannot choose
        among them.
        """
