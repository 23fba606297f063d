"""KernelSHAP of the factor (Lundberg and Lee, NeurIPS 2017)."""

from typing import Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.baselines.base import Baseline, Component, Subject, mean_magnitude
from decaf.foundation.library_draws import seeded_globally
from decaf.foundation.quiet_imports import quiet_import


class KernelShap(Baseline):
    """Mean absolute KernelSHAP value of the factor in P(y = 1), without a penalty.

    Predicts, besides the background once and each explained row once, every coalition of every
    explained row with every row of the background: background + rows (1 + samples background).
    """

    kind: Literal["kernel_shap"] = Field(description="this method")
    rows: int = Field(64, gt=0, description="rows that are explained, at most")
    background: int = Field(256, gt=0, description="rows that stand for unknown features, at most")
    samples: int = Field(512, gt=0, description="coalitions of each explained row")

    def prepare(self) -> None:
        """Import shap."""
        quiet_import("shap")

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rng = np.random.default_rng(self.seed)
        rows = subject.rows
        explained = rows.inputs[rows.spread(self.rows, rng)]
        background = rows.inputs[rows.spread(self.background, rng)]
        with seeded_globally(self.seed):
            explainer = quiet_import("shap").KernelExplainer(subject.probability, background)
            values = explainer.shap_values(explained, nsamples=self.samples, l1_reg=0, silent=True)
        return mean_magnitude(values[:, rows.factor])
