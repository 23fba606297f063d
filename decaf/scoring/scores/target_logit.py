"""Logit of a class."""

from typing import Literal

from decaf.foundation.arrays import Tensor
from decaf.models.card import Output
from decaf.scoring.scores.base import ClassScore


class TargetLogit(ClassScore):
    """``q`` is the logit of the class, without a softmax."""

    kind: Literal["target_logit"]

    def values(self, outputs: Tensor, output: Output) -> Tensor:
        """(n, classes) logits → the same, float64."""
        self._require(output, ("logits",))
        self._require_shape(outputs, self.classes)
        return outputs.double()
