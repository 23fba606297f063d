"""Removal: an input fades in from a baseline, with and without one of its features."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.data.cells import WORD_BITS, cell_map, feature_words
from decaf.data.pair_block import PairBlock
from decaf.errors import DataError, ResponseError
from decaf.foundation.arrays import Array, as_taken, bits_like, like
from decaf.reveal.path import Regions, Revealed, RevealPath, Words, no_draw, path_field
from decaf.reveal.paths.blend import blend, column_of, stage_words, write_blend
from decaf.reveal.start import BlurredMidpoint, Constant, ModelMean


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
        """Content of the start: t = 0, for any removed features."""
        return np.zeros(words, np.uint64)

    def full(self, words: int) -> NDArray[np.uint64]:
        """Content of the clean input: t = 1 and nothing is removed."""
        return np.array([*stage_words(np.ones(1)), 0], np.uint64)

    def states(self, start: Array, clean: Array, content: Words, regions: Regions) -> Array:
        """Start and clean (n, …), content (n, 2), regions of :data:`Regions` → (n, …)."""
        words = bits_like(clean, features_of(tuple(clean.shape), self.side, regions))
        # Higher bits belong to features without pixels.
        removed = like(words, content[:, 1].view(np.int64).reshape(-1, *[1] * (clean.ndim - 1)))
        t = like(clean, column_of(content[:, 0], clean.ndim))
        return without_features(start, clean, t, like(clean, (words & removed) != 0))

    def write(
        self,
        built: NDArray[Any],
        start: NDArray[Any],
        clean: NDArray[Any],
        content: Words,
        regions: Regions,
    ) -> None:
        """Write what ``states`` returns into ``built``."""
        words = features_of(clean.shape, self.side, regions)
        removed = like(words, content[:, 1].reshape(-1, *[1] * (clean.ndim - 1)))
        write_blend(built, start, clean, like(clean, column_of(content[:, 0], clean.ndim)))
        np.copyto(built, start, where=(words & removed) != 0)


@dataclass(frozen=True, kw_only=True)
class Removal(RevealPath):
    """From a baseline to the input with one feature removed (paper, section 7).

    Both inputs of a pair are the same; the pair's ``feature`` says which one is removed in the
    counterfactual branch. All features of an input share the factual branch and the baseline.
    """

    kind: Literal["removal"] = "removal"
    removes_features: ClassVar[bool] = True
    side: int | None = path_field(
        None,
        "number of grid cells along each side; without it, the features of the data are removed",
    )
    baseline: Literal["constant", "mean", "blur"] = path_field(
        "constant",
        "start without information: `value`, the mean of the model's card (a network's zero), or "
        "the blurred input",
    )
    value: tuple[float, ...] = path_field(
        (0.0,), "constant baseline, of [0, 1] pixels, per channel"
    )
    sigma: float = path_field(12.0, "blurred baseline: standard deviation in px")
    radius: int = path_field(15, "blurred baseline: reach of the kernel in px")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.start  # raises for a bad blur
        if self.side is not None and not 1 <= self.side**2 <= WORD_BITS:
            raise ResponseError(
                f"side is {self.side}, which makes {self.side**2} features; expected 1 to "
                f"{WORD_BITS} features"
            )

    @property
    def start(self) -> BlurredMidpoint | Constant | ModelMean:
        """The baseline."""
        if self.baseline == "blur":
            return BlurredMidpoint(self.sigma, self.radius)
        if self.baseline == "mean":
            return ModelMean()
        return Constant(self.value)

    @property
    def rule(self) -> FadeWithout:
        """Maker of states."""
        return FadeWithout(self.side)

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise DataError for images that have no room for the grid."""
        if self.side is not None:
            features_of(shape, self.side, None)

    def reveal(self, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]) -> Revealed:
        """Content of every state: the stage, and the feature that the counterfactual branch lacks.

        Raises DataError if a pair names no feature, names a feature that the grid does not have, or
        has two inputs; and ResponseError if inputs that are not images would be blurred.
        """
        if isinstance(self.start, BlurredMidpoint):
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
        positions = np.broadcast_to(
            block.plus[:, None, None, None], (block.pair_count, 1, grid.size, 2)
        )
        content = np.zeros((*positions.shape, 2), np.uint64)
        content[..., 0] = stage_words(grid)[:, None]
        removed = self._effective_features(inputs, block.regions)[block.plus] & feature_words(
            block.feature
        )
        content[..., 1, 1] = removed[:, None, None]
        content[:, :, grid == 0] = 0
        return Revealed(positions, content, no_draw(block, 1, grid.size))

    def _effective_features(self, inputs: NDArray[Any], regions: Regions) -> NDArray[np.uint64]:
        """(n_inputs,) bit set of the features of each input whose removal changes it.

        A feature without pixels, or with pixels that all equal the constant baseline, is left out.
        """
        words = features_of(inputs.shape, self.side, regions)
        if isinstance(self.start, Constant):
            clean = as_taken(inputs)
            differs = np.not_equal(clean, self.start.value_like(clean))
            if clean.ndim == 4:
                differs = differs.any(axis=1, keepdims=True)
            words = np.where(differs, words, 0)
        words = np.broadcast_to(words, (len(inputs), *words.shape[1:])).reshape(len(inputs), -1)
        return np.bitwise_or.reduce(words, axis=1).astype(np.uint64)


def features_of(
    shape: tuple[int, ...], side: int | None, regions: Regions
) -> NDArray[np.unsignedinteger]:
    """Features on every pixel or column, bit k - 1 for feature k; broadcastable over the inputs.

    The shape is that of the inputs, (n, channels, height, width) or (n, features). Features are the
    cells of a grid of ``side`` a side, row by row, or else ``regions``. Raises DataError when
    neither or both of them define the features, or the inputs have no room for the grid.
    """
    if (side is None) == (regions is None):
        raise DataError(
            "these inputs have no features that could be removed; give their regions, or set "
            "'side' to remove the cells of a grid"
            if side is None
            else "the data define features of these inputs; leave 'side' out"
        )
    if regions is not None:
        return regions[:, None] if len(shape) > regions.ndim else regions
    if side is None or len(shape) != 4 or min(shape[2:]) < side:
        raise DataError(
            f"an input has shape {shape[1:]}; a grid of features needs images (channels, height, "
            f"width) of at least {side} px a side"
        )
    return _words_of_grid(shape[2:], side)


@lru_cache(maxsize=64)
def _words_of_grid(shape: tuple[int, ...], side: int) -> NDArray[np.unsignedinteger]:
    words = feature_words(cell_map(shape, side) + 1)[None, None]
    words = words.astype(np.min_scalar_type(2**side**2 - 1))
    words.flags.writeable = False
    return words
