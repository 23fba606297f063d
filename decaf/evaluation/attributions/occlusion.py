"""Occlusion."""

from typing import ClassVar, Literal

from pydantic import Field

from decaf.data.cells import cell_map
from decaf.evaluation.attributions.base import Access, Batch, MapMethod
from decaf.evaluation.attributions.reference import Referred
from decaf.foundation.arrays import Tensor
from decaf.foundation.extras import optional
from decaf.scoring.image_scores import CountedScore


class Occlusion(Referred, MapMethod):
    """Drop of the score when the reference covers a cell; captum's feature ablation.

    Every pixel has the drop of its cell. Cells lie side by side, with edges at
    ``floor(i side / cells)`` as in the patch path.
    """

    access: ClassVar[Access] = "forward"
    libraries: ClassVar = ("captum",)
    kind: Literal["occlusion"] = "occlusion"
    grid: int = Field(7, gt=0, le=1000, description="cells along a side")

    @property
    def forward_calls(self) -> int:
        """One for each cell, and the image itself."""
        return self.grid**2 + 1

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Return (n, 1, height, width) drops of q."""
        import torch

        with optional():
            from captum import attr

        images = batch.images
        cells = torch.from_numpy(cell_map(images.shape[2:], self.grid)).to(images.device)
        drops = attr.FeatureAblation(score).attribute(
            images,
            baselines=self.reference(images, score),
            additional_forward_args=(batch.columns,),
            feature_mask=cells[None, None],
            perturbations_per_eval=max(1, batch.size // len(images)),
        )
        # captum repeats the drop in every channel.
        return drops[:, :1]
