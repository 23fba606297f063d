"""Shapley interaction values of context and factor in ensembles of trees."""

from typing import Literal

import numpy as np
from pydantic import Field

from decaf.evaluation.baselines.base import Baseline, Component, Subject, Undefined, mean_magnitude
from decaf.evaluation.baselines.native_shap import is_forest, is_xgboost, xgboost_values


class ShapInteraction(Baseline):
    """Mean absolute interaction value of context and factor, off the diagonal of the matrix.

    Path-dependent and exact: XGBoost's own in log-odds, forests' in P(y = 1). Predicts no row.
    """

    kind: Literal["shap_interaction"] = Field(description="this method")
    rows: int = Field(128, gt=0, description="rows that are explained, at most")

    def prepare(self) -> None:
        """Import the forests' values, which compiles."""
        import decaf.evaluation.tree_shapley  # noqa: F401

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rows, estimator = subject.rows, subject.estimator
        explained = rows.inputs[rows.spread(self.rows, np.random.default_rng(self.seed))]
        if is_xgboost(estimator):
            matrices = xgboost_values(estimator, explained, "pred_interactions")
            return mean_magnitude(matrices[:, rows.context, rows.factor])
        if is_forest(estimator):
            from decaf.evaluation.tree_shapley import forest_shapley

            return mean_magnitude(forest_shapley(estimator, explained, rows.context, rows.factor))
        raise Undefined(
            f"{type(estimator).__name__} has no interaction values: random forests and XGBoost have"
        )
