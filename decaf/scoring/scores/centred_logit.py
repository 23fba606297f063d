"""Logit of a class less the mean of the logits of all classes."""

from typing import Literal

from decaf.foundation.arrays import Tensor
from decaf.models.card import Output
from decaf.scoring.scores.base import ClassScore


class CentredLogit(ClassScore):
    """``q`` is the logit of the class less the mean logit, so that q adds up to 0 over classes.

    For methods such as RISE, which follow the size of a masked part where q has the same sign on
    every input, as a sum of log-probabilities has.
    """

    kind: Literal["centred_logit"]

    def values(self, outputs: Tensor, output: Output) -> Tensor:
        """(n, classes) logits → (n, classes) float64.

        One logit z of two classes, (n,) or (n, 1), becomes -z / 2 and z / 2.
        """
        self._require(output, ("logits",))
        logits = self.by_class(outputs.double(), output)
        return logits - logits.mean(dim=1, keepdim=True)
