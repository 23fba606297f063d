"""Exact Shapley values of features."""

from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from decaf.evaluation.attributions.coalitions import CoalitionMethod, every_coalition

MOST_PLAYERS = 12
"""Largest number of players: 4,096 coalitions, and rows, of every image; the paper has up to 8."""


class ExactShapley(CoalitionMethod):
    """The mean gain of showing a feature, over all orders in which features can be shown.

    It requests every coalition, so images may have up to 12 features.
    """

    kind: Literal["exact_shapley"] = "exact_shapley"

    @property
    def most_players(self) -> int:
        """Largest number of players whose coalitions can all be scored."""
        return MOST_PLAYERS

    @property
    def is_complete(self) -> bool:
        """True, by definition."""
        return True

    def coalitions(self, players: int, source_id: str) -> NDArray[np.bool_]:
        """All 2^players coalitions."""
        return every_coalition(players)

    def worth(
        self, coalitions: NDArray[np.bool_], values: NDArray[np.float64]
    ) -> NDArray[np.floating]:
        """The sum over S without k of ``(v(S + k) - v(S)) / (K binomial(K - 1, |S|))``."""
        players = coalitions.shape[1]
        weight = np.array([1 / (players * comb(players - 1, size)) for size in range(players)])
        other_count = coalitions.sum(axis=1)[:, None] - coalitions
        signed = np.where(coalitions, 1, -1) * weight[np.minimum(other_count, players - 1)]
        return values @ signed
