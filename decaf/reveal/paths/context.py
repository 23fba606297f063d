"""Context channel: the same change under another context, mixed in analytically."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_block import PairBlock
from decaf.errors import DataError
from decaf.reveal.path import Revealed, RevealPath, no_draw
from decaf.reveal.paths.blend import Fade, stage_words
from decaf.reveal.start import BlurredMidpoint


def context_mixture(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_stages, 2) float64 weights of the swapped and of the endpoint's context at stages ``t``.

    ``r(t) = (1 - t) r_swapped + t d``: the expectation over a channel that leaves the endpoint's
    context with probability ``1 - t`` (paper, section 5 and appendix D). Stages are (n_stages,) in
    [0, 1]; rows sum to one.

    >>> context_mixture(np.array([0.0, 0.75])).tolist()
    [[1.0, 0.0], [0.25, 0.75]]
    """
    return np.stack([1 - t, t], axis=1)


@dataclass(frozen=True, kw_only=True)
class ContextChannel(RevealPath):
    """Mix the responses under the swapped context and under the endpoint's (paper, section 5).

    No state in between ever reaches a model: stages mix the scores of the two ends. Unlike the
    other paths this one need not start at a response of zero. On the grid (0, 1) the stages are
    the ends themselves, and a stage measure ``(eta, 1 - eta)`` is the binary symmetric channel.
    """

    kind: Literal["context"] = "context"
    has_common_start: ClassVar[bool] = False
    """Stage 0 is the response under the swapped context."""
    start: ClassVar[BlurredMidpoint] = BlurredMidpoint(0)
    """Required by the base class and never used: both ends are clean inputs."""
    rule: ClassVar[Fade] = Fade()

    def reveal(self, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]) -> Revealed:
        """Return the four clean inputs of every pair: swapped context first, then the endpoint's.

        Raises DataError when the pairs have no second context.
        """
        if block.context is None or (block.context < 0).any():
            missing = block.pair_count
            if block.context is not None:
                missing = int((block.context < 0).any(axis=1).sum())
            raise DataError(
                f"{missing} of {block.pair_count} pairs have no second context; a context path "
                "needs the positions of both inputs under the swapped context for every pair: add "
                "them, or limit the path to other pairs with 'pair_types:'"
            )
        endpoint = np.stack([block.plus, block.minus], axis=1)
        positions = np.stack([block.context, endpoint], axis=1)[:, None]
        content = np.broadcast_to(stage_words(np.ones(1)), (*positions.shape, 1))
        return Revealed(positions, content, no_draw(block, 1, 2))

    def mixing(self, grid: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n_stages, 2) weights of the two contexts."""
        return context_mixture(grid)
