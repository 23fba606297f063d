"""Input times gradient."""

from typing import ClassVar, Literal

from decaf.evaluation.attributions.base import Batch, MapMethod
from decaf.foundation.arrays import Tensor
from decaf.foundation.extras import optional
from decaf.scoring.image_scores import CountedScore


class InputXGradient(MapMethod):
    """The gradient at the image, times the image; captum's."""

    forward_calls: ClassVar[int] = 1
    libraries: ClassVar = ("captum",)
    kind: Literal["input_x_gradient"] = "input_x_gradient"

    def _maps(self, score: CountedScore, batch: Batch) -> Tensor:
        with optional():
            from captum import attr

        return attr.InputXGradient(score).attribute(
            batch.images.requires_grad_(), additional_forward_args=(batch.columns,)
        )
