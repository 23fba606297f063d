"""RISE: randomised input sampling for explanation."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.evaluation.attributions.base import Access, Batch, RandomMethod, passes
from decaf.foundation.arrays import Tensor
from decaf.foundation.settings import Level
from decaf.reveal.start import Constant
from decaf.scoring.image_scores import CountedScore


class Rise(RandomMethod):
    """The mean score of randomly masked images, by how much of a pixel the masks let through.

    A mask keeps each cell of a coarse grid with some probability, and is made as large as the image
    bilinearly, without a random shift. The map is the sum of score times mask over
    ``masks * probability``. Our own, because captum has no such method.
    """

    access: ClassVar[Access] = "sampling"
    kind: Literal["rise"] = "rise"
    masks: int = Field(256, gt=0, le=100_000, description="masks of every image")
    grid: int = Field(7, gt=0, le=1000, description="cells of a mask along a side")
    probability: float = Field(0.5, gt=0, le=1, description="of a cell to be kept")
    baseline: tuple[Level, ...] = Field(
        (0.0,), min_length=1, description="what masks show instead: one number, or one a channel"
    )

    @property
    def forward_calls(self) -> int:
        """One for each mask."""
        return self.masks

    def bank(self, source_ids: list[str]) -> NDArray[np.bool_]:
        """(n, masks, grid, grid) cells that the masks of every source keep."""
        shape = (self.masks, self.grid, self.grid)
        return np.stack([g.random(shape) < self.probability for g in self.generators(source_ids)])

    def _maps(self, score: CountedScore, batch: Batch) -> Tensor:
        import torch
        from torch.nn import functional

        images, bank = batch.images, self.bank(batch.source_ids)
        baseline = Constant(self.baseline).value_like(images)
        total = torch.zeros_like(images[:, :1], dtype=torch.float64)
        for some in passes(self.masks, batch):
            cells = torch.from_numpy(bank[:, some.start : some.stop]).to(images)
            masks = functional.interpolate(
                cells, images.shape[2:], mode="bilinear", align_corners=False
            )
            states = baseline[:, None] + masks[:, :, None] * (images - baseline)[:, None]
            columns = batch.columns.repeat_interleave(len(some))
            q = score(states.flatten(0, 1), columns).view(len(images), len(some), 1, 1)
            total += (q * masks).sum(dim=1, keepdim=True)
        return total / (self.masks * self.probability)
