"""Part occlusion."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.evaluation.attributions.base import Access
from decaf.evaluation.attributions.coalitions import CoalitionMethod


class PartOcclusion(CoalitionMethod):
    """Drop of the score when the reference hides a feature."""

    access: ClassVar[Access] = "forward"
    kind: Literal["part_occlusion"] = "part_occlusion"

    def coalitions(self, players: int, source_id: str) -> NDArray[np.bool_]:
        """All features; then, for each feature, all but this one."""
        return np.vstack([np.ones(players, bool), ~np.eye(players, dtype=bool)])

    def worth(
        self, coalitions: NDArray[np.bool_], values: NDArray[np.float64]
    ) -> NDArray[np.floating]:
        """``v(all) - v(all but k)``."""
        return values[0] - values[1:]
