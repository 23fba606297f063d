"""Probability of a class: softmax over the model's own outputs."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from decaf.errors import ModelError
from decaf.settings import Settings

if TYPE_CHECKING:
    import torch


class ClassProbability(Settings):
    """``q`` is the softmax probability of the true class, in float64 from float32 logits."""

    kind: Literal["class_probability"]
    classes: int = Field(gt=1, description="number of outputs that the models have")

    def identity(self) -> dict[str, Any]:
        """What defines the score."""
        return self.model_dump()

    def values(self, logits: "torch.Tensor") -> "torch.Tensor":
        """(n, classes) logits → (n, classes) float64 probabilities."""
        if logits.ndim != 2 or logits.shape[1] != self.classes:
            raise ModelError(
                f"the model returned shape {tuple(logits.shape)}; the score class_probability "
                f"expects (rows, {self.classes})"
            )
        return logits.double().softmax(dim=1)
