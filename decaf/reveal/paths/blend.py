"""Blend: the whole input fades in from the blurred midpoint."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_block import PairBlock
from decaf.foundation.arrays import Array, like
from decaf.reveal.path import (
    Regions,
    Revealed,
    RevealPath,
    Words,
    no_draw,
    path_field,
    shown_by_branch,
)
from decaf.reveal.start import BlurredMidpoint


def blend(start: Array, clean: Array, t: Array) -> Array:
    """``x(t) = x0 + t (x - x0)`` (paper, section 6).

    ``start`` and ``clean`` (n, …), ``t`` broadcastable to them, in [0, 1].

    >>> blend(np.array([0.5]), np.array([1.0]), np.array([0.5])).tolist()
    [0.75]
    """
    return start + t * (clean - start)


def write_blend(
    built: NDArray[Any], start: NDArray[Any], clean: NDArray[Any], t: NDArray[Any]
) -> None:
    """Write :func:`blend` into ``built``, (n, …), which is as large as all of them."""
    np.subtract(clean, start, out=built)
    np.multiply(t, built, out=built)
    np.add(start, built, out=built)


@dataclass(frozen=True)
class Fade:
    """The rule of :func:`blend`; the content is ``t`` itself, as the bits of a float64."""

    def empty(self, words: int) -> NDArray[np.uint64]:
        """Content of the start: t = 0."""
        return np.zeros(words, np.float64).view(np.uint64)

    def full(self, words: int) -> NDArray[np.uint64]:
        """Content of the clean input: t = 1."""
        return np.ones(words, np.float64).view(np.uint64)

    def states(self, start: Array, clean: Array, content: Words, regions: Regions) -> Array:
        """Interpolate; start and clean (n, …), content (n, 1) → (n, …)."""
        return blend(start, clean, like(clean, column_of(content[:, 0], clean.ndim)))

    def write(
        self,
        built: NDArray[Any],
        start: NDArray[Any],
        clean: NDArray[Any],
        content: Words,
        regions: Regions,
    ) -> None:
        """The same into ``built``."""
        write_blend(built, start, clean, like(clean, column_of(content[:, 0], clean.ndim)))


@dataclass(frozen=True, kw_only=True)
class Blend(RevealPath):
    """Every pixel moves together from the blurred midpoint to its own input (paper, section 6)."""

    kind: Literal["blend"] = "blend"
    rule: ClassVar[Fade] = Fade()
    sigma: float | None = path_field(
        None,
        "blur of the midpoint, standard deviation in px; when absent, 8 px for each 224 px of an "
        "image's shorter side, and none for other inputs",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.start  # raises for a bad blur

    @property
    def start(self) -> BlurredMidpoint:
        """Start without information."""
        return BlurredMidpoint(self.sigma)

    def reveal(self, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]) -> Revealed:
        """Content of every state: the stage itself, the same for all pairs and branches.

        Raises ResponseError when inputs other than images would be blurred.
        """
        return faded_in(self.start, block, inputs, grid)


def faded_in(
    start: BlurredMidpoint, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]
) -> Revealed:
    """The stage itself for all pairs and branches, in the form of :meth:`RevealPath.reveal`.

    Raises ResponseError when inputs other than images would be blurred.
    """
    start.check(inputs.shape)
    positions = shown_by_branch(block, 1, grid.size)
    content = np.broadcast_to(stage_words(grid)[:, None], positions.shape)[..., None]
    return Revealed(positions, content, no_draw(block, 1, grid.size))


def stage_words(grid: NDArray[np.float64]) -> NDArray[np.uint64]:
    """(n_stages,) the bits of every stage; both zeros are one word."""
    return (grid + 0.0).view(np.uint64)


def column_of(words: NDArray[np.uint64], ndim: int) -> NDArray[np.float64]:
    """(n,) bits of float64 → (n, 1, …) values with ``ndim`` axes."""
    return np.ascontiguousarray(words).view(np.float64).reshape(-1, *[1] * (ndim - 1))
