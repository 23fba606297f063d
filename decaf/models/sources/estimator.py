"""An estimator of scikit-learn or XGBoost, from a file that runs no code when it is opened."""

import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from decaf.errors import ModelError
from decaf.foundation.digests import json_sha256
from decaf.foundation.plugins import one_of
from decaf.foundation.settings import PlacedPath
from decaf.foundation.strangers import code_of
from decaf.models.array_model import ArrayModel
from decaf.models.card import Model
from decaf.models.estimator import Method, open_skops, open_xgboost
from decaf.models.recipes.base import EstimatorRecipe
from decaf.models.trainable import TrainableCard
from decaf.models.training.estimator import SKOPS, fit_estimator, read_outcome

Fitting = one_of(EstimatorRecipe)
XGBOOST = (".json", ".ubj")
SKOPS_SCHEMA = "schema.json"
LONGEST_END = 16
"""Bytes in which a file must end, white space included."""


class EstimatorCard(TrainableCard):
    """A scikit-learn estimator saved by skops, or an XGBoost model in its own format.

    It is given rows of float32 numbers; images are flattened channel by channel, row by row.
    """

    source: Literal["estimator"]
    file: PlacedPath | None = Field(
        None, description="`.skops` file (scikit-learn), or `.json` or `.ubj` file (XGBoost)"
    )
    training: Fitting | None = Field(
        None, description="recipe that makes the estimator when there is no file"
    )
    sha256: str | None = Field(None, description="expected digest of the file")
    method: Method = Field(
        "predict_proba",
        description="what is called: `predict_proba` gives probabilities; `decision_function` "
        "logits, or one value where there are two classes or none; `predict` one value",
    )
    classes: tuple[int | str, ...] | None = Field(
        None,
        description="what the estimator calls the study's classes 0, 1, …; needed where it does "
        "not call them 0, 1, …",
    )
    trusted: tuple[str, ...] = Field(
        (), description="types in a skops file that are trusted beyond those that skops knows"
    )

    @model_validator(mode="after")
    def _one_source(self) -> "EstimatorCard":
        if (self.file is None) == (self.training is None):
            raise PydanticCustomError(
                "file", "give exactly one of 'file' and 'training' (a recipe)"
            )
        return self

    @property
    def origin(self) -> str:
        """Name of the file, or of the recipe and what it fits."""
        return f"estimator:{self.training.origin if self.training else self.file.name}"

    @property
    def known_types(self) -> tuple[str, ...]:
        """Types that may be in a skops file: those of the card, and those that its recipe makes."""
        return (*self.trusted, *(self.training.trusted if self.training else ()))

    @property
    def feeding_digest(self) -> str:
        """Digest of what is called, and of the order of classes."""
        return json_sha256(["estimator", self.method, self.classes])

    def weights_digest(self, workspace: Path) -> str:
        """Digest of the file, whose kind is checked."""
        path = self._path(workspace)
        _check_header(path)
        return self._file_digest(path, self.sha256)

    def load(self, workspace: Path, device: str) -> Model:
        """Open the file; estimators run on the CPU, whatever the device."""
        path = self._path(workspace)
        _check_header(path)
        opened = (open_skops if path.suffix == SKOPS else open_xgboost)(self, path)

        def answer(inputs: NDArray[np.float32]) -> NDArray:
            return opened.in_order(opened.answer(inputs.reshape(len(inputs), -1)))

        name = f"model {self.id}, {self.method} of {path}"
        return ArrayModel(answer, opened.output, name, opened.estimator)

    @property
    def recipe_digest(self) -> str:
        """Digest of the recipe."""
        return json_sha256(self.training.model_dump(mode="json") | code_of(self.training))

    @property
    def trained_suffix(self) -> str:
        """As the recipe says."""
        return self.training.suffix

    def train(self, workspace: Path, device: str) -> None:
        """Fit by the recipe, on the CPU whatever the device; the outcome lies beside the file."""
        fit_estimator(self.training, self.trained_file(workspace))

    def training_outcome(self, path: Path) -> dict[str, Any] | None:
        """From the file beside the estimator's."""
        return read_outcome(path)

    def _path(self, workspace: Path) -> Path:
        return self.trained_file(workspace) if self.file is None else self.file


def _check_header(path: Path) -> None:
    """Check that a file is there and of the kind that its suffix says; opens nothing else."""
    try:
        with path.open("rb") as file:
            start = file.read(1)
            file.seek(max(0, path.stat().st_size - LONGEST_END))
            end = file.read().rstrip()[-1:]
    except OSError as error:
        raise ModelError(
            f"estimator {path} cannot be read: {error.strerror}; put the file there, or correct "
            "'file:'"
        ) from error
    if path.suffix == SKOPS:
        is_whole = zipfile.is_zipfile(path) and SKOPS_SCHEMA in zipfile.ZipFile(path).namelist()
    else:
        # XGBoost itself crashes the process on a file that is cut short.
        is_whole = path.suffix in XGBOOST and (start, end) == (b"{", b"}")
    if not is_whole:
        raise ModelError(
            f"{path} is not a whole file of an estimator that can be opened without running code "
            "that it brings along; expected .skops, written by skops.io.dump(estimator, path), or "
            ".json or .ubj, written by XGBoost's save_model(path). A pickle or joblib file is "
            "never opened: convert it where you trust it"
        )
