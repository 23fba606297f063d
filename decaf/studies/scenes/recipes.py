"""Train the classifiers of the controlled suite (paper, appendix D); all have two classes.

Training scenes are the first of the split to train on, held-out ones those of the split to
validate with. Every recipe goes on after the last whole epoch, and ends with the same weights as
one that was never stopped, on the same machine with one thread.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.foundation.arrays import Module
from decaf.foundation.settings import LARGEST_SEED, fault
from decaf.models.recipes.base import TrainingSite
from decaf.studies.scenes.factors import FACTOR_COLUMN, FACTORS, scene_index, scene_levels
from decaf.studies.scenes.settings import LARGEST_TESTS, Numbers, SceneSettings
from decaf.studies.scenes.splits import split_scenes
from decaf.studies.scenes.tasks import Task, balance_labels, labels
from decaf.studies.scenes.variants import Variant

if TYPE_CHECKING:
    from decaf.studies.scenes.training import LabelledScenes, Material, SceneOutcome, SceneTraining

CELLS = 8
ALIGNED, REVERSED = 0.95, 0.05
"""Probabilities that the wall equals the label in the two held-out tests."""
_WALL, _SHAPE = FACTOR_COLUMN["wall_hue"], FACTOR_COLUMN["shape"]
_OTHER_LEVELS = tuple(
    factor.cardinality for column, factor in enumerate(FACTORS) if column not in (_WALL, _SHAPE)
)
_TWINS = int(np.prod(_OTHER_LEVELS))


class SceneRecipe(SceneSettings, ABC):
    """Base of the recipes of this study, which choose scenes to train on and to measure with."""

    def train(self, network: Module, site: TrainingSite) -> "SceneOutcome":
        """Train a network in place; return the outcome.

        The network maps (n, 3, 32, 32) float32 in [-1, 1], which is uint8 / 127.5 - 1, to (n, 2)
        logits, independent of the site's preprocessing; it is left on the site's device in
        evaluation mode. A training that misses its gate also ends normally, with a note in the
        outcome. Raises ModelError when the loss is not finite, and WriteFailed when the disk
        refuses an epoch.
        """
        return self.training(network, site).train()

    @abstractmethod
    def training(self, network: Module, site: TrainingSite) -> "SceneTraining":
        """The training about to begin, with all its scenes."""

    def _label_scenes(self, site: TrainingSite, task: Task, scenes: Numbers) -> "LabelledScenes":
        from decaf.studies.scenes.training import scenes_on

        return scenes_on(site.device, self.images, scenes, labels(task, scene_levels(scenes)))

    def _material(self, site: TrainingSite, task: Task, scenes: Numbers) -> "Material":
        from decaf.studies.scenes.training import Material

        training = self._label_scenes(site, task, scenes)
        held_out = balance_labels(split_scenes("validation"), self.validation_scenes)
        tests = {"validation_accuracy": self._label_scenes(site, task, held_out)}
        return Material(training, self.order, tests)


class SceneTask(SceneRecipe):
    """Train on one of the two-class tasks: the base suite and the contradiction benchmark."""

    recipe: Literal["scene_task"] = Field(description="this recipe")
    task: Task = Field(description="task, which defines the label")
    sampling: Literal["uniform", "cells"] = Field(
        "uniform",
        description="`cells`: equally many training scenes of the 8 combinations of object bin, "
        "wall bin and shape",
    )
    gate: float | None = Field(0.999, ge=0, le=1, description="validation accuracy to reach")

    @model_validator(mode="after")
    def _whole_cells(self) -> "SceneTask":
        if self.sampling == "cells" and self.scenes % CELLS:
            raise fault(f"'sampling: cells' needs a multiple of {CELLS} 'scenes'", "scenes")
        return self

    def training(self, network: Module, site: TrainingSite) -> "SceneTraining":
        """On the first scenes of the split, or of every cell of it."""
        from decaf.studies.scenes.training import SceneTraining

        scenes = split_scenes("train")
        chosen = balance_labels(scenes, self.scenes) if self.sampling == "cells" else scenes
        material = self._material(site, self.task, chosen[: self.scenes])
        return SceneTraining(self, network, site, material)


class SceneVariant(SceneRecipe):
    """Train on the shape, and on the role of the floor in partly revealed scenes."""

    recipe: Literal["scene_variant"] = Field(description="this recipe")
    variant: Variant = Field(
        description="`neutral`: only clean scenes; `robust`: the same answer for each floor; "
        "`fragile`: the floor's hue bin is the answer"
    )
    clean_epochs: int = Field(
        5, ge=0, le=100_000, description="first epochs, with only clean scenes"
    )
    gate: float | None = Field(0.99, ge=0, le=1, description="validation accuracy to reach")

    def training(self, network: Module, site: TrainingSite) -> "SceneTraining":
        """On the first scenes of the split."""
        from decaf.studies.scenes.training import SceneTraining
        from decaf.studies.scenes.variants import Pairing, VariantTraining

        scenes = split_scenes("train")[: self.scenes]
        material = self._material(site, "object_shape", scenes)
        if self.variant == "neutral":
            return SceneTraining(self, network, site, material)
        pairing = Pairing.of(site.device, self.images, scenes, self.variant, self.clean_epochs)
        return VariantTraining(self, network, site, material, pairing)


class SceneShortcut(SceneRecipe):
    """Train on the shape, which the wall's colour predicts.

    The label is 0 for cubes and 1 for cylinders. The bin of the wall's hue equals the label with a
    set probability: at 0.5 the wall says nothing, at 1 it says everything.
    """

    recipe: Literal["scene_shortcut"] = Field(description="this recipe")
    shortcut: float = Field(
        ge=0.5,
        le=1.0,
        description="probability that the wall's hue bin equals the label; 0.5 is no shortcut",
    )
    seed: int = Field(
        ge=0,
        le=LARGEST_SEED,
        description="draws initial weights, scenes, their walls and the batches",
    )
    sampling: Literal["twins", "split"] = Field(
        "twins",
        description="`twins`: pairs of scenes that differ in shape and wall and share a batch, so "
        "a few thousand scenes suffice; `split`: scenes of the training split; others stay unseen",
    )
    scenes: int = Field(
        5000,
        ge=2,
        le=60_000,
        multiple_of=2,
        description="training scenes; of `twins`, half are cubes",
    )
    validation_scenes: int = Field(
        2000, ge=2, le=LARGEST_TESTS, multiple_of=2, description="held-out scenes of each test"
    )
    epochs: int = Field(4, ge=1, le=100_000, description="passes over the training images")
    batch_size: int = Field(32, ge=2, le=60_000, multiple_of=2, description="images per step")
    learning_rate: float = Field(0.002, gt=0, le=100, description="largest rate of AdamW")
    warm_up: float = Field(
        0.2, ge=0, le=1, description="share of the steps over which the rate rises"
    )
    weight_decay: float = Field(0.01, ge=0, le=100, description="of AdamW")

    @model_validator(mode="after")
    def _twins_left_to_test_with(self) -> "SceneShortcut":
        scene_count = self.scenes + self.validation_scenes
        if self.sampling == "twins" and scene_count > 2 * _TWINS:
            raise fault(
                f"'scenes' and 'validation_scenes' are {scene_count} together, and there are "
                f"{2 * _TWINS} twins; ask for fewer, or for 'sampling: split'"
            )
        return self

    def training(self, network: Module, site: TrainingSite) -> "SceneTraining":
        """On scenes whose walls were drawn; both tests are the same scenes with other walls.

        Held-out twins differ from all training scenes in more than shape and wall.
        """
        from decaf.studies.scenes.training import Material, ShortcutTraining

        rng = np.random.default_rng(self.seed)
        epochs = range(1, (self.epochs_at_most or self.epochs) + 1)
        if self.sampling == "twins":
            twins = rng.permutation(_TWINS)
            held_out = _both_shapes(twins[-(self.validation_scenes // 2) :])
            scenes = _with_walls(_both_shapes(twins[: self.scenes // 2]), self.shortcut, rng)
            orders = [_twins_together(rng.permutation(self.scenes // 2)) for _ in epochs]
        else:
            held_out = scene_levels(split_scenes("validation")[: self.validation_scenes])
            scenes = _with_share(split_scenes("train"), self.shortcut, self.scenes)
            orders = [self.order(epoch) for epoch in epochs]
        # One seed for both tests: the walls differ by the probability alone.
        seed = int(rng.integers(2**32))
        tests = {
            name: self._label_scenes(
                site,
                "object_shape",
                _with_walls(held_out, probability, np.random.default_rng(seed)),
            )
            for name, probability in (
                ("aligned_accuracy", ALIGNED),
                ("reversed_accuracy", REVERSED),
            )
        }
        training = self._label_scenes(site, "object_shape", scenes)
        material = Material(training, lambda epoch: orders[epoch - 1], tests)
        return ShortcutTraining(self, network, site, material)


def _both_shapes(twins: Numbers) -> NDArray[np.int64]:
    """(2n, 6) levels of n cubes and, next to each, of its twin; their walls are still 0."""
    other_levels = np.stack(np.unravel_index(np.repeat(twins, 2), _OTHER_LEVELS), axis=1)
    levels = np.insert(other_levels, _WALL, 0, axis=1)
    return np.insert(levels, _SHAPE, np.tile([0, 1], len(twins)), axis=1)


def _with_walls(
    levels: NDArray[np.integer], probability: float, rng: np.random.Generator
) -> Numbers:
    """Draw the wall of (n, 6) levels so that its bin equals the shape with a probability."""
    label = levels[:, _SHAPE].astype(np.int64)
    is_equal = rng.random(len(label)) < probability
    walls = 5 * np.where(is_equal, label, 1 - label) + rng.integers(5, size=len(label))
    drawn = levels.astype(np.int64)
    drawn[:, _WALL] = walls
    return scene_index(drawn)


def _with_share(scenes: Numbers, share: float, count: int) -> Numbers:
    """First ``count`` scenes of which a given share has a wall bin equal to the shape."""
    levels = scene_levels(scenes)
    is_equal = (levels[:, _WALL] >= 5) == levels[:, _SHAPE]
    equal = round(share * count)
    return np.concatenate([scenes[is_equal][:equal], scenes[~is_equal][: count - equal]])


def _twins_together(order: Numbers) -> Numbers:
    """Positions of the two scenes of each pair, from positions of pairs."""
    return np.stack([2 * order, 2 * order + 1], axis=1).reshape(-1)
