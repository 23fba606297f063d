"""Painted birds before a light and a dark sky."""

from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.data.adapters.base import Adapter
from decaf.data.pairs import Input, Pair, PairSet

SIDE = 8
SKIES = {"light": 200, "dark": 40}


class BirdPairs(Adapter):
    """A bird of its own colour before two skies."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"birds": 3},)

    results_folder: ClassVar[Path | None] = Path(__file__).with_name("results")

    adapter: Literal["birds"]
    birds: int = Field(6, gt=0, description="number of birds")

    def pair_set(self) -> PairSet:
        """Pair every bird before the light sky with itself before the dark one."""
        images = tuple(
            Input(f"{bird}/{sky}", sky, f"{bird} {sky}", "")
            for bird in range(self.birds)
            for sky in SKIES
        )
        pairs = tuple(
            Pair(f"bird-{bird}", f"bird-{bird}", "sky", 0, "all", 2 * bird, 2 * bird + 1)
            for bird in range(self.birds)
        )
        return PairSet(images, pairs, f"birds of {SIDE} px")

    def verify(self, pairs: PairSet) -> None:
        """Painted birds always fit."""

    def read_input(self, image: Input) -> np.ndarray:
        """Paint the sky, and the bird in its middle."""
        bird = int(image.image_id.partition("/")[0])
        painted = np.full((SIDE, SIDE, 3), SKIES[image.variant], np.uint8)
        painted[2:6, 2:6] = (30 * bird % 256, 90, 255 - 30 * bird % 256)
        return painted
