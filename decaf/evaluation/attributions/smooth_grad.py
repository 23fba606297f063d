"""SmoothGrad."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.attributions.bank import BankMethod
from decaf.evaluation.attributions.base import Batch, passes
from decaf.foundation.arrays import Tensor
from decaf.reveal.start import Constant, normalisation_of
from decaf.scoring.image_scores import CountedScore


class SmoothGrad(BankMethod):
    """The mean gradient at noisy copies of the image.

    captum's noise tunnel draws from torch's global generator, so that the noise of an image
    depends on its batch, and leaves noisy copies outside of [0, 1]; this method does neither.
    """

    kind: Literal["smooth_grad"] = "smooth_grad"
    samples: int = Field(16, gt=0, le=10_000, description="noisy copies of every image")
    std: float = Field(
        0.15, gt=0, le=100, description="standard deviation of the Gaussian noise, in `space`"
    )
    space: Literal["pixels", "normalised"] = Field(
        "pixels",
        description="space of noise and gradients: `pixels`, where copies are cut to [0, 1], or "
        "`normalised`, the input as the network sees it, without a cut",
    )

    @property
    def forward_calls(self) -> int:
        """One for each copy."""
        return self.samples

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Mean gradient over noisy images; returns all channels."""
        import torch

        images, total = batch.images, torch.zeros_like(batch.images)
        is_normalised = self.space == "normalised"
        deviation = normalisation_of(score)[1] if is_normalised else (1.0,)
        unit = Constant(deviation).value_like(images)
        noise = self._noise(batch)
        for some in passes(self.samples, batch):
            copies = torch.cat([images + self.std * unit * next(noise) for _ in some])
            if not is_normalised:
                copies = copies.clamp(0, 1)
            gradient = score.gradient(copies, batch.columns.repeat(len(some)))
            total += gradient.unflatten(0, (len(some), len(images))).sum(dim=0)
        return unit * total / self.samples

    def _noise(self, batch: Batch) -> Iterator[Tensor]:
        """Yield the noise of each copy, (n or 1, channels, height, width), with deviation 1."""
        import torch

        shape = tuple(batch.images.shape[1:])
        shared = np.random.RandomState(self.seed)
        for copy in range(self.samples):
            if self.bank == "shared":
                drawn = shared.standard_normal((1, *shape))
            else:
                generators = self.generators(batch.source_ids, stream=copy)
                drawn = np.stack(
                    [generator.standard_normal(shape, np.float32) for generator in generators]
                )
            yield torch.from_numpy(drawn).to(batch.images)
