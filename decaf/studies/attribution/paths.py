"""The path of the native protocol: both images of a pair fade in from one blurred reference."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_block import PairBlock
from decaf.reveal.path import Revealed, RevealPath, path_field
from decaf.reveal.paths.blend import Fade, faded_in
from decaf.reveal.start import BlurredMidpoint


@dataclass(frozen=True)
class BlendFromFactual(RevealPath):
    """Every pixel moves from the blurred factual input, which all pairs of that input share."""

    kind: Literal["blend_from_factual"] = "blend_from_factual"
    rule: ClassVar[Fade] = Fade()
    sigma: float = path_field(12.0, "blur of the factual input, standard deviation in px")
    radius: int = path_field(15, "reach of its kernel in px")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.start  # raises for a bad blur

    @property
    def start(self) -> BlurredMidpoint:
        """The blurred factual input, as the midpoint of it and itself."""
        return BlurredMidpoint(self.sigma, self.radius)

    def start_inputs(self, block: PairBlock) -> NDArray[np.int64]:
        """The factual input."""
        return np.stack([block.plus, block.plus], axis=1)

    def reveal(self, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]) -> Revealed:
        """Content of every state: the stage itself, the same for all pairs and branches.

        Raises ResponseError when inputs other than images would be blurred.
        """
        return faded_in(self.start, block, inputs, grid)
