"""GradientSHAP."""

from typing import Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.attributions.bank import BankMethod
from decaf.evaluation.attributions.base import Batch
from decaf.evaluation.attributions.reference import Referred
from decaf.foundation.arrays import Tensor
from decaf.scoring.image_scores import CountedScore


class GradientShap(Referred, BankMethod):
    """Mean gradient at random places between a reference and the image, times their difference.

    Places are uniform in [0, 1), and no noise is added to the image. captum draws from torch's
    global generator, so that the places of an image depend on its batch; this method does not.
    """

    kind: Literal["gradient_shap"] = "gradient_shap"
    samples: int = Field(16, gt=0, le=10_000, description="random places for every image")

    @property
    def forward_calls(self) -> int:
        """One for each place."""
        return self.samples

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Mean over random places between reference and image; returns all channels."""
        places = np.stack([draw.uniform(size=self.samples) for draw in self.draws(batch)])
        return self.integrate_gradients(
            score, batch, places, np.full(self.samples, 1 / self.samples)
        )
