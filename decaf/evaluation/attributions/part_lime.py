"""LIME of features."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.evaluation.attributions.coalitions import CoalitionMethod, fit_slopes, image_draws
from decaf.foundation.settings import LARGEST_SEED

WIDTH, RIDGE = 0.25, 1.0
"""Width of the kernel, in cosine distance; and the weight of the squared slopes."""


class PartLime(CoalitionMethod):
    """Slopes of the score over random coalitions, weighted by similarity to the whole image.

    Each feature is shown with probability 1/2, by draws of the image's source. Its weight is
    ``exp(-(1 - c)^2 / 0.25^2)``, with ``c`` the cosine between it and the set of all features; the
    ridge weighs 1. If the coalitions of an image cannot separate its features, it has no scores.
    """

    kind: Literal["part_lime"] = "part_lime"
    samples: int = Field(1000, ge=2, le=100_000, description="coalitions of every image")
    seed: int = Field(0, ge=0, le=LARGEST_SEED, description="seed of the random draws")

    def coalitions(self, players: int, source_id: str) -> NDArray[np.bool_]:
        """``samples`` draws, some of which may be equal."""
        draws = image_draws(f"{self.kind}\0{self.seed}", source_id)
        return draws.random_sample((self.samples, players)) < 0.5

    def worth(
        self, coalitions: NDArray[np.bool_], values: NDArray[np.float64]
    ) -> NDArray[np.floating]:
        """Slopes of the weighted ridge regression; NaN without full rank."""
        players = coalitions.shape[1]
        design = np.column_stack([np.ones(len(coalitions)), coalitions])
        if np.linalg.matrix_rank(design.T @ design) <= players:
            return np.full(players, np.nan)
        cosine = np.sqrt(coalitions.mean(axis=1))
        return fit_slopes(coalitions, values, np.exp(-(((1 - cosine) / WIDTH) ** 2)), RIDGE)
