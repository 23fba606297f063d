"""Scenes of 3D Shapes and their exact counterfactuals: one factor changed, or also the context."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import SettingError, UnknownName
from decaf.foundation.settings import LARGEST_SEED, fault, require_keys
from decaf.studies.scenes.factors import (
    SCENE_COUNT,
    change_of,
    counterfactual,
    has_counterfactual,
    level_map,
    scene_levels,
)
from decaf.studies.scenes.images import SceneImages, identity, read_scenes, remark
from decaf.studies.scenes.splits import Split, split_scenes, support
from decaf.studies.scenes.tasks import CLASSES, Task, bins, labels

DIRECTION_SEED = 20260891
"""Draws which of two object colours is the factual one; our choice."""


class Change(NamedTuple):
    """One factor and one of its maps, under the name of its pairs."""

    name: str
    factor: str
    map: int


class SceneAdapter(Adapter):
    """Scenes by number, whichever images they have."""

    shared_with_recipes: ClassVar = {
        "images": "so it would be asked about images unlike those it has learned from"
    }

    images: SceneImages = Field(
        "rendered",
        description="`rendered` by decaf, or the path of `3dshapes.h5`",
    )

    @property
    @abstractmethod
    def _scenes(self) -> NDArray[np.int64]:
        """Numbers of the scenes of all pairs, one row for each source, its own scene first."""

    def verify(self, pairs: PairSet) -> None:
        """Read all scenes at once, as a compressed file is read.

        Raises DataError when the file is damaged; scenes have one size by construction.
        """
        _ = self._read

    def describe(self, pairs: PairSet, pair: Pair) -> str:
        """Factors that differ: ``orange wall → blue wall``."""
        scenes = [int(pairs.inputs[place].location) for place in (pair.plus, pair.minus)]
        return change_of(*scene_levels(np.array(scenes)))

    def read_input(self, image: Input) -> NDArray[np.uint8]:
        """One scene, (32, 32, 3) uint8."""
        numbers, pixels = self._read
        return pixels[np.searchsorted(numbers, int(image.location))]

    @cached_property
    def _read(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        numbers = np.unique(self._scenes)
        return numbers, read_scenes(self.images, numbers)

    def _first(self, scenes: NDArray[np.int64], sources: int, are: str) -> NDArray[np.int64]:
        if sources > scenes.size:
            raise SettingError(
                f"'sources' asks for {sources} scenes; expected at most the {scenes.size} {are}",
                "sources",
            )
        return scenes[:sources]


class Shapes3D(SceneAdapter):
    """Scenes of the first two shapes, and their counterfactuals."""

    adapter: Literal["shapes3d"]
    split: Literal[Split, "all"] = Field(
        "all",
        description="split of the sources: its first scenes that every change moves; of `all`, "
        "drawn scenes",
    )
    sources: int = Field(256, gt=0, le=SCENE_COUNT, description="number of factual scenes")
    dynamic: int | None = Field(
        None,
        ge=0,
        le=SCENE_COUNT,
        description="number of first sources whose pairs have the type of their change; other "
        "pairs have the type with `_endpoint` appended; all when absent",
    )
    seed: int = Field(0, ge=0, le=LARGEST_SEED, description="draws the scenes of `split: all`")
    task: Task | None = Field(
        "object_shape",
        description="task of all models, which labels the pairs; `null` if tasks differ, so pairs "
        "have no labels",
    )
    changes: dict[str, int | tuple[int, ...]] = Field(
        {"wall_hue": 1, "shape": 1},
        description="changed factors, each with its map or a list of maps: 1, 2, or from 3 on the "
        "seed of a random matching; pair types are `FACTOR`, for a list `FACTOR_MAP`",
    )

    @field_validator("changes", mode="before")
    @classmethod
    def _are_numbers(cls, changes: Any) -> Any:
        """Refuse maps that are not numbers: a number always names an involution."""
        for factor, maps in changes.items() if isinstance(changes, dict) else ():
            for map in maps if isinstance(maps, list | tuple) else [maps]:
                if type(map) is not int or not 1 <= map <= LARGEST_SEED:
                    raise fault(
                        f"map {map} of {factor}; expected a number: 1, 2 or, from 3 to "
                        f"{LARGEST_SEED}, the seed of a random matching, because a map must be "
                        "its own inverse; a list of levels is not possible",
                        factor,
                    )
        return changes

    @field_validator("changes")
    @classmethod
    def _are_maps(cls, changes: dict[str, Any]) -> dict[str, Any]:
        for change in _changes(changes):
            try:
                level_map(change.factor, change.map)
            except UnknownName as error:
                raise fault(str(error)) from error
        for factor, maps in changes.items():
            if isinstance(maps, tuple) and len(set(maps)) < len(maps):
                raise fault(f"a map of {factor} is given twice")
        return changes

    @model_validator(mode="after")
    def _fits(self) -> "Shapes3D":
        if (self.dynamic or 0) > self.sources:
            raise fault(f"'dynamic' is {self.dynamic}; expected at most 'sources': {self.sources}")
        require_keys([("seed", self.split == "all" or not self.seed, "'split: all'")])
        return self

    def pair_set(self) -> PairSet:
        """Pair each source with one counterfactual per change.

        Raises SettingError where the split has too few scenes, and DataError where the file of
        images cannot be used.
        """
        changes = _changes(self.changes)
        variants = ["factual", *(f"{change.name}_changed" for change in changes)]
        content = identity(self.images)
        inputs = [
            Input(f"{variant}/scene-{scene:06d}", variant, f"{content} {scene}", str(scene))
            for scenes in self._scenes.tolist()
            for variant, scene in zip(variants, scenes, strict=True)
        ]
        dynamic = self.sources if self.dynamic is None else self.dynamic
        sources = self._scenes[:, 0]
        classes = (
            [0] * sources.size
            if self.task is None
            else labels(self.task, scene_levels(sources)).tolist()
        )
        pairs = [
            Pair(
                pair_id=f"scene-{scene:06d}__{change.name}",
                source_id=f"scene-{scene:06d}",
                pair_type=change.name if row < dynamic else f"{change.name}_endpoint",
                class_id=label,
                split=self.split,
                plus=row * len(variants),
                minus=row * len(variants) + place,
            )
            for row, (scene, label) in enumerate(zip(sources.tolist(), classes, strict=True))
            for place, change in enumerate(changes, 1)
        ]
        return PairSet(
            tuple(inputs),
            tuple(pairs),
            content,
            (remark(self.images),),
            has_labels=self.task is not None,
            class_names=CLASSES.get(self.task, ()),
        )

    @cached_property
    def _scenes(self) -> NDArray[np.int64]:
        """(sources, 1 + changes)."""
        scenes = support() if self.split == "all" else split_scenes(self.split)
        changes = _changes(self.changes)
        for change in changes:
            scenes = scenes[has_counterfactual(scenes, change.factor, change.map)]
        where = "" if self.split == "all" else f"of the split {self.split} "
        first = self._first(scenes, self.sources, f"{where}that every change moves")
        if self.split == "all":
            drawn = np.random.default_rng(self.seed)
            first = np.sort(drawn.choice(scenes, size=self.sources, replace=False))
        changed = [counterfactual(first, change.factor, change.map) for change in changes]
        return np.column_stack([first, *changed])


class Shapes3DContext(SceneAdapter):
    """Scenes whose object has another hue, and the same two with the wall of the other context.

    Every source has a wall of bin 1 and an object of bin 0, which is the factual one in half of
    the pairs: inputs are of the variant `colour_0` or `colour_1`, by the bin of the object, with
    `_swapped` behind it where the wall is of bin 0.
    """

    adapter: Literal["shapes3d_context"]
    split: Split = Field("test", description="split whose first scenes are the sources")
    sources: int = Field(256, gt=0, le=SCENE_COUNT, description="number of scenes")
    object_maps: tuple[Literal[1, 2], ...] = Field(
        (1, 2), min_length=1, description="maps of the object's hue, for counterfactuals"
    )
    wall_maps: tuple[Literal[1, 2], ...] = Field(
        (1, 2),
        min_length=1,
        description="maps of the wall's hue, for the other context; pair types are "
        "`object_hue_MAP_wall_hue_MAP`",
    )

    @field_validator("object_maps", "wall_maps")
    @classmethod
    def _differ(cls, maps: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(maps)) < len(maps):
            raise fault("a map is given twice")
        return maps

    def pair_set(self) -> PairSet:
        """One pair for each source, map of the object and map of the wall: four scenes each.

        Raises SettingError where the split has too few scenes, and DataError where the file of
        images cannot be used.
        """
        content = identity(self.images)
        numbers = np.unique(self._scenes)
        inputs = [
            Input(f"{variant}/scene-{scene:06d}", variant, f"{content} {scene}", str(scene))
            for scene, variant in zip(numbers.tolist(), _variants(numbers), strict=True)
        ]
        # Two sources may share a scene, which is one input then.
        quadruples = np.searchsorted(numbers, self._scenes).reshape(
            -1, 1 + len(self.object_maps), 1 + len(self.wall_maps)
        )
        is_reversed = self._is_reversed(len(quadruples))[:, None, None]
        plus = np.where(is_reversed, quadruples[:, 1:], quadruples[:, :1])
        minus = np.where(is_reversed, quadruples[:, :1], quadruples[:, 1:])
        pairs = [
            Pair(
                pair_id=f"scene-{scene:06d}__{name}",
                source_id=f"scene-{scene:06d}",
                pair_type=name,
                class_id=0,
                split=self.split,
                plus=own_plus[0],
                minus=own_minus[0],
                context=(own_plus[wall], own_minus[wall]),
            )
            for scene, of_plus, of_minus in zip(
                self._scenes[:, 0].tolist(), plus.tolist(), minus.tolist(), strict=True
            )
            for object_map, own_plus, own_minus in zip(
                self.object_maps, of_plus, of_minus, strict=True
            )
            for wall, wall_map in enumerate(self.wall_maps, 1)
            for name in [f"object_hue_{object_map}_wall_hue_{wall_map}"]
        ]
        return PairSet(
            tuple(inputs), tuple(pairs), content, (remark(self.images),), has_labels=False
        )

    @cached_property
    def _scenes(self) -> NDArray[np.int64]:
        """(sources, (1 + maps of the object) (1 + maps of the wall)), the wall's fastest."""
        scenes = split_scenes(self.split)
        colour, context, _ = bins(scene_levels(scenes)).T
        scenes = scenes[(context == 1) & (colour == 0)]
        are = f"of the split {self.split} with a wall of bin 1 and an object of bin 0"
        first = self._first(scenes, self.sources, are)
        colours = [first, *(counterfactual(first, "object_hue", k) for k in self.object_maps)]
        return np.column_stack(
            [
                walled
                for scene in colours
                for walled in (
                    scene,
                    *(counterfactual(scene, "wall_hue", k) for k in self.wall_maps),
                )
            ]
        )

    @staticmethod
    def _is_reversed(count: int) -> NDArray[np.bool_]:
        """(n,) whether a source's own scene is the counterfactual: of every two, one is."""
        first = np.random.default_rng(DIRECTION_SEED).integers(2, size=SCENE_COUNT // 2)
        return np.column_stack([first, 1 - first]).reshape(-1)[:count] == 1


def _changes(changes: dict[str, Any]) -> list[Change]:
    return [
        Change(f"{factor}_{map}" if isinstance(maps, tuple) else factor, factor, map)
        for factor, maps in changes.items()
        for map in (maps if isinstance(maps, tuple) else [maps])
    ]


def _variants(scenes: NDArray[np.int64]) -> list[str]:
    """Bin of the object of each scene, and True where its context is swapped."""
    colour, context, _ = bins(scene_levels(scenes)).T
    return [
        f"colour_{c}" + ("" if g else "_swapped")
        for c, g in zip(colour.tolist(), context.tolist(), strict=True)
    ]
