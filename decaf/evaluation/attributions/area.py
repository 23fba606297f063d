"""Area: a baseline that uses no model."""

from typing import ClassVar, Literal

from decaf.evaluation.attributions.base import Access, Batch, MapMethod
from decaf.foundation.arrays import Tensor
from decaf.scoring.image_scores import CountedScore


class Area(MapMethod):
    """One for every pixel, so that a feature scores its number of pixels.

    It calls no model. A method that predicts an effect no better than this one may reflect only the
    size of the features.
    """

    access: ClassVar[Access] = "forward"
    forward_calls: ClassVar[int] = 0
    kind: Literal["area"] = "area"

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """(n, 1, height, width) ones."""
        return batch.images.new_ones(len(batch.images), 1, *batch.images.shape[2:])
