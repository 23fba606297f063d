"""Cards whose models the study may train itself."""

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self, cast

from pydantic import Field, PrivateAttr

from decaf.errors import ModelError
from decaf.foundation.readiness import Check
from decaf.foundation.settings import Settings
from decaf.foundation.third_party import code_of
from decaf.models.card import ModelCard
from decaf.models.epoch_rules.base import EpochRule
from decaf.models.training.files import read_outcome


class TrainableCard(ModelCard, ABC):
    """A card that can have a training recipe instead of a file.

    A card with a recipe is untrained until :meth:`trained` gives it the file that its training
    made. Several cards may have one training: those whose training parts are equal.
    """

    training: Settings | None = Field(None, description="recipe that makes the model")
    _file: Path | None = PrivateAttr(None)

    @property
    def training_parts(self) -> dict[str, str]:
        """Parts that determine the files of the training, by name.

        These are all keys of the recipe, as JSON, and the code of a third-party recipe.
        """
        keys = cast("Settings", self.training).model_dump(mode="json")
        parts = {name: json.dumps(value, sort_keys=True) for name, value in keys.items()}
        return parts | code_of(self.training)

    @property
    @abstractmethod
    def trained_suffix(self) -> str:
        """Kind of the file that training makes."""

    @property
    def kept_epochs(self) -> tuple[int, ...]:
        """Epochs of the training whose weights are kept, in addition to the final weights."""
        return ()

    @property
    def chooser(self) -> EpochRule | None:
        """Rule that chooses epochs of the training; each chosen epoch becomes a model."""
        return None

    @abstractmethod
    def train(self, file: Path, device: str) -> None:
        """Carry out the recipe unless ``file`` exists; ``file`` appears whole, as the last file."""

    def training_checks(self) -> tuple[Check, ...]:
        """Checks to run before training: none, unless the recipe needs files."""
        return ()

    def checks(self) -> tuple[Check, ...]:
        """Checks of the training's needs, or of the file that it made."""
        return self.training_checks() if self.is_untrained else super().checks()

    @property
    def is_untrained(self) -> bool:
        """True if the study has to train the model before it can score it."""
        return self.training is not None and self._file is None

    @property
    def trained_file(self) -> Path:
        """File that the training made.

        Raises ModelError when the card is untrained.
        """
        if self._file is None:
            raise ModelError(f"model {self.id} is not trained yet; decaf run trains it")
        return self._file

    def with_checkpoint(self, file: Path) -> Self:
        """The card with the file that its training made."""
        card = self.model_copy()
        card._file = file
        return card

    def training_record(self) -> str | None:
        """Recipe and outcome as JSON."""
        if self.training is None:
            return None
        outcome = read_outcome(self.trained_file)
        recipe = self.training.model_dump(mode="json")
        return json.dumps({"recipe": recipe, "outcome": outcome})
