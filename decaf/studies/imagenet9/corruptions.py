"""Held-out corruptions of a background, to check fragility (paper, appendix F).

Five kinds at two severities each. None of them is part of a reveal path; the foreground stays as
it is. Draws belong to a pair, a kind and a severity, so that all models see the same corruption.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from decaf.errors import ResponseError
from decaf.foundation.arrays import Tensor
from decaf.foundation.digests import hashed_word
from decaf.reveal.start import gaussian_blur

SEED = 91701
COLOUR_DIRECTION = (1.0, -1.0, 1.0)
"""Directions in which a colour shift moves red, green and blue."""


class Corruption(NamedTuple):
    """A kind of corruption at one severity."""

    kind: str
    severity: float
    """In the unit of the kind: px, [0, 1] levels, or a count; :data:`KINDS` says which."""

    @property
    def name(self) -> str:
        """Kind and severity, as ``gaussian_noise_0.05``."""
        return f"{self.kind}_{self.severity:g}"


def corrupt_background(
    corruption: Corruption,
    images: Tensor,
    background: Tensor,
    pair_ids: Sequence[str],
) -> Tensor:
    """Corrupt the background of images: ``B g(x) + (1 - B) x``, cut to [0, 1].

    ``g`` sees the whole image, so that a blur, a large pixel or a shuffled tile may bring some of
    the foreground into the background.

    Images are (n, 3, height, width) in [0, 1]; the result is of their shape, type and device.
    Backgrounds are (n, height, width) bool, from
    :func:`decaf.evaluation.image_masks.background_mask`, pair ids the n names that the draws belong
    to. Raises ResponseError for tiles that are not equal.
    """
    draws = [_generator(corruption, pair_id) for pair_id in pair_ids]
    corrupt, _ = KINDS[corruption.kind]
    corrupted = corrupt(images, corruption.severity, draws)
    return corrupted.where(background[:, None], images).clamp(0, 1)


def _generator(corruption: Corruption, pair_id: str) -> np.random.Generator:
    """Seeded by the first eight bytes of the sha256 of ``91701|corrupt|kind|severity|pair``."""
    name = f"{SEED}|corrupt|{corruption.kind}|{corruption.severity:g}|{pair_id}"
    return np.random.default_rng(hashed_word(name))


Draws = Sequence[np.random.Generator]


def _blur(images: Tensor, sigma: float, draws: Draws) -> Tensor:
    return gaussian_blur(images, sigma)


def _noisy(images: Tensor, std: float, draws: Draws) -> Tensor:
    import torch

    noise = np.stack([draw.standard_normal(tuple(images.shape[1:]), np.float32) for draw in draws])
    return images + std * torch.from_numpy(noise).to(images)


def _shift_colours(images: Tensor, shift: float, draws: Draws) -> Tensor:
    return images + shift * images.new_tensor(COLOUR_DIRECTION).view(1, -1, 1, 1)


def _pixelate(images: Tensor, factor: float, draws: Draws) -> Tensor:
    """Replace every square of ``factor`` pixels, also partial ones at the edges, by its mean."""
    from torch.nn import functional

    height, width = images.shape[2:]
    means = functional.avg_pool2d(images, int(factor), ceil_mode=True, count_include_pad=False)
    large = means.repeat_interleave(int(factor), dim=2).repeat_interleave(int(factor), dim=3)
    return large[:, :, :height, :width]


def _shuffle(images: Tensor, grid: float, draws: Draws) -> Tensor:
    """Tiles of a grid change places; which goes where is drawn for every image."""
    import torch

    count, channels, height, width = images.shape
    side = int(grid)
    if height % side or width % side:
        raise ResponseError(
            f"images of {height} x {width} px have no {side} x {side} equal tiles; expected sides "
            f"that are multiples of {side}"
        )
    order = torch.from_numpy(np.stack([draw.permutation(side * side) for draw in draws]))
    tiles = images.unflatten(3, (side, -1)).unflatten(2, (side, -1))
    tiles = tiles.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)
    rows = torch.arange(count, device=images.device)[:, None]
    tiles = tiles[rows, order.to(images.device)].unflatten(1, (side, side))
    return tiles.permute(0, 3, 1, 4, 2, 5).reshape(count, channels, height, width)


KINDS: dict[str, tuple[Callable[[Tensor, float, Draws], Tensor], tuple[float, ...]]] = {
    "gaussian_blur": (_blur, (2, 5)),  # standard deviation in px
    "gaussian_noise": (_noisy, (0.05, 0.12)),  # standard deviation in [0, 1] levels
    "colour_shift": (_shift_colours, (0.1, 0.2)),  # [0, 1] levels
    "pixelation": (_pixelate, (4, 8)),  # px along a side of the new pixels
    "patch_shuffle": (_shuffle, (4, 8)),  # tiles along a side
}
"""Function of a kind of corruption, and its severities in the paper."""

CORRUPTIONS = tuple(
    Corruption(kind, severity) for kind, (_, severities) in KINDS.items() for severity in severities
)
"""The ten of the paper, in a fixed order."""
