"""Logit of a class."""

from typing import TYPE_CHECKING, Literal

from decaf.scoring.scores.base import ClassScore

if TYPE_CHECKING:
    import torch

    from decaf.models.card import Output


class TargetLogit(ClassScore):
    """``q`` is the logit of the class, without a softmax."""

    kind: Literal["target_logit"]

    def values(self, outputs: "torch.Tensor", output: "Output") -> "torch.Tensor":
        """(n, classes) logits → the same, float64."""
        self._require(output, ("logits",))
        self._require_shape(outputs, self.classes)
        return outputs.double()
