"""Masks of pixels where images differ, and where they show a background (paper, appendix F)."""

from decaf.foundation.arrays import Tensor

VISIBLE = 8 / 255
"""Difference of a channel, or level of a foreground, above which a pixel counts."""

ROUNDING = 1e-6
"""Tolerance for float32 images whose levels differ by exactly the threshold."""


def difference_region(plus: Tensor, minus: Tensor, radius: int = 3) -> Tensor:
    """Pixels where a pair differs, and their neighbours.

    Parameters
    ----------
    plus, minus
        (n, channels, height, width) images in [0, 1].
    radius
        Reach of neighbours along both axes, px: a square.

    Returns
    -------
    (n, height, width) bool
        False everywhere if the images are equal.
    """
    return _dilate((plus - minus).abs().amax(dim=1) > VISIBLE + ROUNDING, radius)


def background_mask(foreground: Tensor, radius: int = 2) -> Tensor:
    """(n, height, width) bool: pixels outside of the foreground and not near it.

    The foregrounds are (n, channels, height, width) images in [0, 1] of the foreground alone, on
    black. A pixel is foreground if a channel is above ``VISIBLE``; the foreground grows by
    ``radius`` pixels along both axes: a square.
    """
    return ~_dilate(foreground.amax(dim=1) > VISIBLE + ROUNDING, radius)


def _dilate(mask: Tensor, radius: int) -> Tensor:
    """(n, height, width) bool → True if any pixel of the square around is set."""
    from torch.nn import functional

    side = 2 * radius + 1
    grown = functional.max_pool2d(mask[:, None].float(), side, stride=1, padding=radius)
    return grown[:, 0] > 0
