"""The loop over epochs that trainings of networks share: AdamW, resumed after whole epochs."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from decaf.errors import ModelError
from decaf.foundation.arrays import Device, Module, Tensor
from decaf.foundation.digests import json_sha256
from decaf.models.precision import Precision, forward_precision
from decaf.models.training.progress import EpochRecord, Progress

Batch = TypeVar("Batch")


class Loss(NamedTuple):
    """Loss of one batch."""

    mean: Tensor
    """Mean over the rows of the batch; training minimises it."""
    correct: Tensor
    """Number of rows that were labelled correctly."""
    rows: int


def classification_loss(logits: Tensor, labels: Tensor) -> Loss:
    """Cross-entropy of (n, classes) logits and (n,) labels on the same device."""
    from torch.nn.functional import cross_entropy

    correct = (logits.argmax(1) == labels).sum()
    return Loss(cross_entropy(logits, labels), correct, len(labels))


class Measured(NamedTuple):
    """Mean loss and share of correct labels over some rows."""

    loss: float
    accuracy: float


class Training(ABC, Generic[Batch]):
    """Training of a network, with its optimiser.

    The network is trained in place, on the device. Subclasses define the batches, the loss, the
    learning rate, and the measurements after each epoch.
    """

    largest_gradient: float | None = None
    """Norm that gradients are clipped to; None for no clipping."""

    def __init__(
        self,
        network: Module,
        device: Device,
        seed: int,
        weight_decay: float,
        precision: Precision,
    ) -> None:
        import torch

        self.network = network.to(device)
        self.optimizer = torch.optim.AdamW(network.parameters(), weight_decay=weight_decay)
        self._device = device
        self._seed = seed
        self._precision = precision

    @abstractmethod
    def batches(self, epoch: int) -> tuple[int, Iterable[Batch]]:
        """Number of batches of an epoch, from 1, and the batches."""

    @abstractmethod
    def loss(self, batch: Batch) -> Loss:
        """Loss of a batch, with the network in training mode."""

    @abstractmethod
    def rate(self, epoch: int, step: int, steps: int) -> float:
        """Learning rate of a step (from 0) of an epoch (from 1) with a number of steps."""

    @abstractmethod
    def measure(self) -> Mapping[str, Any]:
        """Measurements of the network after an epoch, as plain values by name."""

    @abstractmethod
    def should_continue(self, records: Sequence[EpochRecord]) -> bool:
        """True if another epoch follows the recorded epochs."""

    def keep(self, records: Sequence[EpochRecord]) -> None:
        """Hook after an epoch, before it counts as done; does nothing by default."""

    def run(self, progress: Progress) -> list[EpochRecord]:
        """Train from the last whole epoch that ``progress`` holds; return records of all epochs.

        Every epoch has its own seed, so that a stopped and resumed training ends with the weights
        of an uninterrupted one (on a CPU with one thread). The network is left in evaluation mode.
        Raises ModelError when a loss is not finite, WriteFailed when an epoch cannot be stored, and
        the errors of the members above.
        """
        import torch

        records = progress.restore(self.network, self.optimizer)
        while self.should_continue(records):
            epoch = len(records) + 1
            started = time.perf_counter()
            # Seeds of neighbouring epochs and recipes must not be neighbours.
            torch.manual_seed(int(json_sha256([self._seed, epoch])[:15], 16))
            learned = self._learn(epoch)
            learning_seconds = time.perf_counter() - started
            self.network.eval()
            with torch.inference_mode():
                measured = self.measure()
            records.append(
                {
                    "epoch": epoch,
                    "learning_rate": self.optimizer.param_groups[0]["lr"],
                    "train_loss": learned.loss,
                    "train_accuracy": learned.accuracy,
                    **measured,
                    "learning_seconds": learning_seconds,
                    "seconds": time.perf_counter() - started,
                }
            )
            self.keep(records)
            progress.store(self.network, self.optimizer, records)
        self.network.eval()
        return records

    def _learn(self, epoch: int) -> Measured:
        from torch.nn.utils import clip_grad_norm_

        self.network.train()
        steps, batches = self.batches(epoch)
        batch_losses = []
        for step, batch in enumerate(batches):
            for group in self.optimizer.param_groups:
                group["lr"] = self.rate(epoch, step, steps)
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.mean.backward()
            if self.largest_gradient is not None:
                clip_grad_norm_(self.network.parameters(), self.largest_gradient)
            self.optimizer.step()
            batch_losses.append(loss._replace(mean=loss.mean.detach()))
        return mean_of(batch_losses)

    def outputs(self, inputs: Tensor) -> Tensor:
        """Network outputs for inputs on the device, at the training's precision, as float."""
        with forward_precision(self._precision, self._device):
            return self.network(inputs).float()


def mean_of(losses: Iterable[Loss]) -> Measured:
    """Mean loss and accuracy over the rows of several batches; there is at least one.

    Numbers leave the device here, and not after every batch. Raises ModelError when a loss is not
    finite.
    """
    batch_losses = list(losses)
    rows = sum(loss.rows for loss in batch_losses)
    total = sum(float(loss.mean.detach()) * loss.rows for loss in batch_losses)
    if not math.isfinite(total):
        raise ModelError(
            "training diverged: the loss is not finite; lower 'learning_rate:' or use "
            "'precision: float32'"
        )
    return Measured(total / rows, sum(int(loss.correct) for loss in batch_losses) / rows)
