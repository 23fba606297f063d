"""LIME's weight of the factor (Ribeiro et al., KDD 2016)."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.baselines.base import (
    Baseline,
    Component,
    Subject,
    mean_magnitude,
    quiet_import,
)

ONLY = 1
"""Key of the weights that LIME keeps for a model with one output."""


class Lime(Baseline):
    """Mean absolute weight of the factor in local ridge regressions of P(y = 1).

    Columns with two values count as categories: the weight is that of having the same value as
    the explained row. Values of other columns are drawn from a normal distribution and are not
    binned. Predicts ``rows`` times ``samples`` rows.
    """

    libraries: ClassVar = ("lime.lime_tabular",)
    kind: Literal["lime"] = Field(description="name of the method")
    rows: int = Field(256, gt=0, le=1_000_000, description="largest number of explained rows")
    samples: int = Field(
        1024, gt=1, le=1_000_000, description="neighbours of each explained row, including the row"
    )

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rows = subject.rows
        explained = rows.inputs[rows.spread(self.rows, np.random.default_rng(self.seed))]
        inputs = rows.inputs.astype(np.float64)
        binary = [n for n, column in enumerate(inputs.T) if np.unique(column).size <= 2]
        explainer = quiet_import("lime.lime_tabular").LimeTabularExplainer(
            inputs,
            mode="regression",
            categorical_features=binary,
            discretize_continuous=False,
            feature_selection="none",
            random_state=self.seed,
        )
        weights = []
        for row in explained.astype(np.float64):
            explanation = explainer.explain_instance(
                row,
                subject.probability,
                num_features=inputs.shape[1],
                num_samples=self.samples,
            )
            weights.append(dict(explanation.local_exp[ONLY])[rows.factor])
        return mean_magnitude(np.array(weights))
