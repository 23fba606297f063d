"""KernelSHAP of features."""

from functools import cache
from itertools import combinations, islice
from math import comb, log2
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.evaluation.attributions.coalitions import (
    CoalitionMethod,
    every_coalition,
    fit_slopes,
    image_draws,
)
from decaf.foundation.settings import LARGEST_SEED

ENDS, RIDGE = 1e6, 1e-8
"""Weight of the empty and the full coalition, and of the squared slopes."""


class KernelShap(CoalitionMethod):
    """Slopes of the score over coalitions, with the weights that make slopes Shapley values.

    The two forms are those of the paper's code. `layers`: no feature and all, then the smallest
    coalitions with their complements, size by size. Of the first size that does not fit, the seed
    draws as many as fit, the same for all images with this number of features. The difference to
    ``v(all) - v(none)`` is divided evenly. `repeats`: all coalitions once, then random coalitions
    for every image, without a division.
    """

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"form": "repeats"})
    kind: Literal["kernel_shap"] = "kernel_shap"
    form: Literal["layers", "repeats"] = Field("layers", description="which coalitions, as above")
    samples: int = Field(
        512, ge=4, le=100_000, multiple_of=2, description="largest number of coalitions of an image"
    )
    seed: int = Field(8214, ge=0, le=LARGEST_SEED, description="seed of the random draws")

    @property
    def most_players(self) -> int:
        """Most players for which all coalitions that are not drawn fit into ``samples``."""
        return int(log2(self.samples)) if self.form == "repeats" else self.samples // 2 - 1

    @property
    def is_complete(self) -> bool:
        """True for the form `layers`."""
        return self.form == "layers"

    def coalitions(self, players: int, source_id: str) -> NDArray[np.bool_]:
        """Up to ``samples``; fewer in the form `layers` if there are fewer coalitions."""
        if self.form == "layers":
            return layers(players, self.samples, self.seed)
        draws = image_draws(f"{self.kind}\0{self.seed}", source_id)
        coalitions = every_coalition(players)
        repeated = draws.randint(0, len(coalitions), self.samples - len(coalitions))
        return np.concatenate([coalitions, coalitions[repeated]])

    def worth(
        self, coalitions: NDArray[np.bool_], values: NDArray[np.float64]
    ) -> NDArray[np.floating]:
        """Slopes of the weighted least squares."""
        size, players = coalitions.sum(axis=1), coalitions.shape[1]
        kernel = [
            (players - 1) / (comb(players, k) * k * (players - k)) if 0 < k < players else ENDS
            for k in range(players + 1)
        ]
        slopes = fit_slopes(coalitions, values, np.array(kernel)[size], RIDGE)
        if self.is_complete:
            slopes += (values[1] - values[0] - slopes.sum()) / players
        return slopes


@cache
def layers(players: int, samples: int, seed: int) -> NDArray[np.bool_]:
    """(n, players) empty and full coalition, then small ones, each followed by its complement."""
    rows = [np.zeros(players, bool)]
    draws = np.random.RandomState(seed)
    for size in range(1, players // 2 + 1):
        # At half the players, every second coalition is the complement of a listed one.
        count = comb(players, size) // (2 if 2 * size == players else 1)
        free = samples // 2 - len(rows)
        members = np.array(list(islice(combinations(range(players), size), count)))
        if count > free:
            members = members[draws.permutation(count)[:free]]
        for coalition in members:
            rows.append(np.isin(np.arange(players), coalition))
        if count >= free:
            break
    return np.stack([half for row in rows for half in (row, ~row)])
