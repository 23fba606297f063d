"""Integrated gradients."""

from typing import ClassVar, Literal

from pydantic import Field

from decaf.evaluation.attributions.base import Batch, MapMethod
from decaf.foundation.arrays import Tensor
from decaf.foundation.extras import optional
from decaf.foundation.settings import Level
from decaf.reveal.start import Constant
from decaf.scoring.image_scores import CountedScore


class IntegratedGradients(MapMethod):
    """The mean gradient at ``k / steps`` of the way from a baseline, times the way; captum's.

    ``k`` runs from 1 to ``steps``: a right Riemann sum, the image itself included.
    """

    libraries: ClassVar = ("captum",)
    kind: Literal["integrated_gradients"] = "integrated_gradients"
    steps: int = Field(16, gt=1, le=10_000, description="gradients on the way from the baseline")
    baseline: tuple[Level, ...] = Field(
        (0.0,), min_length=1, description="where the way starts: one number, or one a channel"
    )

    @property
    def forward_calls(self) -> int:
        """One for each step."""
        return self.steps

    def _maps(self, score: CountedScore, batch: Batch) -> Tensor:
        with optional():
            from captum import attr

        baseline = Constant(self.baseline).value_like(batch.images)
        return attr.IntegratedGradients(score).attribute(
            batch.images.requires_grad_(),
            baselines=baseline.expand_as(batch.images),
            additional_forward_args=(batch.columns,),
            n_steps=self.steps,
            method="riemann_right",
            internal_batch_size=batch.size,
        )
