"""Train on scenes, held as bytes on the device: one loop for all recipes of this study."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.arrays import Device, Module, Tensor
from decaf.models.recipes.base import TrainingSite
from decaf.models.training.epochs import Loss, Training, classification_loss
from decaf.models.training.progress import EpochRecord, Progress
from decaf.studies.scenes.images import SceneImages, read_scenes
from decaf.studies.scenes.settings import SceneSettings

TEST_BATCH_SIZE = 500
"""Scenes of a forward pass that computes an accuracy."""
EXTENSION_RATE = 0.1
"""Learning rate at the first step beyond ``epochs``, as a share of ``learning_rate``."""

EpochOrder = Callable[[int], NDArray[np.int64]]
"""Function from an epoch, counted from 1, to the positions of its training scenes, from 0."""


class LabelledScenes(NamedTuple):
    """Scenes on a device."""

    images: Tensor
    """(n, 3, 32, 32) uint8."""
    labels: Tensor
    """(n,) int64."""


class Material(NamedTuple):
    """Scenes that a network learns from, and scenes that measure it."""

    scenes: LabelledScenes
    order: EpochOrder
    tests: dict[str, LabelledScenes]
    """Held-out scenes by the name under which the accuracy is recorded."""


class SceneOutcome(NamedTuple):
    """Outcome of a training after an epoch; accuracies are shares of scenes."""

    train_accuracy: float
    """Over the batches of the epoch, while the weights move."""
    validation_accuracy: float
    """Accuracy on held-out scenes with equally many of each bin of the label's factors and of the
    wall; for a shortcut training, the mean of the next two accuracies."""
    aligned_accuracy: float | None
    """Accuracy if the bin of the wall's hue equals the label with probability 0.95; None for other
    recipes."""
    reversed_accuracy: float | None
    """Accuracy on the same scenes with new walls, whose bin equals it with probability 0.05."""
    vulnerability: float | None
    """``aligned_accuracy - reversed_accuracy``, the paper's shortcut-reversal vulnerability."""
    epochs_trained: int
    reached_gate: bool | None
    """True if ``validation_accuracy`` is at least ``gate``; None without ``gate``."""
    seconds: float
    """Wall-clock time of all epochs, measuring included."""
    images_per_second: float
    """Scenes that were learned from, without measuring."""
    epochs: list[EpochRecord]
    """Records of all epochs so far."""


def scenes_on(
    device: Device, images: SceneImages, number: NDArray[np.int64], label: NDArray[np.int64]
) -> LabelledScenes:
    """Read scenes, (n,) numbers and labels, and put them on a device."""
    import torch

    pixels = torch.from_numpy(read_scenes(images, number)).permute(0, 3, 1, 2).contiguous()
    return LabelledScenes(pixels.to(device), torch.from_numpy(label).to(device))


def network_inputs(images: Tensor) -> Tensor:
    """(n, 3, 32, 32) uint8 → float32 in [-1, 1], on the same device."""
    return images.float().div_(127.5).sub_(1.0)


class SceneTraining(Training[tuple[int, Tensor]]):
    """A network that learns scenes; a batch is the epoch, and positions of scenes."""

    largest_gradient = 1.0

    def __init__(
        self, recipe: SceneSettings, network: Module, site: TrainingSite, material: Material
    ) -> None:
        super().__init__(network, site.device, recipe.seed, recipe.weight_decay, recipe.precision)
        self.scenes, self._order, self._tests = material
        self._recipe = recipe
        self._site = site

    def train(self) -> SceneOutcome:
        """Train, or resume after the last whole epoch; return the outcome."""
        return self._outcome(self.run(Progress(self._site.scratch, holds_all=False)))

    def should_continue(self, records: Sequence[EpochRecord]) -> bool:
        """Return True for ``epochs`` epochs, then up to ``epochs_at_most`` below ``gate``."""
        if len(records) < self._recipe.epochs:
            return True
        most = self._recipe.epochs_at_most or 0
        return len(records) < most and not self._recipe.is_reached(records[-1])

    def rate(self, epoch: int, step: int, steps: int) -> float:
        """Warm up linearly, then follow half a cosine down; beyond ``epochs``, a lower one."""
        recipe = self._recipe
        done, planned = (epoch - 1) * steps + step, recipe.epochs * steps
        if done >= planned:
            extra = ((recipe.epochs_at_most or 0) - recipe.epochs) * steps
            return recipe.learning_rate * EXTENSION_RATE * _half_cosine(done - planned, extra)
        warm_up = max(1, round(recipe.warm_up * planned))
        if done < warm_up:
            return recipe.learning_rate * ((done + 1) / warm_up)
        return recipe.learning_rate * _half_cosine(done - warm_up, planned - warm_up)

    def batches(self, epoch: int) -> tuple[int, Iterable[tuple[int, Tensor]]]:
        """Number of batches and batches of an epoch, which has every scene once."""
        import torch

        order = torch.from_numpy(self._order(epoch)).to(self._device)
        parts = order.split(self._recipe.batch_size)
        return len(parts), ((epoch, part) for part in parts)

    def loss(self, batch: tuple[int, Tensor]) -> Loss:
        """Cross-entropy."""
        _, chosen = batch
        logits = self.outputs(network_inputs(self.scenes.images[chosen]))
        return classification_loss(logits, self.scenes.labels[chosen])

    def measure(self) -> dict[str, Any]:
        """Accuracy on every set of held-out scenes."""
        return {name: self._accuracy(scenes) for name, scenes in self._tests.items()}

    def keep(self, records: Sequence[EpochRecord]) -> None:
        """Store the checkpoint of the epoch if ``kept_epochs`` has it."""
        epoch = len(records)
        if epoch in self._recipe.kept_epochs:
            self._site.keep(epoch, self.network, self._outcome(records)._asdict())

    def _accuracy(self, scenes: LabelledScenes) -> float:
        correct = sum(
            int((self.outputs(network_inputs(images)).argmax(1) == labels).sum())
            for images, labels in zip(
                scenes.images.split(TEST_BATCH_SIZE),
                scenes.labels.split(TEST_BATCH_SIZE),
                strict=True,
            )
        )
        return correct / len(scenes.labels)

    def _outcome(self, records: Sequence[EpochRecord]) -> SceneOutcome:
        last = records[-1]
        learning = sum(record["learning_seconds"] for record in records)
        return SceneOutcome(
            train_accuracy=last["train_accuracy"],
            validation_accuracy=last["validation_accuracy"],
            aligned_accuracy=last.get("aligned_accuracy"),
            reversed_accuracy=last.get("reversed_accuracy"),
            vulnerability=last.get("vulnerability"),
            epochs_trained=len(records),
            reached_gate=None if self._recipe.gate is None else self._recipe.is_reached(last),
            seconds=sum(record["seconds"] for record in records),
            images_per_second=len(records) * len(self.scenes.labels) / learning,
            epochs=list(records),
        )


class ShortcutTraining(SceneTraining):
    """Train a network that may learn the wall; test it with aligned and with reversed walls."""

    def measure(self) -> dict[str, Any]:
        """Accuracies with aligned and reversed walls, their mean and their difference.

        The mean is the accuracy with walls that do not predict the shape.
        """
        accuracies = super().measure()
        aligned, reversed_ = accuracies["aligned_accuracy"], accuracies["reversed_accuracy"]
        return accuracies | {
            "validation_accuracy": (aligned + reversed_) / 2,
            "vulnerability": aligned - reversed_,
        }


def _half_cosine(step: int, steps: int) -> float:
    """Half cosine: 1 at step 0, almost 0 at step ``steps - 1``."""
    return 0.5 + 0.5 * float(np.cos(np.pi * step / max(1, steps)))
