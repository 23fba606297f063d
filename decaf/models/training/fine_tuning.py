"""Train on labelled photos: linear warm-up, then decay along half a cosine."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from decaf.errors import ModelError
from decaf.foundation.arrays import Device, Module, Tensor
from decaf.models.precision import Precision
from decaf.models.training.epochs import (
    Batch,
    Loss,
    Measured,
    Training,
    classification_loss,
    mean_of,
)
from decaf.models.training.photos import Augmentation, Photo, batches
from decaf.models.training.progress import EpochRecord


class Schedule(NamedTuple):
    """Length, learning rate and batch size of a training."""

    epochs: int
    warm_up_epochs: float
    learning_rate: float
    """Largest rate."""
    weight_decay: float
    batch_size: int
    precision: Precision
    seed: int

    def rate_at(self, progress: float) -> float:
        """Learning rate after ``progress`` epochs, which may be a fraction.

        It rises linearly from 0 to the largest rate, then follows half a cosine down to 0.
        """
        if progress < self.warm_up_epochs:
            return self.learning_rate * progress / self.warm_up_epochs
        decay_epochs = self.epochs - self.warm_up_epochs
        done = (progress - self.warm_up_epochs) / decay_epochs if decay_epochs > 0 else 1.0
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


class Photos(NamedTuple):
    """Training photos, their augmentation, and photos to measure the network with."""

    training: Sequence[Photo]
    validation: Sequence[Photo]
    augmentation: Augmentation


class ScheduledTraining(Training[Batch]):
    """A training whose rate rises and falls once."""

    def __init__(self, network: Module, device: Device, schedule: Schedule) -> None:
        super().__init__(network, device, schedule.seed, schedule.weight_decay, schedule.precision)
        self._schedule = schedule

    def should_continue(self, records: Sequence[EpochRecord]) -> bool:
        """True before the last epoch of the schedule."""
        return len(records) < self._schedule.epochs

    def rate(self, epoch: int, step: int, steps: int) -> float:
        """Rate of the schedule at the end of the step."""
        return self._schedule.rate_at(epoch - 1 + (step + 1) / steps)


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
        schedule: Schedule,
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
        measured = self.measure_photos(self._photos.validation)
        return {"validation_loss": measured.loss, "validation_accuracy": measured.accuracy}

    def measure_photos(self, photos: Sequence[Photo]) -> Measured:
        """Loss and accuracy over photos."""
        return mean_of(self.loss(batch) for batch in batches(photos, self._schedule.batch_size))

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
