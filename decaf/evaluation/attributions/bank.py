"""Random draws that all images may have in common."""

from typing import Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.attributions.base import Batch, RandomMethod


class BankMethod(RandomMethod):
    """A method with random draws: one set for each source, or one bank for all images."""

    bank: Literal["source", "shared"] = Field(
        "source",
        description="which draws to use: each source's own, or those of numpy's "
        "`RandomState(seed)` for all images",
    )

    def draws(self, batch: Batch) -> list[np.random.Generator] | list[np.random.RandomState]:
        """One generator for each image, or a newly seeded one for all images."""
        if self.bank == "shared":
            return [np.random.RandomState(self.seed)]
        return self.generators(batch.source_ids)
