"""Margin of a class: how far its logit is above the others."""

from typing import Literal

from decaf.foundation.arrays import Tensor
from decaf.models.card import Output
from decaf.scoring.scores.base import ClassScore


class Margin(ClassScore):
    """``q`` is the logit of the class minus the largest logit of another class."""

    kind: Literal["margin"]

    def values(self, outputs: Tensor, output: Output) -> Tensor:
        """(n, classes) logits → (n, classes) float64 margins; a tie for the largest gives 0.

        One logit of two classes, (n,) or (n, 1), is the margin of class 1.
        """
        import torch

        self._require(output, ("logits",))
        logits = self.by_class(outputs.double(), output)
        largest = logits.topk(2, dim=1)
        is_largest = torch.arange(self.classes, device=logits.device) == largest.indices[:, :1]
        return logits - torch.where(is_largest, largest.values[:, 1:], largest.values[:, :1])
