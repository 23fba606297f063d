"""Settings of a training of birds."""

from abc import ABC

from pydantic import Field

from decaf.foundation.settings import PlacedPath
from decaf.models.precision import Precision
from decaf.models.recipes.base import ScheduledRecipe


class BirdSettings(ScheduledRecipe, ABC):
    """Places of birds and initial weights, and settings of the optimiser; defaults are ours."""

    root: PlacedPath = Field(
        description="folder that holds `FunnyBirds/`, or that folder; by default the data's"
    )
    norm_birds: int = Field(
        200,
        ge=0,
        le=1_000_000,
        description="number of training birds whose statistics batch normalisation starts from, "
        "with `initial_weights`; scale and shift compensate, so the outputs stay the same; 0 "
        "keeps the statistics of the weights",
    )
    epochs: int = Field(24, ge=1, le=100_000, description="passes over the training images")
    warm_up_epochs: float = Field(
        7.0, ge=0, description="epochs of linearly rising rate, fewer than `epochs`"
    )
    batch_size: int = Field(32, ge=2, le=1_000_000, description="images per step")
    learning_rate: float = Field(2e-3, gt=0, le=100, description="largest rate of AdamW")
    weight_decay: float = Field(1e-2, ge=0, le=100, description="of AdamW")
    shift: int = Field(
        16, ge=0, le=128, description="largest shift of a bird along either axis, px"
    )
    precision: Precision = Field("float32", description="of the forward pass, as of a model")
    gate: float | None = Field(None, ge=0, le=1, description="share of test birds to recognise")
