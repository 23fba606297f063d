"""Base classes of training recipes, which make the weights of a network, or an estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from decaf.foundation.arrays import Device, Module, Tensor
from decaf.foundation.digests import file_sha256
from decaf.foundation.place import Place
from decaf.foundation.readiness import Check
from decaf.foundation.settings import LARGEST_SEED, PlacedPath, Settings, fault
from decaf.models.precision import Precision

PLACE = Place("recipe", room="decaf.models.recipes", tag="recipe")


class TrainingSite(NamedTuple):
    """Resources of a training: device, preprocessing, folder, and a callback that keeps epochs."""

    architecture: str
    """Name of the network's architecture, ``source:name``."""
    device: Device
    preprocessing: Callable[[Tensor], Tensor]
    """Preprocessing of inputs in [0, 1] on the device, the same as in the audit."""
    scratch: Path
    """Folder of the state that a stopped training resumes from; deleted after the training."""
    keep: Callable[[int, Module, Mapping[str, Any]], None]
    """Stores the weights after an epoch, from 1, with its measurements as plain values."""


class NetworkRecipe(Settings, ABC):
    """A recipe that trains a network in place (``training:`` of a network)."""

    place: ClassVar[Place] = PLACE

    seed: int = Field(
        ge=0, le=LARGEST_SEED, description="seed of initial weights and of random draws in training"
    )

    @property
    def start_digest(self) -> str | None:
        """Digest of the file that training starts from; None if it starts from random weights."""
        return None

    @property
    def kept_epochs(self) -> tuple[int, ...]:
        """Epochs whose weights the training keeps, in addition to the final weights."""
        return ()

    def checks(self, architecture: str) -> tuple[Check, ...]:
        """Checks to run before any training: none, unless files are needed."""
        return ()

    @abstractmethod
    def train(self, network: Module, site: TrainingSite) -> NamedTuple:
        """Train the network in place; return the outcome as a NamedTuple of plain values.

        The site names the device, the preprocessing of inputs, and the folder where a long training
        stores the state that it can resume from.
        """


class SeriesRecipe(NetworkRecipe, ABC):
    """A recipe of several epochs, any of which can be audited."""

    epochs: int = Field(ge=1, le=100_000, description="passes over the training data")
    keep_epochs: tuple[int, ...] | Literal["all"] = Field(
        (), description="epochs, from 1, that `epoch:` of a model can name; or `all`"
    )

    @model_validator(mode="after")
    def _epochs_to_keep(self) -> "SeriesRecipe":
        listed = () if self.keep_epochs == "all" else self.keep_epochs
        strays = [epoch for epoch in listed if not 1 <= epoch <= self.epochs]
        if strays or len(set(listed)) < len(listed):
            raise fault(
                f"'keep_epochs' is {list(listed)}; expected numbers from 1 to {self.epochs}, each "
                "once"
            )
        return self

    @property
    def kept_epochs(self) -> tuple[int, ...]:
        """Epochs of the configuration, in their order."""
        if self.keep_epochs == "all":
            return tuple(range(1, self.epochs + 1))
        return tuple(sorted(self.keep_epochs))


class ScheduledRecipe(SeriesRecipe, ABC):
    """A recipe whose rate rises and falls once; defaults are those of the paper's CNNs."""

    initial_weights: PlacedPath | None = Field(
        None, description="state dict to start from; its output layer may differ"
    )
    warm_up_epochs: float = Field(
        1.0, ge=0, description="epochs of linearly rising rate, fewer than `epochs`"
    )
    batch_size: int = Field(256, ge=1, le=1_000_000, description="images per step")
    learning_rate: float = Field(3e-4, gt=0, le=100, description="largest rate of AdamW")
    weight_decay: float = Field(1e-4, ge=0, le=100, description="of AdamW")
    precision: Precision = Field("bfloat16", description="of the forward pass, as of a model")

    @model_validator(mode="after")
    def _rate_falls_again(self) -> "ScheduledRecipe":
        if self.warm_up_epochs >= self.epochs:
            raise fault(
                f"'warm_up_epochs' is {self.warm_up_epochs} and 'epochs' {self.epochs}; "
                "expected fewer warm-up epochs than epochs, so that the learning rate can fall"
            )
        return self

    @property
    def start_digest(self) -> str | None:
        """Digest of the file with the initial weights; None without the file.

        Published weights are identified by their tag, which is in the recipe.
        """
        file = self.initial_weights
        return file_sha256(file) if file is not None and file.is_file() else None


class EstimatorRecipe(Settings, ABC):
    """A recipe that fits an estimator (``training:`` of an estimator)."""

    place: ClassVar[Place] = PLACE

    @property
    @abstractmethod
    def origin(self) -> str:
        """Recipe and the kind of its estimator, for people."""

    @property
    @abstractmethod
    def suffix(self) -> str:
        """Kind of the file: ``.skops``, ``.json`` or ``.ubj``."""

    @property
    @abstractmethod
    def trusted_types(self) -> tuple[str, ...]:
        """Types in the file that decaf trusts although skops does not list them as harmless."""

    @abstractmethod
    def fit(self) -> tuple[Any, NamedTuple]:
        """Fitted estimator, and the outcome as a NamedTuple of plain values."""
