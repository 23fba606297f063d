"""The loop over epochs: AdamW, linear warm-up, half a cosine down; the best epoch is kept."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from decaf.errors import ModelError
from decaf.foundation.arrays import Device, Module, Tensor
from decaf.foundation.digests import json_sha256
from decaf.models.precision import Precision, forward_precision
from decaf.models.training.photos import Augmentation, Photo, batches
from decaf.models.training.progress import EpochRecord, Progress


class Schedule(NamedTuple):
    """How long, how fast, how many at once."""

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
        left = self.epochs - self.warm_up_epochs
        done = (progress - self.warm_up_epochs) / left if left > 0 else 1.0
        return self.learning_rate * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


class Measured(NamedTuple):
    """Mean loss and share of correct labels over some photos."""

    loss: float
    accuracy: float


class FineTuning:
    """A network on its way, with the optimiser that moves it.

    The network is trained in place, on the device, and has to have as many outputs as there are
    classes. The preprocessing takes pixels in [0, 1] on the device to what the network takes.
    """

    def __init__(
        self,
        network: Module,
        preprocessing: Callable[[Tensor], Tensor],
        device: Device,
        classes: int,
        schedule: Schedule,
    ) -> None:
        import torch

        self.network = network.to(device)
        self.optimizer = torch.optim.AdamW(
            network.parameters(), lr=schedule.learning_rate, weight_decay=schedule.weight_decay
        )
        self._preprocessing = preprocessing
        self._device = device
        self._classes = classes
        self._schedule = schedule

    def run(
        self,
        training: Sequence[Photo],
        validation: Sequence[Photo],
        augmentation: Augmentation,
        progress: Progress,
    ) -> list[EpochRecord]:
        """Train from the last whole epoch that ``progress`` holds; records of all epochs.

        Every epoch draws from a seed of its own, so that a training that was stopped ends with the
        weights of one that was not (on a CPU with one thread). Raises DataError when a photo cannot
        be decoded, ModelError when a loss is not finite, or the network has not as many outputs as
        there are classes, and WriteFailed when an epoch cannot be kept.
        """
        import torch

        records = progress.restore(self.network, self.optimizer)
        for epoch in range(len(records) + 1, self._schedule.epochs + 1):
            started = time.perf_counter()
            # Seeds of neighbouring epochs and recipes must not be neighbours.
            torch.manual_seed(int(json_sha256([self._schedule.seed, epoch])[:15], 16))
            learned = self._learn(training, augmentation, epoch)
            checked = self.measure(validation)
            records.append(
                EpochRecord(
                    epoch=epoch,
                    learning_rate=self._schedule.rate_at(epoch),
                    train_loss=learned.loss,
                    train_accuracy=learned.accuracy,
                    validation_loss=checked.loss,
                    validation_accuracy=checked.accuracy,
                    seconds=time.perf_counter() - started,
                )
            )
            progress.store(self.network, self.optimizer, records)
        return records

    def measure(self, photos: Sequence[Photo]) -> Measured:
        """Loss and accuracy over photos as an audit sees them; the network is left in eval mode."""
        import torch

        self.network.eval()
        with torch.inference_mode():
            return _mean(
                self._loss(pixels, labels)[1:]
                for pixels, labels in batches(photos, self._schedule.batch_size)
            )

    def _learn(self, photos: Sequence[Photo], augmentation: Augmentation, epoch: int) -> Measured:
        size = self._schedule.batch_size
        steps = math.ceil(len(photos) / size)
        self.network.train()
        seen = []
        for step, (pixels, labels) in enumerate(batches(photos, size, augmentation)):
            for group in self.optimizer.param_groups:
                group["lr"] = self._schedule.rate_at(epoch - 1 + (step + 1) / steps)
            loss, *counted = self._loss(pixels, labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            seen.append(counted)
        return _mean(seen)

    def _loss(self, pixels: Tensor, labels: Tensor) -> tuple[Tensor, float, int, int]:
        """Mean loss, and its sum, the correct labels and the photos as numbers."""
        from torch.nn.functional import cross_entropy

        with forward_precision(self._schedule.precision, self._device):
            logits = self.network(self._preprocessing(pixels.to(self._device)))
        if logits.shape[1:] != (self._classes,):
            raise ModelError(
                f"the network returned shape {tuple(logits.shape)} for {len(labels)} photos of "
                f"{self._classes} classes; expected one output per class: give the architecture "
                f"'arguments: {{num_classes: {self._classes}}}'"
            )
        loss = cross_entropy(logits.float(), labels.to(self._device))
        if not bool(loss.isfinite()):
            raise ModelError(
                "training diverged: the loss is not finite; lower 'learning_rate:' or use "
                "'precision: float32'"
            )
        correct = int((logits.argmax(1).cpu() == labels).sum())
        return loss, float(loss.detach()) * len(labels), correct, len(labels)


def _mean(batch_counts: Iterable[Sequence[float]]) -> Measured:
    losses, correct, photos = (sum(column) for column in zip(*batch_counts, strict=True))
    return Measured(losses / photos, correct / photos)
