"""What every training recipe is: how the weights of a network, or an estimator, are made."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from decaf.foundation.arrays import Device, Module, Tensor
from decaf.foundation.place import Place
from decaf.foundation.readiness import Check
from decaf.foundation.settings import LARGEST_SEED, Settings, fault

PLACE = Place("recipe", room="decaf.models.recipes", tag="recipe")


class TrainingSite(NamedTuple):
    """Where a recipe works, and on what."""

    architecture: str
    """Name of the network's architecture, ``source:name``."""
    device: Device
    preprocessing: Callable[[Tensor], Tensor]
    """From inputs in [0, 1] on the device to what the network takes, as in the audit."""
    scratch: Path
    """Folder for what a stopped training goes on from; it goes when the checkpoint is there."""
    keep: Callable[[int, Module, Mapping[str, Any]], None]
    """Keeps the weights after an epoch, from 1, with what was measured then, as plain values."""


class NetworkRecipe(Settings, ABC):
    """A recipe that trains a network in place (``training:`` of a network)."""

    place: ClassVar[Place] = PLACE

    seed: int = Field(
        ge=0, le=LARGEST_SEED, description="draws initial weights and everything random in training"
    )

    @property
    def start_digest(self) -> str | None:
        """Digest of the file that training starts from; None when it starts from nothing."""
        return None

    @property
    def kept_epochs(self) -> tuple[int, ...]:
        """Epochs whose weights the training keeps, beside those that it ends with."""
        return ()

    def checks(self, architecture: str) -> tuple[Check, ...]:
        """What to look for before anything is trained: nothing, unless files are needed."""
        return ()

    @abstractmethod
    def train(self, network: Module, site: TrainingSite) -> NamedTuple:
        """Train the network in place; what came out, as a NamedTuple of plain values.

        The site says on which device, how inputs are preprocessed, and where a long training keeps
        what it would go on from.
        """


class SeriesRecipe(NetworkRecipe, ABC):
    """A recipe of several epochs, any of which can be audited."""

    epochs: int = Field(ge=1, le=100_000, description="passes over the training data")
    keep_epochs: tuple[int, ...] | Literal["all"] = Field(
        (), description="epochs, from 1, that `epoch:` of a model can name; or `all`"
    )

    @model_validator(mode="after")
    def _epochs_to_keep(self) -> "SeriesRecipe":
        kept = () if self.keep_epochs == "all" else self.keep_epochs
        strays = [epoch for epoch in kept if not 1 <= epoch <= self.epochs]
        if strays or len(set(kept)) < len(kept):
            raise fault(
                f"'keep_epochs' is {list(kept)}; expected numbers from 1 to {self.epochs}, each "
                "once"
            )
        return self

    @property
    def kept_epochs(self) -> tuple[int, ...]:
        """Those of the configuration, in their order."""
        if self.keep_epochs == "all":
            return tuple(range(1, self.epochs + 1))
        return tuple(sorted(self.keep_epochs))


class EstimatorRecipe(Settings, ABC):
    """A recipe that fits an estimator (``training:`` of an estimator)."""

    place: ClassVar[Place] = PLACE

    @property
    @abstractmethod
    def origin(self) -> str:
        """The recipe and what it fits, for people."""

    @property
    @abstractmethod
    def suffix(self) -> str:
        """Kind of the file: ``.skops``, ``.json`` or ``.ubj``."""

    @property
    @abstractmethod
    def trusted(self) -> tuple[str, ...]:
        """Types in the file that are trusted beyond those that skops knows."""

    @abstractmethod
    def fit(self) -> tuple[Any, NamedTuple]:
        """The estimator and what came out."""
