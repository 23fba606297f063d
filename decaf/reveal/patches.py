"""Nested patches: square regions appear one after another, the most different ones first."""

import hashlib
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

WORD_BITS = 64
STAGE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class PatchMask:
    """Revealed patches show the clean input, all others the start; the content is the bit set.

    Patches are the cells of a ``side`` × ``side`` grid in row-major order.
    """

    side: int

    def empty(self, words: int) -> NDArray[np.uint64]:
        """Content of the start: no patch."""
        return np.zeros(words, np.uint64)

    def full(self, words: int) -> NDArray[np.uint64]:
        """Content of the clean input: every patch."""
        return pack(np.ones((1, self.side**2), bool))[0]

    def states(
        self, start: "torch.Tensor", clean: "torch.Tensor", content: NDArray[np.uint64]
    ) -> "torch.Tensor":
        """Choose per pixel; start and clean (n, c, h, w), content (n, words) → (n, c, h, w)."""
        import torch

        shown = torch.from_numpy(unpack(content, self.side**2)).to(clean.device)
        shown = shown.view(-1, self.side, self.side)
        rows = torch.from_numpy(cell_of_pixel(clean.shape[2], self.side)).to(clean.device)
        columns = torch.from_numpy(cell_of_pixel(clean.shape[3], self.side)).to(clean.device)
        mask = shown[:, rows][:, :, columns]
        return torch.where(mask[:, None], clean, start)


class Patches(Settings):
    """Patches in falling order of the squared difference of the pair (paper, appendix E)."""

    kind: Literal["patches"]
    sigma: float = Field(8.0, gt=0, description="blur of the midpoint, standard deviation in px")
    side: int = Field(8, gt=0, description="patches along each side of the image")
    order: str = Field("A", description="label that seeds the order of exactly tied patches")
    seed: int = Field(7101, ge=0, description="seed of the order of exactly tied patches")

    @property
    def start(self) -> BlurredMidpoint:
        """The state of no information."""
        return BlurredMidpoint(self.sigma)

    @property
    def rule(self) -> PatchMask:
        """How a state is made."""
        return PatchMask(self.side)

    def contents(
        self, block: PairBlock, images: NDArray[np.uint8], grid: NDArray[np.float64]
    ) -> NDArray[np.uint64]:
        """(n_pairs, n_stages, 2 branches, words): both branches reveal the same patches.

        Stage ``t`` reveals the first ``floor(t × patches)`` patches of the pair's order, so the
        sets are nested.
        """
        energy = patch_energy(images[block.plus], images[block.minus], self.side)
        rank = np.empty(energy.shape, np.int64)
        order = self._order(energy, block.pair_ids)
        np.put_along_axis(rank, order, np.arange(self.side**2)[None], axis=1)
        revealed = np.floor(grid * self.side**2 + STAGE_TOLERANCE)
        words = pack((rank[:, None, :] < revealed[None, :, None]).reshape(-1, self.side**2))
        words = words.reshape(block.pair_count, grid.size, 1, -1)
        return np.broadcast_to(words, (*words.shape[:2], 2, words.shape[3]))

    def _order(self, energy: NDArray[np.float64], pair_ids: tuple[str, ...]) -> NDArray[np.int64]:
        """Patches by falling energy; exact ties by hash, so that they follow no raster scan."""
        order = np.argsort(-energy, axis=1, kind="stable")
        ordered = np.take_along_axis(energy, order, axis=1)
        tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        for row in np.flatnonzero(tied):
            order[row] = np.lexsort((self._tie_keys(pair_ids[row]), -energy[row]))
        return order

    def _tie_keys(self, pair_id: str) -> NDArray[np.uint64]:
        prefix = f"decaf-imagenet9|patch|{self.seed}|{self.order}|{pair_id}|"
        digests = (hashlib.sha256(f"{prefix}{i}".encode()).digest() for i in range(self.side**2))
        return np.array([int.from_bytes(digest[:8], "big") for digest in digests], np.uint64)


def cell_of_pixel(pixels: int, cells: int) -> NDArray[np.int64]:
    """(pixels,) index of the cell of each pixel of a side; edges at floor(i pixels / cells)."""
    edges = np.arange(1, cells) * pixels // cells
    return np.searchsorted(edges, np.arange(pixels), side="right")


def patch_energy(
    plus: NDArray[np.uint8], minus: NDArray[np.uint8], side: int
) -> NDArray[np.float64]:
    """Squared difference summed over channels and the pixels of each patch.

    Parameters
    ----------
    plus, minus
        (n, height, width, channels) uint8.

    Returns
    -------
    (n, side²) float64, in squared 8-bit levels: whole numbers, so ties are exact.
    """
    difference = plus.astype(np.int64) - minus
    energy = np.einsum("nhwc,nhwc->nhw", difference, difference)
    rows = np.arange(side) * plus.shape[1] // side
    columns = np.arange(side) * plus.shape[2] // side
    sums = np.add.reduceat(np.add.reduceat(energy, rows, axis=1), columns, axis=2)
    return sums.reshape(plus.shape[0], -1).astype(np.float64)


def pack(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """(n, bits) bool → (n, ceil(bits / 64)) words."""
    padded = np.zeros((bits.shape[0], -(-bits.shape[1] // WORD_BITS) * WORD_BITS), bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def unpack(words: NDArray[np.uint64], bits: int) -> NDArray[np.bool_]:
    """Inverse of :func:`pack`: (n, words) → (n, bits) bool."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :bits].astype(bool)
