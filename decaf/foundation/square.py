"""Sizes and places as in torchvision's ``Resize`` and ``CenterCrop``, for equal pixels."""

from collections.abc import Iterable


def fit_shorter_side(sides: Iterable[int], shorter: int) -> list[int]:
    """Sides of an image whose shorter side gets ``shorter`` px; the other is rounded down.

    >>> fit_shorter_side((375, 281), 256)
    [341, 256]
    """
    sides = list(sides)
    return [side * shorter // min(sides) for side in sides]


def find_central_start(side: int, kept: int) -> int:
    """First of the central ``kept`` px of a side; half a pixel is rounded to an even number.

    >>> find_central_start(275, 224), find_central_start(273, 224)
    (26, 24)
    """
    return round((side - kept) / 2)
