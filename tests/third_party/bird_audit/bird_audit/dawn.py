"""The whole input rises from black."""

from dataclasses import dataclass
from typing import Literal

from decaf.reveal.path import Revealed, RevealPath, no_draw, shown_by_branch
from decaf.reveal.paths.blend import Fade, stage_words
from decaf.reveal.start import Constant


@dataclass(frozen=True)
class Dawn(RevealPath):
    """Every pixel rises from black to its own value."""

    kind: Literal["dawn"] = "dawn"

    @property
    def start(self):
        """Black."""
        return Constant((0.0,))

    @property
    def rule(self):
        """A fade."""
        return Fade()

    def reveal(self, block, inputs, grid):
        """The stage itself, for all pairs and branches."""
        image = shown_by_branch(block, 1, grid.size)
        content = stage_words(grid)[:, None, None] + 0 * image[..., None].astype("uint64")
        return Revealed(image, content, no_draw(block, 1, grid.size))
