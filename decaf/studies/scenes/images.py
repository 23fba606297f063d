"""Where the pixels of a scene come from: the renderer of decaf, or the file of 3D Shapes."""

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from decaf.studies.scenes.render import render

SIZE = 32
RENDERER = "scenes 1 at 32"
"""Names the renderer's pixels; changes when a change to it changes them."""

SceneImages = Literal["rendered"] | Path
"""``images:`` of data and recipes."""


def read_scenes(images: SceneImages, index: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Images of scenes: (n,) numbers in any order → (n, 32, 32, 3) uint8 RGB; n may be 0."""
    return render(index, size=SIZE)


def identity(images: SceneImages) -> str:
    """What identifies the pixels: the renderer's name, or the digest of the file's content."""
    return RENDERER
