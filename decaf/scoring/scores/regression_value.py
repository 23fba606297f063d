"""The one number that a model gives."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.arrays import Tensor
from decaf.models.card import Output
from decaf.scoring.scores.base import ScoreDefinition


class RegressionValue(ScoreDefinition):
    """``q`` is the one number that the model gives for an input; there is no predicted class."""

    has_classes: ClassVar[bool] = False

    kind: Literal["regression_value"]

    def values(self, outputs: Tensor, output: Output) -> Tensor:
        """(n,) or (n, 1) values → (n, 1) float64."""
        self._require(output, ("value",))
        values = outputs[:, None] if outputs.ndim == 1 else outputs
        self._require_shape(values, 1)
        return values.double()

    def columns(self, class_id: NDArray[np.int64]) -> NDArray[np.int64]:
        """The one column."""
        return np.zeros_like(class_id)
