"""Settings that the recipes of scenes share."""

from abc import ABC

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.foundation.settings import fault, require_keys
from decaf.models.precision import Precision
from decaf.models.recipes.base import SeriesRecipe
from decaf.models.training.progress import EpochRecord
from decaf.studies.scenes.images import SceneImages, identity

LARGEST_SCENES, LARGEST_TESTS = 160_000, 22_000
"""Most scenes to train on, and to test with, that every cell of the splits can supply."""

Numbers = NDArray[np.int64]


class SceneSettings(SeriesRecipe, ABC):
    """Settings that the recipes of scenes share; defaults are ours, the paper gives none."""

    images: SceneImages = Field(
        "rendered", description="source of the pixels; by default the data's"
    )
    scenes: int = Field(
        60_000, ge=8, le=LARGEST_SCENES, multiple_of=2, description="training scenes"
    )
    validation_scenes: int = Field(
        10_000,
        ge=8,
        le=LARGEST_TESTS,
        multiple_of=8,
        description="held-out scenes that measure the network after each epoch",
    )
    epochs: int = Field(20, ge=1, le=100_000, description="passes over the training images")
    epochs_at_most: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="largest number of epochs: below the gate, training continues after `epochs` "
        "at a tenth of the rate",
    )
    gate: float | None = Field(None, ge=0, le=1, description="validation accuracy to reach")
    batch_size: int = Field(256, ge=2, le=60_000, multiple_of=2, description="images per step")
    learning_rate: float = Field(1e-3, gt=0, le=100, description="largest rate of AdamW")
    warm_up: float = Field(
        0.05, ge=0, le=1, description="share of the steps over which the rate rises"
    )
    weight_decay: float = Field(1e-4, ge=0, le=100, description="of AdamW")
    precision: Precision = Field("float32", description="of the forward pass, as of a model")

    @model_validator(mode="after")
    def _extension(self) -> "SceneSettings":
        if self.epochs_at_most is not None:
            require_keys([("epochs_at_most", self.gate is not None, "a 'gate' to go on for")])
            if self.epochs_at_most < self.epochs:
                raise fault(
                    f"'epochs_at_most' is {self.epochs_at_most}, which is less than 'epochs', "
                    f"{self.epochs}; give at least as many",
                    "epochs_at_most",
                )
        return self

    @property
    def start_digest(self) -> str | None:
        """Identity of the pixels, which the weights depend on."""
        return identity(self.images)

    def is_reached(self, record: EpochRecord) -> bool:
        """True if an epoch reached the gate, or without a gate."""
        return self.gate is None or record["validation_accuracy"] >= self.gate

    def order(self, epoch: int) -> Numbers:
        """Positions of the training scenes in an epoch, from a separate seed."""
        return np.random.default_rng([self.seed, epoch]).permutation(self.scenes)
