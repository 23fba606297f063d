"""The model card: everything that is needed to find a model and to prepare its inputs, as data."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from pydantic import Field, model_validator

from decaf.data.frames import FrameSchema
from decaf.errors import ModelError, abridge
from decaf.foundation.arrays import Device, Tensor
from decaf.foundation.digests import file_sha256, json_sha256
from decaf.foundation.place import Place
from decaf.foundation.readiness import Check
from decaf.foundation.settings import Settings, ShownName, fault
from decaf.models.stochastic import Stochastic

Output = Literal["logits", "probabilities", "value"]
"""Kind of a model's outputs: scores of classes before or after the softmax, or a number."""


class Model(Protocol):
    """A loaded model: raw inputs to raw outputs, which the score definition turns into scores."""

    output: Output
    device: Device
    """Device that inputs have to be on."""

    def outputs(self, inputs: Tensor) -> Tensor:
        """Compute the outputs of a batch.

        (n, channels, height, width) float32 in [0, 1], or other (n, …) float32 or float64 →
        (n, outputs) float; no gradient.
        """
        ...


class ModelCard(Settings, ABC):
    """Base class of the cards of all sources."""

    place: ClassVar[Place] = Place("source", room="decaf.models.sources", tag="source")
    has_gradients: ClassVar[bool] = True
    """False if no model has ``differentiable_outputs``; planning then refuses gradient methods."""

    takes_seeds: ClassVar[bool] = False
    """True if a model of this source accepts the seed of a query."""

    if TYPE_CHECKING:
        source: str  # every member annotates it with its own name

    is_remote: ClassVar[bool] = False
    """True if the model is served by another process; planning never calls it."""

    id: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$",
        max_length=120,
        description="name of the model in the study, `architecture.tag` by convention",
    )
    family: ShownName = Field(
        "models", description="family of models, for grouping, such as `forest` or `resnet`"
    )
    timeout: float | None = Field(
        600.0,
        gt=0,
        le=1e6,
        description="time limit of loading and of each forward pass, s; if it is exceeded, the "
        "worker ends and the model fails; `null` for no limit",
    )

    stochastic: Stochastic | None = Field(
        None,
        description="repeated queries, for a model whose score of an input differs between "
        "queries; without this key, such a model fails",
    )

    @model_validator(mode="after")
    def _check_seed(self) -> "ModelCard":
        if self.stochastic and self.stochastic.seed and not self.takes_seeds:
            raise fault(
                "'seed' needs a source that passes seeds on, such as 'source: function'; leave it "
                "out",
                "stochastic",
            )
        return self

    @property
    def query_count(self) -> int:
        """Number of queries per input."""
        return self.stochastic.repeats if self.stochastic else 1

    @property
    @abstractmethod
    def origin(self) -> str:
        """Origin of the model, as ``source:name``, for people."""

    @property
    def asks_for_frames(self) -> bool:
        """True if the model accepts only data frames."""
        return False

    @property
    @abstractmethod
    def preprocessing_digest(self) -> str:
        """Digest of everything on the card that changes outputs, except the weights."""

    @property
    def libraries(self) -> tuple[str, ...]:
        """Modules that loading the model imports, in the fastest import order."""
        return ()

    @property
    def scoring_digest(self) -> str:
        """Digest of everything on the card that changes scores, except the weights."""
        if self.stochastic is None:
            return self.preprocessing_digest
        return json_sha256([self.preprocessing_digest, self.stochastic.model_dump(mode="json")])

    @abstractmethod
    def weights_digest(self) -> str:
        """Digest of the scored model, computed only from files.

        Raises ModelError when a file is missing, of another kind, or not the one that the card
        expects.
        """

    @abstractmethod
    def load(self, device: str) -> Model:
        """Load the model.

        Raises BadInput when the files do not contain the model that the card describes.
        """

    def load_for(self, device: str, columns: FrameSchema | None) -> Model:
        """Load the model for a data set; ``columns`` describe a table, None for other data.

        A model that was fitted on a frame is called with frames, by the names of its columns; other
        models are called with arrays, if each column of the table is one number. Raises BadInput as
        ``load`` does, and ModelError when the model takes neither frames nor the table as an array.
        """
        if columns is None and self.asks_for_frames:
            raise ModelError(
                f"model {self.id} takes data frames, but the data are not a table with named "
                "columns: correct 'input:' or 'encoding:' of its card"
            )
        if columns is not None:
            self.check_columns(columns)
        model = self.load(device)
        if columns is None:
            return model
        frame_model = model.of_frames(columns) if hasattr(model, "of_frames") else None
        if frame_model is None and columns.non_number_names:
            raise ModelError(
                f"model {self.id} takes arrays of numbers, but the columns "
                f"{abridge(columns.non_number_names)} are categories or have missing values; give "
                "an estimator that was fitted on a pandas DataFrame, a function with 'input: "
                "frame', which can call this model with frame.to_numpy(), or an endpoint with "
                "'encoding: records', or name these columns under 'drop:'"
            )
        return frame_model or model

    def check_columns(self, columns: FrameSchema | None) -> tuple[str, ...]:
        """Compare the columns of a table with those of the model, without loading it.

        Returns remarks. Raises ModelError when the model cannot be called with such columns.
        """
        return self.remark_columns(columns)

    def remark_columns(self, columns: FrameSchema | None) -> tuple[str, ...]:
        """Remark on columns whose values the model gets in another form than the table has."""
        return ()

    def checks(self) -> tuple[Check, ...]:
        """Checks to run before any work begins."""

        def check_weights() -> tuple[str, ...]:
            self.weights_digest()
            return ()

        return (check_weights,)

    def training_record(self) -> str | None:
        """Recipe and outcome of the study's own training of the model, as JSON; else None."""
        return None

    def _check_file_digest(self, path: Path, expected: str | None) -> str:
        digest = file_sha256(path)
        if expected is not None and digest != expected:
            raise ModelError(
                f"{path} has sha256 {digest}; the configuration expects "
                f"{expected}; get the right file, or correct 'sha256:'"
            )
        return digest
