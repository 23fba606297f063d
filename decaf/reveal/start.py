"""The common uninformative state of a pair: the midpoint of its two inputs, blurred."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

TRUNCATE = 4
"""Kernel radius in standard deviations."""


@dataclass(frozen=True)
class BlurredMidpoint:
    """``x0 = Blur((x+ + x-) / 2)``, the same whichever branch asks (paper, appendix E).

    ``sigma`` is the standard deviation of the separable Gaussian in pixels; its radius is
    ``ceil(4 sigma)``. Borders are reflected, or replicated where the radius reaches the side.
    """

    sigma: float

    def states(self, plus: "torch.Tensor", minus: "torch.Tensor") -> "torch.Tensor":
        """(n, channels, height, width) float32 in [0, 1] → the same shape."""
        from torch.nn import functional

        x = (plus + minus) / 2
        channels = x.shape[1]
        kernel = x.new_tensor(gaussian_kernel(self.sigma))
        radius = kernel.numel() // 2
        mode = "reflect" if radius < min(x.shape[2:]) else "replicate"
        x = functional.pad(x, (radius, radius, 0, 0), mode=mode)
        x = functional.conv2d(
            x, kernel.view(1, 1, 1, -1).expand(channels, 1, 1, -1), groups=channels
        )
        x = functional.pad(x, (0, 0, radius, radius), mode=mode)
        return functional.conv2d(
            x, kernel.view(1, 1, -1, 1).expand(channels, 1, -1, 1), groups=channels
        )


@lru_cache(maxsize=8)
def gaussian_kernel(sigma: float) -> NDArray[np.float64]:
    """Normalised samples of a Gaussian, (2 ceil(4 sigma) + 1,) float64."""
    radius = ceil(TRUNCATE * sigma)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return weights / weights.sum()
