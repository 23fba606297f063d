"""Logit of a class."""

from typing import Literal

from decaf.foundation.arrays import Tensor
from decaf.models.card import Output
from decaf.scoring.scores.base import ClassScore


class TargetLogit(ClassScore):
    """``q`` is the logit of the class, without a softmax."""

    kind: Literal["target_logit"]

    def values(self, outputs: Tensor, output: Output) -> Tensor:
        """(n, classes) logits → (n, classes) float64.

        One logit of two classes, (n,) or (n, 1), is that of class 1; class 0 has its negative.
        """
        self._require(output, ("logits",))
        logits = self.by_class(outputs.double(), output)
        if logits.shape != outputs.shape:
            logits[:, 0] = -logits[:, 1]
        return logits
