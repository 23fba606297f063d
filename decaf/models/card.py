"""The model card: everything that is needed to feed a model correctly, as data."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from decaf import architectures
from decaf.digests import json_sha256
from decaf.discovery import one_of
from decaf.settings import Settings

Training = one_of("decaf.training", "recipe")
Triple = tuple[float, float, float]


class ModelCard(Settings):
    """One audited model: architecture, weights and preprocessing."""

    id: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$",
        max_length=120,
        description="name of the model in the study, `architecture.tag` by convention",
    )
    family: str = Field(description="architecture family, for grouping")
    architecture: str = Field(
        description="`torchvision:NAME`, `timm:NAME` or `factory:package.module:function`"
    )
    arguments: dict[str, Any] = Field({}, description="keyword arguments of the architecture")
    weights: Path | None = Field(None, description="safetensors file with the state dict")
    sha256: str | None = Field(None, description="expected digest of the weight file")
    training: Training | None = Field(
        None, description="recipe that makes the weights when there is no file"
    )
    input_size: int = Field(
        gt=0, description="side of the input in px; other sizes are resized, bilinear, antialiased"
    )
    mean: Triple = Field(description="channel means that are subtracted, of [0, 1] pixels")
    std: Triple = Field(description="channel deviations that are divided by, of [0, 1] pixels")
    memory_format: Literal["contiguous", "channels_last"] = Field(
        "contiguous", description="layout of tensors in the forward pass"
    )

    @model_validator(mode="after")
    def _one_source_of_weights(self) -> "ModelCard":
        if (self.weights is None) == (self.training is None):
            raise PydanticCustomError(
                "weights_source", "give exactly one of 'weights' (a file) and 'training' (a recipe)"
            )
        return self

    @property
    def recipe_digest(self) -> str:
        """Digest of what training would make: architecture, arguments and recipe."""
        return json_sha256([self._architecture(), self.training.model_dump(mode="json")])

    @property
    def feeding_digest(self) -> str:
        """Digest of architecture and preprocessing: all but the weights."""
        fed = self.model_dump(mode="json", include={"input_size", "mean", "std", "memory_format"})
        return json_sha256([self._architecture(), fed])

    def _architecture(self) -> list[Any]:
        return [self.architecture, architectures.identity(self.architecture), self.arguments]
