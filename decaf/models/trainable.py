"""Cards whose models the study may train itself."""

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from pydantic import Field

from decaf.foundation.digests import short
from decaf.foundation.readiness import Check
from decaf.foundation.settings import Settings
from decaf.models.card import ModelCard


class TrainableCard(ModelCard, ABC):
    """A card of which a recipe can take the place of a file."""

    training: Settings | None = Field(None, description="recipe that makes the model")

    @property
    @abstractmethod
    def recipe_digest(self) -> str:
        """Digest of what training would make."""

    @property
    @abstractmethod
    def trained_suffix(self) -> str:
        """Kind of the file that training makes."""

    @abstractmethod
    def train(self, workspace: Path, device: str) -> None:
        """Carry out the recipe, unless its file is there; the file appears whole or not at all."""

    @abstractmethod
    def training_outcome(self, path: Path) -> dict[str, Any] | None:
        """What came out of the training that made a file; None when it was not made here."""

    def training_checks(self) -> tuple[Check, ...]:
        """What to look for before training: nothing, unless the recipe needs files."""
        return ()

    def checks(self, workspace: Path) -> tuple[Check, ...]:
        """What training needs, or the file that it made."""
        return self.training_checks() if self.is_untrained(workspace) else super().checks(workspace)

    def trained_file(self, workspace: Path) -> Path:
        """Where training puts its file: known by the recipe, so another one is trained anew."""
        name = f"{self.id}-{short(self.recipe_digest)}{self.trained_suffix}"
        return workspace / "checkpoints" / name

    def is_untrained(self, workspace: Path) -> bool:
        """Whether the recipe has not made its file yet."""
        return self.training is not None and not self.trained_file(workspace).exists()

    def training_record(self, workspace: Path) -> str | None:
        """Recipe and outcome as JSON."""
        if self.training is None:
            return None
        outcome = self.training_outcome(self.trained_file(workspace))
        recipe = self.training.model_dump(mode="json")
        return json.dumps({"recipe": recipe, "outcome": outcome})
