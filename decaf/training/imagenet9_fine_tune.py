"""Fine-tune a classifier on one version of the ImageNet-9 photos (paper, appendix E).

The four regimes differ in the background: its own, a random one, that of the next class, none.
They make models that depend on the background in different degrees and directions.
"""

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from decaf import architectures
from decaf.data.imagenet9 import SPLIT_SEED, split_of, variant_files
from decaf.digests import hashed_share
from decaf.errors import DataError
from decaf.models.checkpoint import load_below_head, load_into, save
from decaf.models.precision import Precision
from decaf.settings import PlacedPath, Settings

if TYPE_CHECKING:
    import torch

    from decaf.fine_tuning.photos import Photo
    from decaf.models.training import TrainingSite

Split = Literal["score", "deep", "outcome"]


class FineTuningOutcome(NamedTuple):
    """What came out of a fine-tuning; accuracies are shares of photos of the same regime."""

    best_epoch: int
    """The epoch whose weights were kept: best on the validation photos, the first of equals."""
    validation_accuracy: float
    """Of that epoch."""
    training_photos: int
    validation_photos: int
    seconds: float
    """Wall-clock time of all epochs."""
    epochs: list[dict[str, Any]]
    """Records of all epochs (:class:`decaf.fine_tuning.progress.EpochRecord`)."""


class ImageNet9FineTune(Settings):
    """How to fine-tune one model on ImageNet-9; defaults are the paper's for its CNNs."""

    recipe: Literal["imagenet9_fine_tune"] = Field(description="this recipe")
    root: PlacedPath = Field(description="folder that holds `bg_challenge/` (or that folder)")
    regime: Literal["original", "mixed_rand", "mixed_next", "only_fg"] = Field(
        description="version of the photos to train on"
    )
    part: Literal["train", "val"] = Field("train", description="subfolder of the version to use")
    splits: tuple[Split, ...] = Field(
        ("score", "deep", "outcome"),
        min_length=1,
        description="train on foregrounds of these hashed splits only, so that others stay unseen",
    )
    seed: int = Field(ge=0, description="draws the output layer, the order, crops and flips")
    initial_weights: PlacedPath | None = Field(
        None, description="file with the state dict to start from; the output layer may differ"
    )
    pretrained: str | None = Field(
        None, description="published weights to start from, as `pretrained:` of a model"
    )
    checkpoints: PlacedPath | None = Field(
        None, description="folder of published weights; the library's own cache when absent"
    )
    epochs: int = Field(8, ge=1, description="passes over the training photos")
    warm_up_epochs: float = Field(1.0, ge=0, description="epochs of linearly rising rate")
    batch_size: int = Field(256, ge=1, description="photos per step")
    learning_rate: float = Field(3e-4, gt=0, description="largest rate of AdamW")
    weight_decay: float = Field(1e-4, ge=0, description="of AdamW")
    precision: Precision = Field("bfloat16", description="of the forward pass, as of a model")
    crop_scale: tuple[float, float] = Field(
        (0.7, 1.0), description="smallest and largest share of the area that a random crop keeps"
    )
    validation_share: float = Field(
        0.1, gt=0, lt=1, description="share of the foregrounds, by hash, that choose the epoch"
    )
    keep_epochs: tuple[int, ...] = Field(
        (), description="epochs whose weights are left beside the checkpoint"
    )

    @model_validator(mode="after")
    def _usable(self) -> "ImageNet9FineTune":
        if (self.initial_weights is None) == (self.pretrained is None):
            raise PydanticCustomError(
                "initial_weights",
                "give exactly one of 'initial_weights' (a file) and 'pretrained' (a tag)",
            )
        low, high = self.crop_scale
        if not 0 < low <= high <= 1:
            raise PydanticCustomError(
                "crop_scale", "'crop_scale' is two shares, 0 < smallest <= largest <= 1"
            )
        if self.checkpoints is not None and self.pretrained is None:
            raise PydanticCustomError("belongs_together", "'checkpoints' needs 'pretrained'")
        return self

    def train(self, network: "torch.nn.Module", site: "TrainingSite") -> FineTuningOutcome:
        """Train a network in place and leave it with the weights of the best epoch.

        Every whole epoch is kept: a training that was stopped goes on from there.

        Parameters
        ----------
        network
            Maps fed photos (n, 3, 224, 224) to (n, 9) logits, or as the card's size says.

        Raises
        ------
        DataError
            When a folder is missing, a photo is damaged, or training or validation has no photo.
        ModelError
            When the initial weights are not there or do not fit, the network has fewer than nine
            outputs, or its loss is not finite.
        WriteFailed
            When the disk refuses an epoch.
        """
        from decaf.fine_tuning.epochs import FineTuning, Schedule
        from decaf.fine_tuning.photos import Augmentation
        from decaf.fine_tuning.progress import Progress

        training, validation = self.photos()
        self._initialise(network, site.architecture)
        schedule = Schedule(
            self.epochs,
            self.warm_up_epochs,
            self.learning_rate,
            self.weight_decay,
            self.batch_size,
            self.precision,
            self.seed,
        )
        progress = Progress(site.scratch)
        fine_tuning = FineTuning(network, site.feeding, site.device, schedule)
        records = fine_tuning.run(
            training, validation, Augmentation(self.crop_scale, flip_probability=0.5), progress
        )
        for epoch in self.keep_epochs:
            if epoch <= self.epochs:
                load_into(network, progress.weights_file(epoch))
                kept = site.target.with_name(f"{site.target.stem}.epoch_{epoch}.safetensors")
                save(network, kept, {"decaf.epoch": json.dumps(epoch)})
        best = max(records, key=lambda record: record.validation_accuracy)
        load_into(network, progress.weights_file(best.epoch))
        network.eval()
        return FineTuningOutcome(
            best_epoch=best.epoch,
            validation_accuracy=best.validation_accuracy,
            training_photos=len(training),
            validation_photos=len(validation),
            seconds=sum(record.seconds for record in records),
            epochs=[record._asdict() for record in records],
        )

    def photos(self) -> "tuple[list[Photo], list[Photo]]":
        """Photos to train on and to validate with: disjoint foregrounds, the same for all regimes.

        Raises
        ------
        DataError
            When a folder is missing, or one of both would be empty.
        """
        from decaf.fine_tuning.photos import Photo

        training: list[Photo] = []
        validation: list[Photo] = []
        for source, path in variant_files(self.root, self.regime, self.part).items():
            if split_of(source) in self.splits:
                is_validation = (
                    hashed_share(f"{SPLIT_SEED}|validation|{source}") < self.validation_share
                )
                (validation if is_validation else training).append(Photo(path, int(source[:2])))
        if not training or not validation:
            raise DataError(
                f"{self.root}: {self.regime}/{self.part} has {len(training)} photos to train on "
                f"and {len(validation)} to validate with in the splits {', '.join(self.splits)}; "
                "expected some of both: use more splits, or another 'validation_share:'"
            )
        return training, validation

    def _initialise(self, network: "torch.nn.Module", architecture: str) -> None:
        """Load what training starts from; the output layer keeps the values that the seed drew."""
        if self.initial_weights is not None:
            load_below_head(network, self.initial_weights)
            return
        published = architectures.pretrained(architecture, self.pretrained, self.checkpoints)
        load_below_head(network, published.file, published.adapt)
