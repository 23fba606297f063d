"""Train classifiers of FunnyBirds by parts: few birds a class, and every part in many classes."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import Field

from decaf.foundation.arrays import Module
from decaf.foundation.readiness import Check
from decaf.models.checkpoint import check_header
from decaf.models.recipes.base import TrainingSite
from decaf.studies.attribution.birds import birds
from decaf.studies.attribution.settings import BirdSettings

if TYPE_CHECKING:
    from decaf.studies.attribution.training import BirdOutcome


class Material(NamedTuple):
    """Needs of a training; a call checks that they exist."""

    root: Path
    initial_weights: Path | None

    def __call__(self) -> tuple[str, ...]:
        """Look for the birds of both splits, and at the beginning of the weights."""
        birds(self.root, "train"), birds(self.root, "test")
        if self.initial_weights is not None:
            check_header(self.initial_weights)
        return ()


class PartClassifier(BirdSettings):
    """Train a network of `factory:decaf.studies.attribution.networks:by_parts` on birds.

    It learns the instance of every part that a bird has; parts that were removed from it do not
    count. Classes follow: their logit is the sum of the log-probabilities of their parts.
    """

    recipe: Literal["part_classifier"] = Field(description="this recipe")

    def checks(self, architecture: str) -> tuple[Check, ...]:
        """Birds, and what to start from."""
        return (Material(self.root, self.initial_weights),)

    def train(self, network: Module, site: TrainingSite) -> "BirdOutcome":
        """Train a network in place; return the outcome, even if it misses its gate.

        Raises DataError when birds are missing or differ in size, ModelError when the network is
        not one by parts, the initial weights do not fit, or the loss is not finite, and WriteFailed
        when an epoch cannot be written.
        """
        from decaf.studies.attribution.training import BirdTraining

        return BirdTraining(self, network, site).train()
