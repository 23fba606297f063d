"""Blend: the whole input fades in from the blurred midpoint."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.pairs import PairBlock
from decaf.reveal.start import BlurredMidpoint
from decaf.settings import Settings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Fade:
    """``x(t) = x0 + t (x - x0)``; the content is ``t`` itself, as the bits of a float64."""

    def empty(self, words: int) -> NDArray[np.uint64]:
        """Content of the start: t = 0."""
        return np.zeros(words, np.float64).view(np.uint64)

    def full(self, words: int) -> NDArray[np.uint64]:
        """Content of the clean input: t = 1."""
        return np.ones(words, np.float64).view(np.uint64)

    def states(
        self, start: "torch.Tensor", clean: "torch.Tensor", content: NDArray[np.uint64]
    ) -> "torch.Tensor":
        """Interpolate; start and clean (n, c, h, w), content (n, 1) → (n, c, h, w)."""
        t = clean.new_tensor(content[:, 0].copy().view(np.float64)).view(-1, 1, 1, 1)
        return start + t * (clean - start)


class Blend(Settings):
    """Every pixel moves together from the blurred midpoint to its own input (paper, section 6)."""

    kind: Literal["blend"]
    sigma: float = Field(8.0, gt=0, description="blur of the midpoint, standard deviation in px")

    @property
    def start(self) -> BlurredMidpoint:
        """The state of no information."""
        return BlurredMidpoint(self.sigma)

    @property
    def rule(self) -> Fade:
        """How a state is made."""
        return Fade()

    def contents(
        self, block: PairBlock, images: NDArray[np.uint8], grid: NDArray[np.float64]
    ) -> NDArray[np.uint64]:
        """(n_pairs, n_stages, 2 branches, 1 word): the stage, the same for all pairs."""
        shape = (block.pair_count, grid.size, 2, 1)
        return np.broadcast_to(grid.view(np.uint64)[None, :, None, None], shape)
