"""Blur integrated gradients."""

from typing import Literal

from pydantic import Field

from decaf.evaluation.attributions.base import Batch, MapMethod, passes
from decaf.foundation.arrays import Tensor
from decaf.reveal.start import gaussian_blur
from decaf.scoring.image_scores import CountedScore


class BlurIntegratedGradients(MapMethod):
    """Gradients along the path from a blurred image to the image, each times its step.

    With ``L(s)`` the image under a Gaussian blur of standard deviation ``s``, and
    ``s_k = k sigma / levels``, the map is the sum over ``k = 0 … levels - 1`` of the gradient at
    ``L(s_k)`` times ``L(s_k) - L(s_{k+1})``: a linear score gives its value at the image minus that
    at the blurred image, exactly. Borders are reflected. captum has no such path.
    """

    kind: Literal["blur_integrated_gradients"] = "blur_integrated_gradients"
    levels: int = Field(
        12, gt=0, le=10_000, description="gradients between blurred image and image"
    )
    sigma: float = Field(20.0, gt=0, le=1000, description="largest blur, standard deviation in px")

    @property
    def forward_calls(self) -> int:
        """One for each level."""
        return self.levels

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Integrate gradients from blurred to sharp images; returns all channels."""
        import torch

        total, sharper = torch.zeros_like(batch.images), batch.images
        for levels in passes(self.levels, batch):
            sigmas = [(k + 1) * self.sigma / self.levels for k in levels]
            blurred = [sharper, *(gaussian_blur(batch.images, sigma) for sigma in sigmas)]
            states = torch.stack(blurred)
            gradient = score.gradient(
                states[:-1].flatten(0, 1), batch.columns.repeat(len(levels))
            ).view_as(states[:-1])
            total += (gradient * (states[:-1] - states[1:])).sum(dim=0)
            sharper = blurred[-1]
        return total
