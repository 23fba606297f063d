"""Forgets how a state is made."""

from dataclasses import dataclass
from typing import Literal

from decaf.reveal.path import RevealPath
from decaf.reveal.start import Constant


@dataclass(frozen=True)
class Dusk(RevealPath):
    """Every pixel falls from white."""

    kind: Literal["dusk"] = "dusk"

    @property
    def start(self):
        """White."""
        return Constant((1.0,))

    def reveal(self, block, inputs, grid):
        """Nothing."""
