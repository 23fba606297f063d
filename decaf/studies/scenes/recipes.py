"""Train a classifier of built-in scenes whose wall colour gives the label away.

The label is the shape, cube 0 or cylinder 1. The bin of the wall's hue equals the label with a set
probability: at 0.5 the wall says nothing, at 1 it says everything.
"""

import time
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from decaf.foundation.arrays import Device, Module, Tensor
from decaf.foundation.settings import LARGEST_SEED
from decaf.models.recipes.base import SeriesRecipe, TrainingSite
from decaf.studies.scenes.factors import FACTORS, scene_index
from decaf.studies.scenes.render import render

ALIGNED, REVERSED = 0.95, 0.05
"""Probabilities that the wall equals the label in the two held-out tests."""

_HELD_OUT_TWINS = 1000
_WALL, _SHAPE = 1, 4
_OTHER_LEVELS = tuple(
    factor.cardinality for column, factor in enumerate(FACTORS) if column not in (_WALL, _SHAPE)
)
_TWINS = int(np.prod(_OTHER_LEVELS))
_WARM_UP = 0.2
_WEIGHT_DECAY = 0.01
_LARGEST_GRADIENT = 1.0


class TrainingOutcome(NamedTuple):
    """What a trained model can do, as shares of scenes that it labels correctly."""

    train_accuracy: float
    """On the training scenes, with the walls they were trained with."""
    aligned_accuracy: float
    """On held-out scenes whose wall equals the label with probability 0.95."""
    reversed_accuracy: float
    """On the same held-out scenes with new walls: equal with probability 0.05."""
    seconds: float
    """Of wall-clock time, drawing the scenes included."""


class EpochOutcome(NamedTuple):
    """What a model can do after one epoch, on the held-out scenes of :class:`TrainingOutcome`."""

    aligned_accuracy: float
    reversed_accuracy: float
    vulnerability: float
    """``aligned_accuracy - reversed_accuracy``."""


class SceneShortcut(SeriesRecipe):
    """How to train one model on scenes with a shortcut."""

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
    scenes: int = Field(
        default=5000,
        ge=2,
        le=2 * (_TWINS - _HELD_OUT_TWINS),
        multiple_of=2,
        description="training scenes, half of them cubes",
    )
    epochs: int = Field(default=4, ge=1, le=100_000, description="passes over the training scenes")
    batch_size: int = Field(
        default=32,
        ge=2,
        le=22_000,
        multiple_of=2,
        description="scenes per step, half of them cubes",
    )
    learning_rate: float = Field(default=0.002, gt=0.0, le=100, description="largest rate of AdamW")

    def train(self, network: Module, site: TrainingSite) -> TrainingOutcome:
        """Train a network in place and measure how much it leans on the wall.

        Every training scene has a twin that differs in shape, and in the wall that was drawn for
        it; twins share a batch, which is what makes a few thousand scenes enough. Held-out scenes
        differ from all training scenes in more than shape and wall. The same recipe and initial
        weights give the same weights on a CPU with one thread, if the network has no dropout.

        The network maps (n, 3, 32, 32) float32 in [-1, 1], which is uint8 / 127.5 - 1, to (n, 2)
        logits, whatever preprocessing the site has; it is left on the site's device in evaluation
        mode. A training that stops starts again. Of the outcome, ``aligned_accuracy -
        reversed_accuracy`` is the paper's shortcut-reversal vulnerability (appendix "Evidence
        validation through training trajectories").
        """
        started = time.perf_counter()
        device = site.device
        rng = np.random.default_rng(self.seed)
        twins = rng.permutation(_TWINS)
        held_out = twins[-_HELD_OUT_TWINS:]
        training = _scenes(twins[: self.scenes // 2], self.shortcut, rng)
        batches = [_batches(self, rng) for _ in range(self.epochs)]
        # One seed for both tests: the walls differ by the probability alone.
        test_seed = int(rng.integers(2**32))
        tests = [
            _scenes(held_out, probability, np.random.default_rng(test_seed))
            for probability in (ALIGNED, REVERSED)
        ]
        network.to(device)
        for epoch in _fit(self, network, training, batches, device):
            if epoch in self.kept_epochs:
                aligned, reversed_ = (_accuracy(network, test, device) for test in tests)
                measured = EpochOutcome(aligned, reversed_, aligned - reversed_)
                site.keep(epoch, network, measured._asdict())
        accuracies = (_accuracy(network, scenes, device) for scenes in (training, *tests))
        return TrainingOutcome._make([*accuracies, time.perf_counter() - started])


class _Scenes(NamedTuple):
    number: np.ndarray
    label: np.ndarray


def _scenes(twins: np.ndarray, probability: float, rng: np.random.Generator) -> _Scenes:
    """Make both scenes of every twin, next to each other, and draw their walls."""
    label = np.tile([0, 1], len(twins))
    others = np.stack(np.unravel_index(np.repeat(twins, 2), _OTHER_LEVELS), axis=1)
    is_equal = rng.random(len(label)) < probability
    wall = 5 * np.where(is_equal, label, 1 - label) + rng.integers(5, size=len(label))
    levels = np.insert(others, _WALL, wall, axis=1)
    return _Scenes(scene_index(np.insert(levels, _SHAPE, label, axis=1)), label)


def _fit(
    recipe: SceneShortcut,
    network: Module,
    scenes: _Scenes,
    batches: list[list[np.ndarray]],
    device: Device,
) -> Iterator[int]:
    """Train epoch by epoch, on the batches of each; yields the number of each that is done."""
    import torch

    images = _images(scenes.number)
    labels = torch.from_numpy(scenes.label)
    steps = sum(map(len, batches))
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=_WEIGHT_DECAY
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate_share(step, steps))
    for epoch, own in enumerate(batches, 1):
        network.train()
        for batch in own:
            logits = network(images[batch].to(device))
            loss = torch.nn.functional.cross_entropy(logits, labels[batch].to(device))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), _LARGEST_GRADIENT)
            optimizer.step()
            schedule.step()
        yield epoch


def _batches(recipe: SceneShortcut, rng: np.random.Generator) -> list[np.ndarray]:
    """Cut one pass over the scenes into batches that keep twins together."""
    first = 2 * rng.permutation(recipe.scenes // 2)
    order = np.stack([first, first + 1], axis=1).reshape(-1)
    return np.split(order, range(recipe.batch_size, len(order), recipe.batch_size))


def _rate_share(step: int, steps: int) -> float:
    """Warm up linearly, then follow half a cosine down."""
    warm_up = max(1, round(_WARM_UP * steps))
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.5 + 0.5 * float(np.cos(np.pi * (step - warm_up) / max(1, steps - warm_up)))


def _accuracy(network: Module, scenes: _Scenes, device: Device) -> float:
    import torch

    network.eval()
    with torch.inference_mode():
        parts = [
            network(part.to(device)).argmax(1).cpu() for part in _images(scenes.number).split(500)
        ]
    return float((torch.cat(parts).numpy() == scenes.label).mean())


def _images(index: np.ndarray) -> Tensor:
    import torch

    pixels = torch.from_numpy(render(index)).permute(0, 3, 1, 2)
    return pixels.contiguous().float().div_(127.5).sub_(1.0)
