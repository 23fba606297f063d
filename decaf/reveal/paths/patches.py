"""Nested patches: square regions appear one after another, the most different ones first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.data.cells import cell_of_pixel, pack, unpack
from decaf.data.pair_block import PairBlock
from decaf.errors import ResponseError
from decaf.foundation.arrays import Array, is_tensor, namespace, places_like, send_to_device
from decaf.foundation.digests import hashed_word
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

STAGE_TOLERANCE = 1e-12

MOST_PATCHES = 256
"""Along a side; a stage names its patches in so many bits."""
PAIRS_AT_ONCE = 4
"""Whose differences are in memory: 3 MB of 224 px images, which a processor's cache holds."""


def reveal_patches(start: Array, clean: Array, shown: NDArray[np.bool_]) -> Array:
    """Show the clean input in some cells of a square grid and the start in all others.

    Both are (n, channels, height, width); ``shown`` (n, side, side) is whether a cell is revealed,
    with edges at floor(i pixels / side).

    >>> x = np.arange(4.0).reshape(1, 1, 2, 2)
    >>> reveal_patches(x - 9, x, np.array([[[True, False], [False, False]]])).tolist()
    [[[[0.0, -8.0], [-7.0, -6.0]]]]
    """
    xp, side = namespace(clean), shown.shape[1]
    rows, columns = (places_like(clean, cell_of_pixel(n, side)) for n in clean.shape[2:])
    cells = send_to_device(xp.from_numpy(shown), clean.device) if is_tensor(clean) else shown
    return xp.where(cells[:, rows][:, :, columns][:, None], clean, start)


def pixels_shown(shown: NDArray[np.bool_], shape: Sequence[int]) -> NDArray[np.bool_]:
    """Cells (n, side, side) that are revealed → pixels (n, 1, height, width) of a shape."""
    side = shown.shape[1]
    rows, columns = (np.diff(np.arange(side + 1) * pixels // side) for pixels in shape)
    return np.repeat(np.repeat(shown, columns, axis=2), rows, axis=1)[:, None]


@dataclass(frozen=True)
class PatchMask:
    """The rule of :func:`reveal_patches`; the content is the set of revealed cells, as bits."""

    side: int

    def empty(self, words: int) -> NDArray[np.uint64]:
        """Content of the start: no patch."""
        return np.zeros(words, np.uint64)

    def full(self, words: int) -> NDArray[np.uint64]:
        """Content of the clean input: every patch."""
        return pack(np.ones((1, self.side**2), bool))[0]

    def states(self, start: Array, clean: Array, content: Words, regions: Regions) -> Array:
        """Choose per pixel; start and clean (n, c, h, w), content (n, words) → (n, c, h, w)."""
        return reveal_patches(start, clean, self._shown_patches(content))

    def write(
        self,
        built: NDArray[Any],
        start: NDArray[Any],
        clean: NDArray[Any],
        content: Words,
        regions: Regions,
    ) -> None:
        """The same into ``built``."""
        np.copyto(built, start)
        np.copyto(built, clean, where=pixels_shown(self._shown_patches(content), built.shape[2:]))

    def _shown_patches(self, content: Words) -> NDArray[np.bool_]:
        return unpack(content, self.side**2).reshape(-1, self.side, self.side)


@dataclass(frozen=True, kw_only=True)
class Patches(RevealPath):
    """Patches in falling order of the squared difference of the pair (paper, appendix F)."""

    kind: Literal["patches"] = "patches"
    sigma: float | None = path_field(
        None,
        "blur of the midpoint, standard deviation in px; when absent, 8 px for each 224 px of an "
        "image's shorter side",
    )
    side: int = path_field(
        8, "number of patches along each side of the image, which must be a multiple of it"
    )
    ranking: Literal["energy", "random"] = path_field(
        "energy", "order of the patches: the most different first, or (as a control) random"
    )
    order: str = path_field("A", "label that seeds the order of exactly tied patches, or of all")
    seed: int = path_field(7101, "seed of the order of exactly tied patches, or of all")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.start  # raises for a bad blur
        if not 1 <= self.side <= MOST_PATCHES:
            raise ResponseError(
                f"side is {self.side}; expected 1 to {MOST_PATCHES} patches along each side"
            )

    @property
    def start(self) -> BlurredMidpoint:
        """Start without information."""
        return BlurredMidpoint(self.sigma)

    @property
    def rule(self) -> PatchMask:
        """Maker of states."""
        return PatchMask(self.side)

    @property
    def exact_stages(self) -> int:
        """One more than there are patches: none, the first, …, all of them."""
        return self.side**2 + 1

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise ResponseError unless inputs are images whose sides are multiples of `side`."""
        if len(shape) != 4 or any(pixels % self.side for pixels in shape[2:]):
            # With unequal patches, the larger ones would come first for their size.
            raise ResponseError(
                f"an input has shape {tuple(shape[1:])}; patches need images (channels, "
                f"height, width) whose sides are multiples of 'side', which is {self.side}"
            )

    def reveal(self, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]) -> Revealed:
        """Both branches reveal the same patches.

        Stage ``t`` reveals the first ``floor(t × patches)`` patches of the pair's order, so the
        sets are nested. While they hold no difference, both branches show the same input. Raises
        ResponseError if the inputs are not images, or `side` does not divide their sides.
        """
        self.check(inputs.shape)
        energy = patch_energy(inputs, block.plus, block.minus, self.side)
        order = self._order(energy, tie_gaps(inputs, block, energy), block.pair_ids)
        rank = np.empty(energy.shape, np.int64)
        np.put_along_axis(rank, order, np.arange(self.side**2)[None], axis=1)
        revealed = np.floor(grid * self.side**2 + STAGE_TOLERANCE)
        shown = rank[:, None, :] < revealed[None, :, None]
        words = pack(shown.reshape(-1, self.side**2))
        words = words.reshape(block.pair_count, 1, grid.size, 1, -1)

        positions = shown_by_branch(block, 1, grid.size)
        differs = np.any(shown & (energy > 0)[:, None, :], axis=2)[:, None, :, None]
        positions = np.where(differs, positions, positions.min(axis=3, keepdims=True))
        content = np.broadcast_to(words, (*positions.shape, words.shape[-1]))
        return Revealed(positions, content, no_draw(block, 1, grid.size))

    def _order(
        self, energy: NDArray[np.float64], gaps: NDArray[np.float64], pair_ids: tuple[str, ...]
    ) -> NDArray[np.int64]:
        """Patches by falling energy; a hash orders ties, so that no raster scan does.

        Neighbours in the order are tied if they differ by at most ``gaps``.
        """
        key = -energy if self.ranking == "energy" else np.zeros_like(energy)
        order = np.argsort(key, axis=1, kind="stable")
        falls = np.diff(np.take_along_axis(key, order, axis=1), axis=1)
        is_apart = falls > np.take_along_axis(gaps, order[:, :-1], axis=1)
        for row in np.flatnonzero(~is_apart.all(axis=1)):
            rank = np.zeros(order.shape[1], np.int64)
            rank[order[row, 1:]] = np.cumsum(is_apart[row])
            order[row] = np.lexsort((self._tie_keys(pair_ids[row]), rank))
        return order

    def _tie_keys(self, pair_id: str) -> NDArray[np.uint64]:
        prefix = f"decaf-imagenet9|patch|{self.seed}|{self.order}|{pair_id}|"
        return np.array([hashed_word(f"{prefix}{i}") for i in range(self.side**2)], np.uint64)


def tie_gaps(
    inputs: NDArray[Any], block: PairBlock, energy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n_pairs, patches) largest fall below each energy that counts as a tie; 0 for 8-bit inputs.

    Rounding to float32 moves a pixel by up to ``u X``, with ``u = 2**-24`` and ``X`` the largest
    absolute pixel of the pair. So it moves an energy ``e`` of ``n`` numbers by up to
    ``4 u X sqrt(n e)``, and the fall between two energies by twice that. Types of more digits have
    the same gaps, so that all of them have one order.
    """
    if inputs.dtype == np.uint8:
        return np.zeros_like(energy)
    numbers = inputs[0].size / energy.shape[1]
    largest = np.abs(inputs).reshape(len(inputs), -1).max(axis=1).astype(np.float64)
    of_pair = np.maximum(largest[block.plus], largest[block.minus])[:, None]
    gaps: NDArray[np.float64] = 2.0**-21 * of_pair * np.sqrt(numbers * energy)
    return gaps


def patch_energy(
    inputs: NDArray[Any], plus: NDArray[np.integer], minus: NDArray[np.integer], side: int
) -> NDArray[np.float64]:
    """(n_pairs, side²) float64 squared difference summed over channels and pixels of each patch.

    Inputs are (n_inputs, channels, height, width), 8-bit levels or any real scale, ``plus`` and
    ``minus`` (n_pairs,) the two of every pair. Differences of 8-bit levels are whole numbers, so
    their ties are exact.
    """
    rows = np.arange(side) * inputs.shape[2] // side
    columns = np.arange(side) * inputs.shape[3] // side
    energy = np.empty((plus.size, side, side))
    for start in range(0, plus.size, PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        plus_inputs, minus_inputs = inputs[plus[some]], inputs[minus[some]]
        if inputs.dtype == np.uint8:
            # Squares of 8-bit differences need 16 bits, and narrow data fit the cache.
            apart = np.maximum(plus_inputs, minus_inputs) - np.minimum(plus_inputs, minus_inputs)
            squares = np.square(apart, dtype=np.uint16)
            bands = np.add.reduceat(squares, rows, axis=2, dtype=np.uint32).sum(axis=1)
        else:
            difference = np.subtract(plus_inputs, minus_inputs, dtype=np.float64)
            pixels = np.einsum("nchw,nchw->nhw", difference, difference)
            bands = np.add.reduceat(pixels, rows, axis=1)
        energy[some] = np.add.reduceat(bands, columns, axis=2)
    return energy.reshape(plus.size, -1)
