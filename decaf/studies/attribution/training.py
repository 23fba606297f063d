"""Train on birds, which are read once: flips, shifts, and a loss of the parts that they have."""

from collections.abc import Iterable, Iterator, Sequence
from operator import lt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import open_inputs, store_inputs
from decaf.data.pairs import Input
from decaf.data.photo_files import read_photo
from decaf.errors import ModelError
from decaf.foundation.arrays import Module, Tensor
from decaf.models.checkpoint import load_into
from decaf.models.precision import forward_precision
from decaf.models.recipes.base import TrainingSite
from decaf.models.training.epochs import Loss, classification_loss
from decaf.models.training.fine_tuning import ScheduledTraining
from decaf.models.training.norms import begin_with_statistics
from decaf.models.training.progress import EpochRecord, Progress
from decaf.studies.attribution.birds import PARTS, REMOVED, Split, birds, class_parts
from decaf.studies.attribution.networks import ByParts
from decaf.studies.attribution.settings import BirdSettings


class BirdOutcome(NamedTuple):
    """Outcome of a training after an epoch; accuracies are shares of all test birds."""

    validation_accuracy: float
    part_accuracy: dict[str, float]
    """By part: how often its instance is recognised, hidden ones included."""
    training_birds: int
    test_birds: int
    reached_gate: bool | None
    """True if ``validation_accuracy`` meets the requirement; None without a requirement."""
    seconds: float
    """Wall-clock time of all epochs."""
    epochs: list[EpochRecord]


class Held(NamedTuple):
    """Birds of a split that are at hand."""

    pixels: NDArray[np.uint8]
    """(n, height, width, 3), mapped from a file."""
    classes: Tensor
    """(n,) int64."""
    instances: Tensor
    """(n, 5) int64, -1 where a part is removed."""


class Batch(NamedTuple):
    """Some birds of a split, as the network takes them, and which they are."""

    inputs: Tensor
    held: Held
    rows: Tensor


class BirdTraining(ScheduledTraining[Batch]):
    """A network that learns the parts of birds."""

    def __init__(self, recipe: BirdSettings, network: Module, site: TrainingSite) -> None:
        if not isinstance(network, ByParts):
            raise ModelError(
                f"the recipe part_classifier trains no {type(network).__name__}: give the model "
                "'architecture: factory:decaf.studies.attribution.networks:by_parts' and the "
                "backbone's as 'arguments: {architecture: …, arguments: …}'"
            )
        if recipe.initial_weights is not None:
            load_into(network.backbone, recipe.initial_weights, may_keep_head=True)
        network.members = _members(network, class_parts(recipe.root))
        super().__init__(network, site.device, recipe)
        self._recipe, self._site, self._by_parts = recipe, site, network
        self._training, self._test = (self._load_split(split) for split in ("train", "test"))
        if recipe.initial_weights is not None and recipe.norm_birds:
            begin_with_statistics(network.backbone, self._spread(recipe.norm_birds))

    def train(self) -> BirdOutcome:
        """Train, or resume after the last whole epoch; return the outcome."""
        return self._outcome(self.run(Progress(self._site.scratch, holds_all=False)))

    def batches(self, epoch: int) -> tuple[int, Iterable[Batch]]:
        """Every training bird once, in random order, flipped and shifted."""
        import torch

        parts = torch.randperm(len(self._training.classes)).split(self._recipe.batch_size)
        return len(parts), (self._batch(self._training, part, self._recipe.shift) for part in parts)

    def loss(self, batch: Batch) -> Loss:
        """Mean cross-entropy over the parts that the birds have; classes that are right."""
        import torch
        from torch.nn.functional import cross_entropy

        outputs = self._outputs_of_parts(batch.inputs)
        instances = batch.held.instances[batch.rows].to(self._device)
        losses = [
            cross_entropy(part, part_instances, ignore_index=REMOVED, reduction="sum")
            for part, part_instances in zip(
                outputs.split(self._by_parts.instances, 1), instances.T, strict=True
            )
        ]
        labels = batch.held.classes[batch.rows].to(self._device)
        count = (instances != REMOVED).sum().clamp(min=1)  # a batch may have no part at all
        mean = torch.stack(losses).sum() / count
        return classification_loss(self._by_parts.of_parts(outputs), labels)._replace(mean=mean)

    def measure(self) -> dict[str, Any]:
        """Over all test birds: the loss of classes, and how often classes and parts are right."""
        import torch

        rows = torch.arange(len(self._test.classes)).split(self._recipe.batch_size)
        outputs = torch.cat(
            [self._outputs_of_parts(self._batch(self._test, part).inputs) for part in rows]
        )
        measured = classification_loss(
            self._by_parts.of_parts(outputs), self._test.classes.to(self._device)
        )
        each = zip(outputs.split(self._by_parts.instances, 1), self._test.instances.T, strict=True)
        right = [
            float((part.argmax(1).cpu() == part_instances).double().mean())
            for part, part_instances in each
        ]
        return {
            "validation_loss": float(measured.mean),
            "validation_accuracy": int(measured.correct) / measured.rows,
            "part_accuracy": dict(zip(PARTS, right, strict=True)),
        }

    def keep(self, records: Sequence[EpochRecord]) -> None:
        """Keep the epoch where the configuration asks for it."""
        if len(records) in self._recipe.kept_epochs:
            self._site.keep(len(records), self.network, self._outcome(records)._asdict())

    def _spread(self, count: int) -> Iterator[Tensor]:
        """So many training birds, evenly spread over their list, as the network takes them."""
        import torch

        birds = len(self._training.classes)
        rows = torch.linspace(0, birds - 1, min(count, birds)).long()
        for some in rows.split(self._recipe.batch_size):
            yield self._batch(self._training, some).inputs

    def _outputs_of_parts(self, inputs: Tensor) -> Tensor:
        with forward_precision(self._precision, self._device):
            outputs = self._by_parts.backbone(inputs).float()
        output_count = sum(self._by_parts.instances)
        if outputs.shape != (len(inputs), output_count):
            raise ModelError(
                f"the backbone returned shape {tuple(outputs.shape)} for {len(inputs)} birds; "
                f"expected {(len(inputs), output_count)}, an output for every instance of a part"
            )
        return outputs

    def _batch(self, held: Held, rows: Tensor, shift: int | None = None) -> Batch:
        import torch

        pixels = held.pixels[rows.numpy()]
        if shift is not None:
            pixels = _augment(pixels, shift)
        images = torch.from_numpy(pixels).to(self._device).permute(0, 3, 1, 2).float() / 255
        return Batch(self._site.preprocessing(images), held, rows)

    def _load_split(self, split: Split) -> Held:
        import torch

        pictures, classes, instances = birds(self._recipe.root, split)
        pixels = open_inputs(store_inputs(self._site.scratch, pictures, _read))
        return Held(pixels, torch.from_numpy(classes), torch.from_numpy(instances))

    def _outcome(self, records: Sequence[EpochRecord]) -> BirdOutcome:
        last, gate = records[-1], self._recipe.gate
        return BirdOutcome(
            validation_accuracy=last["validation_accuracy"],
            part_accuracy=last["part_accuracy"],
            training_birds=len(self._training.classes),
            test_birds=len(self._test.classes),
            reached_gate=None if gate is None else last["validation_accuracy"] >= gate,
            seconds=sum(record["seconds"] for record in records),
            epochs=list(records),
        )


def _read(picture: Input) -> NDArray[np.uint8]:
    return np.asarray(read_photo(Path(picture.location)))


def _members(network: ByParts, classes: NDArray[np.int64]) -> Tensor:
    """(classes, 5) output of the backbone that each part of a class is."""
    import torch

    most = classes.max(0).tolist()
    fits = len(network.instances) == len(most) and all(map(lt, most, network.instances))
    if len(classes) != len(network.members) or not fits:
        raise ModelError(
            f"the network has {len(network.members)} classes of parts with "
            f"{list(network.instances)} instances; classes.json has {len(classes)}, of parts with "
            f"{[n + 1 for n in most]} instances or more: correct 'classes' and 'instances' in "
            "'arguments:'"
        )
    return torch.from_numpy(classes + np.cumsum([0, *network.instances[:-1]]))


def _augment(pixels: NDArray[np.uint8], shift: int) -> NDArray[np.uint8]:
    """(n, height, width, 3): half of them mirrored, each moved; edges are repeated.

    From torch's generator, so that a seed gives them again.
    """
    import torch

    height, width = pixels.shape[1:3]
    flips = (torch.rand(len(pixels)) < 0.5).tolist()
    moves = torch.randint(2 * shift + 1, (len(pixels), 2)).tolist()
    padded = np.pad(pixels, ((0, 0), (shift, shift), (shift, shift), (0, 0)), mode="edge")
    return np.stack(
        [
            image[top : top + height, left_edge : left_edge + width][:, :: -1 if flip else 1]
            for image, (top, left_edge), flip in zip(padded, moves, flips, strict=True)
        ]
    )
