"""Probability of a class: softmax over the model's outputs, or the model's own probabilities."""

from typing import ClassVar, Literal

from decaf.errors import ModelError
from decaf.foundation.arrays import Tensor
from decaf.models.card import Output
from decaf.scoring.scores.base import ClassScore

ROUNDING = 1e-6
"""Largest distance of a probability from [0, 1]."""


class ClassProbability(ClassScore):
    """``q`` is the probability of the class: float64 softmax of logits, or as the model gives it.

    Probabilities of a model need not add up to one; they must lie in [0, 1].
    """

    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    kind: Literal["class_probability"]

    def values(self, outputs: Tensor, output: Output) -> Tensor:
        """(n, classes) logits or probabilities → (n, classes) float64 probabilities.

        One output of two classes, (n,) or (n, 1), is the logit or the probability of class 1.
        """
        self._require(output, ("logits", "probabilities"))
        if output == "logits":
            return self.by_class(outputs.double(), output).softmax(dim=1)
        return self.by_class(checked_probabilities(outputs).double(), output)


def checked_probabilities(outputs: Tensor) -> Tensor:
    """Return outputs in [0, 1] or NaN; raise ModelError with the range of any other outputs."""
    strays = outputs[(outputs < -ROUNDING) | (outputs > 1 + ROUNDING)]
    if strays.numel():
        raise ModelError(
            f"the model gives probabilities, but returned {strays.min():g} to {strays.max():g}; "
            "expected 0 to 1: correct the model's 'output:'"
        )
    return outputs
