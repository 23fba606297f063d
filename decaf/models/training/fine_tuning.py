"""Train on labelled photos: linear warm-up, then decay along half a cosine."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from decaf.errors import ModelError
from decaf.foundation.arrays import Device, Module, Tensor
from decaf.models.recipes.base import ScheduledRecipe
from decaf.models.training.epochs import (
    Batch,
    Loss,
    Training,
    classification_loss,
    mean_of,
)
from decaf.models.training.photos import Augmentation, Photo, batches
from decaf.models.training.progress import EpochRecord


class Photos(NamedTuple):
    """Training photos, their augmentation, and photos to measure the network with."""

    training: Sequence[Photo]
    validation: Sequence[Photo]
    augmentation: Augmentation


class ScheduledTraining(Training[Batch]):
    """A training whose rate rises and falls once."""

    def __init__(self, network: Module, device: Device, schedule: ScheduledRecipe) -> None:
        super().__init__(network, device, schedule.seed, schedule.weight_decay, schedule.precision)
        self._schedule = schedule

    def should_continue(self, records: Sequence[EpochRecord]) -> bool:
        """True before the last epoch of the schedule."""
        return len(records) < self._schedule.epochs

    def rate(self, epoch: int, step: int, steps: int) -> float:
        """Rate at the end of the step.

        It rises linearly from 0 to the largest rate, then follows half a cosine down to 0.
        """
        schedule, done = self._schedule, epoch - 1 + (step + 1) / steps
        if done < schedule.warm_up_epochs:
            return schedule.learning_rate * done / schedule.warm_up_epochs
        decay_epochs = schedule.epochs - schedule.warm_up_epochs
        decayed = (done - schedule.warm_up_epochs) / decay_epochs
        return schedule.learning_rate * 0.5 * (1 + math.cos(math.pi * decayed))


class FineTuning(ScheduledTraining[tuple[Tensor, Tensor]]):
    """Training of a network on photos.

    It needs as many outputs as there are classes. The preprocessing turns pixels in [0, 1] on the
    device into inputs of the network. A photo that cannot be decoded raises DataError, another
    number of outputs ModelError.
    """

    def __init__(
        self,
        network: Module,
        preprocessing: Callable[[Tensor], Tensor],
        device: Device,
        classes: int,
        schedule: ScheduledRecipe,
        photos: Photos,
    ) -> None:
        super().__init__(network, device, schedule)
        self._preprocessing = preprocessing
        self._classes = classes
        self._photos = photos

    def batches(self, epoch: int) -> tuple[int, Iterable[tuple[Tensor, Tensor]]]:
        """Photos in random order, cropped and flipped."""
        photos, size = self._photos.training, self._schedule.batch_size
        return math.ceil(len(photos) / size), batches(photos, size, self._photos.augmentation)

    def measure(self) -> dict[str, Any]:
        """Loss and accuracy over the validation photos, prepared as in an audit."""
        photos = batches(self._photos.validation, self._schedule.batch_size)
        measured = mean_of(self.loss(batch) for batch in photos)
        return {"validation_loss": measured.loss, "validation_accuracy": measured.accuracy}

    def loss(self, batch: tuple[Tensor, Tensor]) -> Loss:
        """Cross-entropy."""
        pixels, labels = batch
        logits = self.outputs(self._preprocessing(pixels.to(self._device)))
        if logits.shape[1:] != (self._classes,):
            raise ModelError(
                f"the network returned shape {tuple(logits.shape)} for {len(labels)} photos of "
                f"{self._classes} classes; expected one output per class: give the architecture "
                f"'arguments: {{num_classes: {self._classes}}}'"
            )
        return classification_loss(logits, labels.to(self._device))
