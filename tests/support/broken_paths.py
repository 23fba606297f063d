"""Fades that break one contract each, for audits of pairs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from broken_rules import Short

from decaf.reveal.path import RevealPath
from decaf.reveal.paths.blend import Blend, Fade
from decaf.reveal.start import BlurredMidpoint


@dataclass(frozen=True)
class Rise(RevealPath):
    """A fade from the mean."""

    kind: Literal["rise"] = "rise"
    start: ClassVar = BlurredMidpoint(0)
    rule: ClassVar = Fade()

    def reveal(self, block, inputs, grid):
        return Blend(sigma=0).reveal(block, inputs, grid)


@dataclass(frozen=True)
class Dim(Rise):
    """States are 3 % too dark, those of full content as well."""

    kind: Literal["dim"] = "dim"
    rule: ClassVar = Short()


@dataclass(frozen=True)
class Late(Rise):
    """Stage 0 is half way to the clean inputs."""

    kind: Literal["late"] = "late"

    def reveal(self, block, inputs, grid):
        return super().reveal(block, inputs, 0.5 + grid / 2)


@dataclass(frozen=True)
class Uneven(Rise):
    """The counterfactual branch is revealed at the square of the factual one's stage."""

    kind: Literal["uneven"] = "uneven"

    def reveal(self, block, inputs, grid):
        revealed = super().reveal(block, inputs, grid)
        t = revealed.content.view(np.float64).copy()
        t[:, :, :, 1] **= 2
        return revealed._replace(content=t.view(np.uint64))


@dataclass(frozen=True)
class Renamed(Rise):
    """Branches whose equal states have other content: -t counts as t."""

    kind: Literal["renamed"] = "renamed"

    @dataclass(frozen=True)
    class Rule(Fade):
        def states(self, start, clean, content, regions):
            t = np.abs(content.view(np.float64))
            return super().states(start, clean, t.view(np.uint64), regions)

    rule: ClassVar = Rule()

    def reveal(self, block, inputs, grid):
        revealed = super().reveal(block, inputs, grid)
        t = revealed.content.view(np.float64).copy()
        t[:, :, 1:-1, 1] *= -1
        return revealed._replace(content=t.view(np.uint64))


BROKEN = {
    "dim": (Dim(), "full content differ by 0.03 "),
    "late": (Late(), "differ at stage 0"),
    # At t = 1/2 the branch that lags shows x0 + (x - x0) / 4, and x - x0 is 1/2 at most.
    "uneven": (Uneven(), "differ by 0.12 when"),
}
"""Paths, and what is said of them for inputs that go from 0 to 1 in three stages."""
