"""Input times gradient."""

from typing import ClassVar, Literal

from decaf.evaluation.attributions.base import Batch, MapMethod
from decaf.evaluation.attributions.reference import Referred
from decaf.foundation.arrays import Tensor
from decaf.scoring.image_scores import CountedScore


class InputXGradient(Referred, MapMethod):
    """The gradient at the image, times the image minus its reference.

    With the model's own mean as the reference, that is the input as the network sees it times the
    gradient with respect to it; with 0, the raw image times its gradient.
    """

    forward_calls: ClassVar[int] = 1
    kind: Literal["input_x_gradient"] = "input_x_gradient"

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Return (n, channels, height, width) products."""
        way = batch.images - self.reference(batch.images, score)
        return way * score.gradient(batch.images, batch.columns)
