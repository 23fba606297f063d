"""Photos as files: what can go wrong when one is opened, and the crop that everyone makes of it."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import UnidentifiedImageError

CROP = 224
"""Side of a central crop, px."""
RESIZE_SHORTER = 256
"""Shorter side of the photo that it is cut from, px."""
UNREADABLE = (
    OSError,
    UnidentifiedImageError,
    SyntaxError,
    ValueError,
    PillowImage.DecompressionBombError,
)
"""What Pillow raises for files that are missing, damaged, far too large or no images."""


def central_crop(image: PillowImage.Image) -> NDArray[np.uint8]:
    """(224, 224, 3) pixels: the shorter side resized to 256, bilinear, the centre kept."""
    scale = RESIZE_SHORTER / min(image.size)
    width, height = (max(CROP, round(side * scale)) for side in image.size)
    resized = image.resize((width, height), PillowImage.Resampling.BILINEAR)
    left, top = (width - CROP) // 2, (height - CROP) // 2
    return np.asarray(resized.crop((left, top, left + CROP, top + CROP)))
