"""A torch network: an architecture, weights and preprocessing."""

import json
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import Field, model_validator

from decaf.errors import BadInput, ModelError
from decaf.foundation.arrays import Device, Module, Tensor, as_real
from decaf.foundation.digests import json_sha256
from decaf.foundation.plugins import OneOf
from decaf.foundation.readiness import Check
from decaf.foundation.settings import PlacedPath, fault, require_keys
from decaf.models import architectures
from decaf.models.card import Model, Output
from decaf.models.checkpoint import SAFETENSORS, check_header, content_sha256, load_into
from decaf.models.compilation import CompileMode, compile_network, compiling
from decaf.models.epoch_rules.base import EpochRule
from decaf.models.network_faults import check_row_count, raise_layer_mismatch
from decaf.models.precision import Precision, forward_precision
from decaf.models.preprocessing import (
    LARGEST_SIDE,
    Interpolation,
    Mean,
    MemoryFormat,
    Preprocessing,
    Resizing,
    Std,
)
from decaf.models.recipes.base import NetworkRecipe
from decaf.models.stored_tensors import StoredTensors
from decaf.models.trainable import TrainableCard
from decaf.models.training.files import epoch_file

Training = Annotated[NetworkRecipe, OneOf(NetworkRecipe)]
ChosenBy = Annotated[EpochRule, OneOf(EpochRule)]
INPUT_FIELDS = {"input_size", "mean", "std", "memory_format"}
"""Fields that determine a network's inputs, in training as in an audit."""
RESIZING = {"shorter_side", "interpolation"}
"""Further such fields, part of a digest only if they differ from their defaults."""
OPTIONAL_OUTPUT_FIELDS = {"compile_mode", "leave_out"}
"""Fields that change outputs but no training; part of a digest only if they are set."""
PUBLISHED = {"input_size", "mean", "std"}
"""Fields that the library itself states for the weights that it publishes."""
OUTPUT_FIELDS = INPUT_FIELDS | {"precision", "output", "entry", "prefix"}
"""Fields that change outputs, in addition to the architecture and the file."""


class NetworkCard(StoredTensors, TrainableCard):
    """A torch network with weights from a file, a library's cache, or a training recipe."""

    source: Literal["network"] = "network"
    architecture: str = Field(
        description="`torchvision:NAME`, `timm:NAME`, `efficientnet_lite:NAME` or "
        "`factory:package.module:function`"
    )
    arguments: dict[str, Any] = Field({}, description="keyword arguments of the architecture")
    weights: PlacedPath | None = Field(
        None, description="file with the state dict: safetensors, or torch (`.pt`, `.pth`, …)"
    )
    pretrained: str | None = Field(
        None,
        description="published weights instead of a file, already on this machine: an entry of "
        "torchvision's enum, as `IMAGENET1K_V2`, timm's tag, as `a1_in1k`, or `in1k`",
    )
    checkpoints: PlacedPath | None = Field(
        None, description="folder of published weights; the library's own cache when absent"
    )
    sha256: str | None = Field(None, description="expected sha256 of the weight file")
    trained_suffix: ClassVar = SAFETENSORS
    training: Training | None = Field(
        None, description="recipe that trains the weights, if there is no file"
    )
    input_size: int | None = Field(
        gt=0,
        le=LARGEST_SIDE,
        description="side of the input in px; other sizes are resized. `null`: images keep their "
        "size, or inputs are not images. With `pretrained`, the default is that of the library's "
        "data configuration, as for `mean` and `std`",
    )
    shorter_side: int | None = Field(
        None,
        gt=0,
        le=LARGEST_SIDE,
        description="px to which the shorter side is resized, the longer side rounded down; the "
        "central square of `input_size` is kept. When absent, the whole image becomes that square",
    )
    interpolation: Interpolation = Field(
        "bilinear",
        description="interpolation when images are resized: `bilinear` is antialiased, `nearest` "
        "takes the nearest pixel",
    )
    mean: Mean = Field(
        min_length=1,
        description="subtracted from inputs in [0, 1]: one for each channel (or feature), or one",
    )
    std: Std = Field(
        min_length=1,
        description="divisor of inputs after the subtraction; as many numbers as `mean`",
    )
    precision: Precision = Field(
        "float32",
        description="precision of the forward pass: exact, `tf32` (on a GPU), or autocast to 16 "
        "bits",
    )
    memory_format: MemoryFormat = Field(
        "contiguous", description="layout of images in the forward pass"
    )
    compile_mode: CompileMode | None = Field(
        None,
        description="mode of `torch.compile`: `default`, or `reduce-overhead` with CUDA graphs on "
        "a GPU; not compiled when absent",
    )
    output: Output = Field("logits", description="kind of the network's outputs")
    epoch: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="epoch of the training to audit, one of its `keep_epochs`; the final weights "
        "when absent",
    )
    epoch_rule: ChosenBy | None = Field(
        None,
        description="rule that chooses epochs among `keep_epochs` once they are measured; each is "
        "audited as `ID@eNN`",
    )

    @model_validator(mode="before")
    @classmethod
    def _preprocessing_of_the_library(cls, given: Any) -> Any:
        """Fill in settings of published weights that the card leaves out."""
        named = isinstance(given, dict) and given.get("pretrained")
        if not named or not PUBLISHED - given.keys():
            return given
        try:
            return architectures.preprocessing(str(given.get("architecture")), str(named)) | given
        except BadInput as error:
            raise fault(str(error)) from error

    @model_validator(mode="after")
    def _one_source_of_weights(self) -> "NetworkCard":
        if (
            sum(
                weight_source is not None
                for weight_source in (self.weights, self.pretrained, self.training)
            )
            != 1
        ):
            raise fault(
                "give exactly one of 'weights' (a file), 'pretrained' (a tag) and 'training' (a "
                "recipe)"
            )
        return self

    @model_validator(mode="after")
    def _keys_that_belong_together(self) -> "NetworkCard":
        is_torch_file = self.weights is not None and self.weights.suffix != SAFETENSORS
        require_keys(
            [
                ("entry", self.entry is None or is_torch_file, "a torch file in 'weights'"),
                ("prefix", self.prefix is None or self.weights is not None, "'weights'"),
                ("leave_out", not self.leave_out or self.weights is not None, "'weights'"),
                ("checkpoints", self.checkpoints is None or bool(self.pretrained), "'pretrained'"),
                ("std", len(self.std) == len(self.mean), "as many numbers as 'mean'"),
                (
                    "shorter_side",
                    not self.shorter_side or 0 < (self.input_size or 0) <= self.shorter_side,
                    "'input_size' of at most that",
                ),
                (
                    "interpolation",
                    self.interpolation == "bilinear" or self.input_size is not None,
                    "'input_size'",
                ),
                (
                    "epoch",
                    self.epoch is None or self.epoch in self.kept_epochs,
                    f"'training' that keeps epoch {self.epoch}, with 'keep_epochs:' (found "
                    f"{list(self.kept_epochs) or 'none that is kept'})",
                ),
                (
                    "epoch_rule",
                    self.epoch_rule is None or self._keeps(self.epoch_rule),
                    "'training' with 'keep_epochs:' that has all epochs of the rule",
                ),
            ]
        )
        if self.epoch is not None and self.epoch_rule is not None:
            raise fault("give 'epoch' (one epoch) or 'epoch_rule' (which chooses some), not both")
        return self

    def _keeps(self, rule: EpochRule) -> bool:
        return bool(self.kept_epochs) and {*rule.needed_epochs} <= {*self.kept_epochs}

    @property
    def origin(self) -> str:
        """Source and name of the architecture."""
        return self.architecture

    @property
    def libraries(self) -> tuple[str, ...]:
        """Library of the architecture, unless it is decaf's own."""
        library = self.architecture.partition(":")[0]
        return (library,) if library in ("timm", "torchvision") else ()

    @property
    def training_parts(self) -> dict[str, str]:
        """Architecture, preprocessing and start of the training, in addition to its recipe."""
        return {
            "architecture": json.dumps(self._architecture(), sort_keys=True),
            "preprocessing": json_sha256(self._dump_settings(INPUT_FIELDS, RESIZING)),
            "start": self._recipe.start_digest or "",
            **super().training_parts,
        }

    @property
    def kept_epochs(self) -> tuple[int, ...]:
        """Kept epochs of the recipe."""
        return () if self.training is None else self.training.kept_epochs

    @property
    def chooser(self) -> EpochRule | None:
        """The card's own rule."""
        return self.epoch_rule

    def with_checkpoint(self, file: Path) -> Self:
        """The card with the file of its epoch, found from the file of the final weights."""
        return super().with_checkpoint(file if self.epoch is None else epoch_file(file, self.epoch))

    def at_epoch(self, epoch: int) -> Self:
        """One epoch of the training as a separate model."""
        name = f"{self.id}@e{epoch:02d}"
        return self.model_copy(update={"id": name, "epoch": epoch, "epoch_rule": None})

    @property
    def preprocessing_digest(self) -> str:
        """Digest of architecture, preprocessing, precision and compilation: all but the weights."""
        settings = self._dump_settings(OUTPUT_FIELDS, RESIZING | OPTIONAL_OUTPUT_FIELDS)
        return json_sha256([self._architecture(), self.pretrained, settings])

    def _dump_settings(self, fields: set[str], unusual: set[str]) -> dict[str, Any]:
        """Some fields, and other fields that differ from their defaults."""
        unusual_settings = self.model_dump(mode="json", include=unusual, exclude_defaults=True)
        if "shorter_side" in unusual_settings:
            unusual_settings["crop"] = "torchvision"  # where earlier results took other pixels
        return self.model_dump(mode="json", include=fields) | unusual_settings

    def preprocessing(self, device: Device) -> Preprocessing:
        """Preprocessing of inputs on a device, in training as in an audit."""
        return Preprocessing(
            Resizing(self.input_size, self.shorter_side, self.interpolation),
            self.mean,
            self.std,
            self.memory_format,
            self.id,
            device,
        )

    @property
    def weights_file(self) -> Path:
        """File of the weights.

        Raises BadInput when published weights are not on this machine, or the card is untrained.
        """
        return self._weights().file

    def weights_digest(self) -> str:
        """Digest of the weights; imports torch only for ``pretrained``."""
        path = self.weights_file
        check_header(path)
        if self.sha256 is not None:
            self._check_file_digest(path, self.sha256)
        return content_sha256(path)

    def checks(self) -> tuple[Check, ...]:
        """Checks as for all trainable cards, and of the preprocessing of published weights."""
        return (*super().checks(), *((self._is_as_published,) if self.pretrained else ()))

    def _is_as_published(self) -> tuple[str, ...]:
        settings = {key: getattr(self, key) for key in PUBLISHED}
        return tuple(
            f"model {self.id} {difference}: wrong preprocessing silently changes results"
            for difference in architectures.not_as_published(
                self.architecture, self.pretrained or "", settings
            )
        )

    def load(self, device: str) -> Model:
        """Build the network, load its weights and put it on a device."""
        import torch

        weights = self._weights()
        network = architectures.build(self.architecture, weights.arguments | self.arguments)
        names = self.entry, self.prefix or "", weights.adapt
        load_into(network, weights.file, *names, leave_out=self.leave_out)
        return NetworkModel(network, self, torch.device(device))

    def load_untrained(self, device: str) -> Model:
        """Build the network with random weights, for checks before its training."""
        import torch

        network = architectures.build(self.architecture, self.arguments)
        return NetworkModel(network, self, torch.device(device))

    @property
    def _recipe(self) -> NetworkRecipe:
        """Recipe of a network that the study trains."""
        return cast("NetworkRecipe", self.training)

    def training_checks(self) -> tuple[Check, ...]:
        """Checks of the recipe, for this architecture."""
        return self._recipe.checks(self.architecture)

    def train(self, file: Path, device: str) -> None:
        """Train by the recipe; the outcome lies next to every checkpoint."""
        import torch

        from decaf.models.training.network import train_network

        place = torch.device(device)
        inputs = self.preprocessing(place)
        train_network(self.architecture, self.arguments, self._recipe, inputs, place, file)

    def _weights(self) -> architectures.Weights:
        file = self.weights if self.training is None else self.trained_file
        return architectures.weights(self.architecture, file, self.pretrained, self.checkpoints)

    def _architecture(self) -> list[Any]:
        return [self.architecture, architectures.identity(self.architecture), self.arguments]


class NetworkModel:
    """Raw inputs → float32 outputs, in inference mode, of a network for normalised inputs.

    The card sets the preprocessing of inputs, the precision of the network and the kind of its
    outputs.
    """

    def __init__(self, network: Module, card: NetworkCard, device: Device) -> None:
        import torch

        self.output = card.output
        self.device = device
        self._card = card
        self._preprocessing = card.preprocessing(device)
        if any(tensor.is_complex() for tensor in network.state_dict().values()):
            raise ModelError(
                f"model {card.id}: the network has complex weights, whose imaginary parts would be "
                "lost: networks run in float32"
            )
        self._network = network.to(device=device, dtype=torch.float32).to(
            memory_format=self._preprocessing.memory_format
        )
        # Only inputs need gradients: layers need not keep values for gradients of weights.
        self._network.eval().requires_grad_(False)
        if card.compile_mode is not None:
            self._network = compile_network(self._network, card.compile_mode)

    def outputs(self, inputs: Tensor) -> Tensor:
        """(n, channels, height, width) or other (n, …) floats → (n, outputs) float32.

        Raises ModelError when the card normalises another number of channels or features, when
        torch cannot compile the network, or when the network returns no tensor of real numbers.
        """
        import torch

        with torch.inference_mode():
            return self.differentiable_outputs(inputs)

    @property
    def normalisation(self) -> tuple[Mean, Std]:
        """Mean that is subtracted from inputs, and deviation by which they are divided."""
        return self._card.mean, self._card.std

    def differentiable_outputs(self, inputs: Tensor) -> Tensor:
        """The same as :meth:`outputs`; gradients with respect to the inputs flow through it."""
        import torch

        prepared = self._preprocessing(inputs)
        card = self._card
        with (
            forward_precision(card.precision, self.device),
            compiling(card.id, card.compile_mode),
        ):
            try:
                outputs = self._network(prepared)
            except RuntimeError as error:
                raise_layer_mismatch(self._network, prepared, card.id, error)
                raise
        if not isinstance(outputs, torch.Tensor):
            raise ModelError(
                f"model {card.id}: the network returned {type(outputs).__name__}; expected "
                "one tensor, (rows, outputs): wrap it in a factory of your own"
            )
        name = f"the output of model {card.id}"
        rows = check_row_count(outputs, len(inputs), card.id)
        real = as_real(rows, name, ModelError).float()
        # A CUDA graph writes each answer over the one before.
        return real.clone() if card.compile_mode else real
