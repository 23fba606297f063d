"""RISE: randomised input sampling for explanation."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.evaluation.attributions.bank import BankMethod
from decaf.evaluation.attributions.base import Access, Batch, passes
from decaf.evaluation.attributions.reference import Referred
from decaf.foundation.arrays import Tensor
from decaf.scoring.image_scores import CountedScore


class Rise(Referred, BankMethod):
    """Mean score of randomly masked images, weighted by how much of a pixel each mask shows.

    A mask keeps each cell of a coarse grid with some probability, and is enlarged bilinearly to the
    size of the image. With ``shift`` it is one cell larger, and a random crop of it is used. The
    map is the sum of score times mask, divided by ``masks * probability``. captum has no such
    method.
    """

    access: ClassVar[Access] = "sampling"
    kind: Literal["rise"] = "rise"
    masks: int = Field(256, gt=0, le=100_000, description="masks of every image")
    grid: int = Field(7, gt=0, le=1000, description="cells of a mask along a side")
    probability: float = Field(0.5, gt=0, le=1, description="probability that a cell is kept")
    shift: bool = Field(
        False,
        description="shift masks at random, by less than a cell; a cell is the side of the image "
        "divided by `grid`, rounded up",
    )

    @property
    def forward_calls(self) -> int:
        """One for each mask."""
        return self.masks

    def draw_cells(self, batch: Batch) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """(n or 1, masks, grid, grid) cells that are kept, (n or 1, masks, 2) px of each shift."""
        sides = [-(-side // self.grid) if self.shift else 1 for side in batch.images.shape[2:]]
        cells, shifts = [], []
        for draw in self.draws(batch):
            whole = draw.randint if isinstance(draw, np.random.RandomState) else draw.integers
            cells.append(draw.random((self.masks, self.grid, self.grid)) < self.probability)
            shifts.append(whole(0, sides, (self.masks, 2)))
        return np.stack(cells), np.stack(shifts)

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Return (n, 1, height, width) sums of q times mask, divided as the class says."""
        import torch

        images, (cells, shifts) = batch.images, self.draw_cells(batch)
        reference = self.reference(images, score)
        total = torch.zeros_like(images[:, :1], dtype=torch.float64)
        for some in passes(self.masks, batch):
            part = slice(some.start, some.stop)
            enlarged_masks = self.enlarge(cells[:, part], shifts[:, part], tuple(images.shape[2:]))
            masks = torch.from_numpy(enlarged_masks).to(images)
            states = reference[:, None] + masks[:, :, None] * (images - reference)[:, None]
            columns = batch.columns.repeat_interleave(len(some))
            q = score(states.flatten(0, 1), columns).view(len(images), len(some), 1, 1)
            total += (q * masks).sum(dim=1, keepdim=True)
        return total / (self.masks * self.probability)

    def enlarge(
        self, cells: NDArray[np.bool_], shifts: NDArray[np.int64], size: tuple[int, ...]
    ) -> NDArray[np.float32]:
        """(…, grid, grid) cells and (…, 2) shifts in px → (…, height, width) masks in [0, 1].

        Beyond the centres of the outer cells, masks of a shared bank are mirrored, as in
        scikit-image; other masks are constant, as in torch.
        """
        rows, columns = (
            self._shares(side)[shifts[..., axis, None] + np.arange(side)]
            for axis, side in enumerate(size)
        )
        return (rows @ cells @ columns.swapaxes(-1, -2)).astype(np.float32)

    def _shares(self, side: int) -> NDArray[np.float64]:
        """(pixels, grid) shares of the cells in each pixel, along a side of the image."""
        last = self.grid - 1
        size = (self.grid + 1) * -(-side // self.grid) if self.shift else side
        at = (np.arange(size) + 0.5) * self.grid / size - 0.5
        if self.bank == "shared":
            at = last - np.abs(last - np.abs(at))
        at = at.clip(0, last)
        return np.maximum(0, 1 - np.abs(at[:, None] - np.arange(self.grid)))
