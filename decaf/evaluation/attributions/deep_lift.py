"""DeepLIFT."""

from typing import ClassVar, Literal

from decaf.evaluation.attributions.base import Batch, MapMethod
from decaf.evaluation.attributions.reference import Referred
from decaf.foundation.arrays import Tensor
from decaf.scoring.image_scores import CountedScore


class DeepLift(Referred, MapMethod):
    """Contribution of each pixel to the difference from the reference, by the rescale rule.

    Every activation passes on the ratio of the differences of its output and input, instead of its
    gradient (:class:`~decaf.evaluation.rescale.RescaleRule`). If nothing else is nonlinear, the map
    adds up to the score's difference. captum's version accepts only networks that use each module
    once, omits the rule where one activation or pooling directly follows another, loses pixels
    where windows of a pooling overlap, and takes some gradients from another image. The paper's
    numbers are captum's, so decaf's may differ from them.
    """

    forward_calls: ClassVar[int] = 2
    backward_calls: ClassVar[int] = 1
    kind: Literal["deep_lift"] = "deep_lift"

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Return (n, channels, height, width) multipliers times differences to the reference."""
        import torch

        from decaf.evaluation.rescale import RescaleRule

        reference = self.reference(batch.images, score)
        with RescaleRule():
            with torch.no_grad():
                score(reference, batch.columns)
            gradient = score.gradient(batch.images, batch.columns)
        return (batch.images - reference) * gradient
