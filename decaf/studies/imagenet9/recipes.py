"""Fine-tune a classifier on one version of the ImageNet-9 photos (paper, appendix F).

The four regimes differ in the background: its own, a random one, that of the next class, none.
They make models that depend on the background in different degrees and directions.
"""

from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from decaf.foundation.arrays import Module
from decaf.foundation.readiness import Check
from decaf.foundation.settings import LARGEST_SEED, PlacedPath, fault, require_keys
from decaf.models import architectures
from decaf.models.checkpoint import SAFETENSORS, check_header, load_into
from decaf.models.recipes.base import ScheduledRecipe, TrainingSite
from decaf.studies.imagenet9.challenge_files import CLASSES
from decaf.studies.imagenet9.training_photos import Regime, Split, TrainingPhotos


class StartingWeights(NamedTuple):
    """Weights of a network before fine-tuning; a call checks that they exist."""

    architecture: str
    file: Path | None
    entry: str | None
    prefix: str | None
    pretrained: str | None
    checkpoints: Path | None

    def find(self) -> architectures.Weights:
        """The weights; raises BadInput when they are published and not here, or unknown."""
        return architectures.weights(
            self.architecture, self.file, self.pretrained, self.checkpoints
        )

    def __call__(self) -> tuple[str, ...]:
        """Look for the file, and at its beginning."""
        check_header(self.find().file)
        return ()

    def load(self, network: Module) -> None:
        """Load them; an output layer of another size keeps its values."""
        file, _, adapt = self.find()
        load_into(network, file, self.entry, self.prefix or "", adapt, may_keep_head=True)


class FineTuningOutcome(NamedTuple):
    """Outcome of a fine-tuning; accuracies are shares of photos of the same regime."""

    best_epoch: int
    """The epoch whose weights were kept: best on the validation photos, the first of equals."""
    validation_accuracy: float
    """Accuracy after that epoch."""
    training_photos: int
    validation_photos: int
    seconds: float
    """Wall-clock time of all epochs."""
    epochs: list[dict[str, Any]]
    """Records of all epochs (``decaf.models.training.progress.EpochRecord``)."""


class ImageNet9FineTune(ScheduledRecipe):
    """Fine-tune one model on ImageNet-9; defaults are those of the paper's CNNs."""

    recipe: Literal["imagenet9_fine_tune"] = Field(description="this recipe")
    root: PlacedPath = Field(description="folder that holds `bg_challenge/`, or that folder")
    regime: Regime = Field(description="version of the photos to train on")
    part: Literal["train", "val"] = Field("train", description="subfolder of the version to use")
    splits: tuple[Split, ...] = Field(
        ("score", "deep", "outcome"),
        min_length=1,
        description="hashed splits of the foregrounds to train on; other splits stay unseen",
    )
    seed: int = Field(
        ge=0, le=LARGEST_SEED, description="draws the output layer, the order, crops and flips"
    )
    entry: str | None = Field(
        None, description="entry of a torch file in `initial_weights` that holds the state dict"
    )
    prefix: str | None = Field(
        None, description="prefix to remove from tensor names in `initial_weights`"
    )
    pretrained: str | None = Field(
        None, description="published weights to start from, as `pretrained:` of a model"
    )
    checkpoints: PlacedPath | None = Field(
        None, description="folder of published weights; the library's own cache when absent"
    )
    epochs: int = Field(8, ge=1, le=100_000, description="passes over the training images")
    crop_scale: tuple[float, float] = Field(
        (0.7, 1.0), description="smallest and largest share of the area in a random crop"
    )
    validation_share: float = Field(
        0.1, gt=0, lt=1, description="share of the foregrounds, by hash, that choose the epoch"
    )

    @model_validator(mode="after")
    def _usable(self) -> "ImageNet9FineTune":
        if (self.initial_weights is None) == (self.pretrained is None):
            raise fault("give exactly one of 'initial_weights' (a file) and 'pretrained' (a tag)")
        low, high = self.crop_scale
        if not 0 < low <= high <= 1:
            raise fault(
                f"'crop_scale' is {list(self.crop_scale)}; expected two shares, "
                "0 < smallest <= largest <= 1"
            )
        start = self.initial_weights
        is_torch_file = start is not None and start.suffix != SAFETENSORS
        require_keys(
            [
                ("checkpoints", self.checkpoints is None or start is None, "'pretrained'"),
                ("entry", self.entry is None or is_torch_file, "a torch file in 'initial_weights'"),
                ("prefix", self.prefix is None or start is not None, "'initial_weights'"),
            ]
        )
        return self

    def checks(self, architecture: str) -> tuple[Check, ...]:
        """Photos to train on and to validate with, and what to start from."""
        return self.photos, self._start(architecture)

    def train(self, network: Module, site: TrainingSite) -> FineTuningOutcome:
        """Train a network in place and leave it with the weights of the best epoch.

        Every whole epoch is kept: a training that was stopped goes on from there. Raises DataError
        when a folder is missing, a photo is damaged, or training or validation has no photo,
        ModelError when the initial weights are not there or do not fit, the network has not nine
        outputs, or its loss is not finite, and WriteFailed when an epoch cannot be written.

        The network maps preprocessed photos (n, 3, 224, 224), or of the card's size, to (n, 9)
        logits.
        """
        from decaf.models.training.fine_tuning import FineTuning, Photos
        from decaf.models.training.photos import Augmentation
        from decaf.models.training.progress import Progress

        training, validation = self.photos.find()
        self._start(site.architecture).load(network)
        progress = Progress(site.scratch)
        photos = Photos(training, validation, Augmentation(self.crop_scale, flip_probability=0.5))
        records = FineTuning(
            network, site.preprocessing, site.device, len(CLASSES), self, photos
        ).run(progress)
        for epoch in self.kept_epochs:
            progress.load(network, epoch)
            site.keep(epoch, network, records[epoch - 1])
        best = max(records, key=lambda record: record["validation_accuracy"])
        progress.load(network, best["epoch"])
        network.eval()
        return FineTuningOutcome(
            best_epoch=best["epoch"],
            validation_accuracy=best["validation_accuracy"],
            training_photos=len(training),
            validation_photos=len(validation),
            seconds=sum(record["seconds"] for record in records),
            epochs=records,
        )

    @property
    def photos(self) -> TrainingPhotos:
        """Photos to train on, and photos that choose the epoch."""
        return TrainingPhotos(self.root, self.regime, self.part, self.splits, self.validation_share)

    def _start(self, architecture: str) -> StartingWeights:
        return StartingWeights(
            architecture,
            self.initial_weights,
            self.entry,
            self.prefix,
            self.pretrained,
            self.checkpoints,
        )
