"""Removal: an input fades in from a baseline, with and without one of its features."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.data.pairs import PairBlock
from decaf.errors import DataError, ResponseError
from decaf.foundation.arrays import Array, as_taken, like
from decaf.reveal.cells import WORD_BITS, cell_map
from decaf.reveal.path import Regions, Revealed, RevealPath, Words, described, no_draw
from decaf.reveal.paths.blend import blend, column_of, stage_words
from decaf.reveal.start import BlurredMidpoint, Constant


def without_features(start: Array, clean: Array, t: Array, removed: Array) -> Array:
    """``b + t (1 - m) (x - b)``: the baseline stays where a removed feature lies.

    Baseline ``b`` and input ``x`` are (n, …); ``t``, in [0, 1], and ``m``, 1 where a removed
    feature lies and 0 elsewhere, are broadcastable to them.

    >>> b, x, half = np.zeros((1, 2)), np.array([[2.0, 4.0]]), np.array([[0.5]])
    >>> without_features(b, x, half, np.array([[0, 1]])).tolist()
    [[1.0, 0.0]]
    """
    return blend(start, clean, t * (1 - removed))


@dataclass(frozen=True)
class FadeWithout:
    """The rule of :func:`without_features`.

    The content is ``t``, as the bits of a float64, and the set of removed features, as bits.
    ``side`` makes the features: the cells of a square grid, numbered from 1 row by row. Without it
    they are those of the data (``regions``).
    """

    side: int | None

    def empty(self, words: int) -> NDArray[np.uint64]:
        """Content of the start: t = 0; what is removed no longer matters."""
        return np.zeros(words, np.uint64)

    def full(self, words: int) -> NDArray[np.uint64]:
        """Content of the clean input: t = 1 and nothing is removed."""
        return np.array([*stage_words(np.ones(1)), 0], np.uint64)

    def states(self, start: Array, clean: Array, content: Words, regions: Regions) -> Array:
        """Start and clean (n, …), content (n, 2), regions (n, …) without channels → (n, …)."""
        removed = content[:, 1].reshape(-1, *[1] * (clean.ndim - 1))
        numbers = feature_numbers(tuple(clean.shape), self.side, regions)
        if numbers.ndim < clean.ndim:
            numbers = numbers[:, None]
        bit = (numbers - 1).astype(np.uint64)  # 0, no feature, wraps round
        is_removed = (bit < WORD_BITS) & ((removed >> (bit % WORD_BITS)) & np.uint64(1) > 0)
        t = like(clean, column_of(content[:, 0], clean.ndim))
        return without_features(start, clean, t, like(clean, is_removed))


@dataclass(frozen=True)
class Removal(RevealPath):
    """From a baseline to the input with one feature removed (paper, section 7).

    Both inputs of a pair are the same; the pair's ``feature`` says which one is removed in the
    counterfactual branch. All features of an input share the factual branch and the baseline.
    """

    kind: Literal["removal"] = "removal"
    side: int | None = described(
        None, "features are the cells of a grid of this many a side; those of the data when absent"
    )
    baseline: Literal["constant", "blur"] = described("constant", "the state of no information")
    value: tuple[float, ...] = described((0.0,), "constant baseline, of [0, 1] pixels, per channel")
    sigma: float = described(12.0, "blurred baseline: standard deviation in px")
    radius: int = described(15, "blurred baseline: reach of the kernel in px")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.start  # which refuses what is no blur
        if self.side is not None and not 1 <= self.side**2 <= WORD_BITS:
            raise ResponseError(
                f"side is {self.side}, which makes {self.side**2} features; expected 1 to "
                f"{WORD_BITS} features"
            )

    @property
    def start(self) -> BlurredMidpoint | Constant:
        """The baseline."""
        if self.baseline == "blur":
            return BlurredMidpoint(self.sigma, self.radius)
        return Constant(self.value)

    @property
    def rule(self) -> FadeWithout:
        """How a state is made."""
        return FadeWithout(self.side)

    def reveal(self, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]) -> Revealed:
        """The stage, and the feature that the counterfactual branch lacks.

        Raises DataError when a pair names no feature, one that the grid does not have, or two
        inputs, and ResponseError when inputs that are no images would be blurred.
        """
        if self.baseline == "blur":
            self.start.check(inputs.shape)
        last = WORD_BITS if self.side is None else self.side**2
        wrong = np.flatnonzero(
            (block.feature < 1) | (block.feature > last) | (block.plus != block.minus)
        )
        if wrong.size:
            row = wrong[0]
            raise DataError(
                f"pair {block.pair_ids[row]!r} removes feature {block.feature[row]}; expected one "
                f"input and a feature from 1 to {last}"
            )
        is_felt = self._is_felt(block, inputs, last)
        image = np.broadcast_to(
            block.plus[:, None, None, None], (block.pair_count, 1, grid.size, 2)
        )
        content = np.zeros((*image.shape, 2), np.uint64)
        content[..., 0] = stage_words(grid)[:, None]
        bit = np.uint64(1) << (block.feature - 1).astype(np.uint64)
        content[..., 1, 1] = np.where(is_felt, bit, np.uint64(0))[:, None, None]
        content[:, :, grid == 0] = 0
        return Revealed(image, content, no_draw(block, 1, grid.size))

    def _is_felt(self, block: PairBlock, inputs: NDArray[Any], last: int) -> NDArray[np.bool_]:
        """(n_pairs,) whether the input differs from a constant baseline where the feature lies.

        Where it does not, both branches show the same.
        """
        numbers = feature_numbers(inputs.shape, self.side, block.regions)
        if self.baseline != "constant":
            return np.ones(block.pair_count, bool)
        clean = as_taken(inputs)
        differs = clean != self.start.value_like(clean)
        if numbers.ndim < clean.ndim:
            differs = differs.any(axis=1)
        of_input, *_ = np.nonzero(differs)
        is_felt = np.zeros((len(clean), last + 1), bool)
        is_felt[of_input, np.broadcast_to(numbers, differs.shape)[differs]] = True
        return is_felt[block.plus, block.feature]


def feature_numbers(
    shape: tuple[int, ...], side: int | None, regions: Regions
) -> NDArray[np.signedinteger]:
    """Feature of every pixel or column, from 1, 0 for none; broadcastable over the inputs.

    The shape is that of the inputs, (n, channels, height, width) or (n, features). Features are the
    cells of a grid of ``side`` a side, row by row, or else ``regions``. Raises DataError when
    neither says what they are, or the inputs have no room for the grid.
    """
    if side is None:
        if regions is None:
            raise DataError(
                "these inputs have no features that could be removed; give their regions, or set "
                "'side' to remove the cells of a grid"
            )
        return regions.astype(np.int64)
    if len(shape) != 4 or min(shape[2:]) < side:
        raise DataError(
            f"inputs have shape {shape}; a grid of features needs images (n, channels, height, "
            f"width) of at least {side} px a side"
        )
    return cell_map(*shape[2:], side)[None] + 1
