"""Built-in scenes: exact counterfactuals, one factor of a rendered room changed at a time."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.data.adapters.base import Adapter
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from decaf.foundation.settings import LARGEST_SEED
from decaf.studies.scenes.factors import (
    FACTOR_COLUMN,
    SCENE_COUNT,
    counterfactual,
    has_counterfactual,
    scene_levels,
)
from decaf.studies.scenes.images import RENDERER, SIZE
from decaf.studies.scenes.render import render

SHAPE = FACTOR_COLUMN["shape"]


class Scenes(Adapter):
    """Scenes of cubes (class 0) and cylinders (class 1), and their counterfactuals."""

    adapter: Literal["scenes"]
    sources: int = Field(256, gt=0, le=SCENE_COUNT, description="number of factual scenes")
    seed: int = Field(0, ge=0, le=LARGEST_SEED, description="which scenes are drawn")
    changes: dict[str, int] = Field(
        {"wall_hue": 1, "shape": 1},
        description="factors that make a counterfactual, each with its map (1 or 2)",
    )

    def pair_set(self) -> PairSet:
        """Draw scenes that every change moves; pair each with one counterfactual per change."""
        scenes = np.arange(SCENE_COUNT)
        scenes = scenes[scene_levels(scenes)[:, SHAPE] < 2]
        for name, map in self.changes.items():
            scenes = scenes[has_counterfactual(scenes, name, map)]
        if self.sources > scenes.size:
            raise DataError(
                f"there are {scenes.size} scenes that every change moves, and 'sources' asks for "
                f"{self.sources}; ask for fewer"
            )
        factual = np.sort(
            np.random.default_rng(self.seed).choice(scenes, size=self.sources, replace=False)
        )
        changed = {name: counterfactual(factual, name, map) for name, map in self.changes.items()}
        classes = scene_levels(factual)[:, SHAPE]
        images: dict[str, tuple[int, Input]] = {}

        def position(scene: int, variant: str) -> int:
            # A scene that is drawn and that another one turns into is an input of either kind.
            name = f"{variant}/scene-{scene:06d}"
            described = Input(name, variant, f"{RENDERER} {scene}", "")
            return images.setdefault(name, (len(images), described))[0]

        pairs = [
            Pair(
                pair_id=f"scene-{scene:06d}__{name}",
                source_id=f"scene-{scene:06d}",
                pair_type=name,
                class_id=int(classes[row]),
                split="all",
                plus=position(int(scene), "factual"),
                minus=position(int(changed[name][row]), f"{name}_changed"),
            )
            for row, scene in enumerate(factual)
            for name in self.changes
        ]
        return PairSet(tuple(image for _, image in images.values()), tuple(pairs), RENDERER)

    def verify(self, pairs: PairSet) -> None:
        """Accept: rendered scenes have one size by construction."""

    def read_input(self, image: Input) -> NDArray[np.uint8]:
        """Render one scene, (32, 32, 3) uint8."""
        scene = int(image.image_id.rpartition("-")[2])
        return render(np.array([scene]), size=SIZE)[0]
