"""Integrated gradients."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.evaluation.attributions.base import Batch, MapMethod
from decaf.evaluation.attributions.reference import Referred
from decaf.foundation.arrays import Tensor
from decaf.scoring.image_scores import CountedScore


class IntegratedGradients(Referred, MapMethod):
    """Integral of the gradient between a reference and the image, times their difference.

    captum's trapezoid has weights that add up to ``1 - 1 / steps``; here they add up to 1.
    """

    kind: Literal["integrated_gradients"] = "integrated_gradients"
    steps: int = Field(16, gt=1, le=10_000, description="gradients between reference and image")
    rule: Literal["riemann_right", "gauss_legendre", "trapezoid"] = Field(
        "riemann_right",
        description="`riemann_right`: at `k / steps` up to the image, with equal weights; "
        "`gauss_legendre`: at Gauss-Legendre nodes; `trapezoid`: at both ends and between them",
    )

    @property
    def forward_calls(self) -> int:
        """One for each step."""
        return self.steps

    def nodes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(steps,) places on the line in [0, 1], and (steps,) weights of the gradients there."""
        if self.rule == "gauss_legendre":
            nodes, weights = np.polynomial.legendre.leggauss(self.steps)
            return (1 + nodes) / 2, weights / 2
        if self.rule == "riemann_right":
            return np.arange(1, self.steps + 1) / self.steps, np.full(self.steps, 1 / self.steps)
        weights = np.full(self.steps, 1 / (self.steps - 1))
        weights[[0, -1]] /= 2
        return np.linspace(0, 1, self.steps), weights

    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Integrate gradients from the reference to the image; returns all channels."""
        nodes, weights = self.nodes()
        return self.integrate_gradients(score, batch, nodes[None], weights)
