"""SmoothGrad."""

from typing import Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.attributions.base import Batch, RandomMethod, passes
from decaf.foundation.arrays import Tensor
from decaf.scoring.image_scores import CountedScore


class SmoothGrad(RandomMethod):
    """The mean gradient at noisy copies of the image.

    Our own, because captum's noise tunnel draws from torch's global generator, so that the noise
    of an image depends on its batch, and leaves noisy copies outside of [0, 1].
    """

    kind: Literal["smooth_grad"] = "smooth_grad"
    samples: int = Field(16, gt=0, le=10_000, description="noisy copies of every image")
    std: float = Field(
        0.15,
        gt=0,
        le=100,
        description="standard deviation of the Gaussian noise; copies are cut to [0, 1]",
    )

    @property
    def forward_calls(self) -> int:
        """One for each copy."""
        return self.samples

    def _maps(self, score: CountedScore, batch: Batch) -> Tensor:
        import torch

        images, total = batch.images, torch.zeros_like(batch.images)
        for some in passes(self.samples, batch):
            copies = torch.cat([self._noisy(images, batch.source_ids, k) for k in some])
            gradient = score.gradient(copies, batch.columns.repeat(len(some)))
            total += gradient.unflatten(0, (len(some), len(images))).sum(dim=0)
        return total / self.samples

    def _noisy(self, images: Tensor, source_ids: list[str], copy: int) -> Tensor:
        import torch

        noise = np.stack(
            [
                generator.standard_normal(tuple(images.shape[1:]), np.float32)
                for generator in self.generators(source_ids, stream=copy)
            ]
        )
        return (images + self.std * torch.from_numpy(noise).to(images)).clamp(0, 1)
