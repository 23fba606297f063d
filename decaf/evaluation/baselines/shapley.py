"""Shapley values of the factor, by a method for each kind of model, and interactions in trees.

The factor is the audited column; the context is the column that it is crossed with (paper, section
5).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.evaluation.baselines.base import (
    Baseline,
    Component,
    Subject,
    Undefined,
    mean_magnitude,
    quiet_import,
)
from decaf.models.estimators.boosters import best_rounds, make_matrix

TREE_SHAPLEY_MODULE = "decaf.evaluation.tree_shapley"
"""Module that compiles its functions when it is imported."""


class NativeShap(Baseline):
    """Mean absolute Shapley value of the factor on rows balanced over contexts and labels.

    Trees: path-dependent TreeSHAP, exact; forests in P(y = 1), boosted trees in log-odds.
    Linear models: weight times distance from the mean, in log-odds. Other models: sampled
    permutations against a background, in P(y = 1). Only this last method calls the model.
    """

    libraries: ClassVar = ("numba", "shap", "xgboost", TREE_SHAPLEY_MODULE)
    kind: Literal["native_shap"] = Field(description="name of the method")
    rows: int = Field(128, gt=0, le=1_000_000, description="largest number of explained rows")
    background: int = Field(32, gt=0, le=1_000_000, description="largest number of background rows")
    permutations: int = Field(
        1, gt=0, le=10_000, description="permutations of the features, each in both directions"
    )

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rng = np.random.default_rng(self.seed)
        rows, factor = subject.rows, subject.rows.factor
        explained = rows.inputs[rows.spread(self.rows, rng)]
        background = rows.inputs[rows.spread(self.background, rng)]
        values = _tree_values(subject.estimator, explained, factor)
        if values is None:
            values = _linear_values(subject.estimator, explained, rows.inputs, factor)
        if values is None:
            values = self._sampled_values(subject, explained, background)
        return mean_magnitude(values)

    def _sampled_values(
        self, subject: Subject, explained: NDArray[np.float32], background: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        shap = quiet_import("shap")
        masker = shap.maskers.Independent(background, max_samples=len(background))
        with _seeded_globally(self.seed):
            explainer = shap.PermutationExplainer(subject.probability, masker, seed=self.seed)
            evaluations = self.permutations * (2 * explained.shape[1] + 1)
            values = explainer(explained, max_evals=evaluations, silent=True).values
        return values[:, subject.rows.factor]


class KernelShap(Baseline):
    """Mean absolute KernelSHAP value of the factor in P(y = 1), without L1 regularisation.

    From Lundberg and Lee (NeurIPS 2017).
    Predicts the background once, each explained row once, and every coalition of every explained
    row with every row of the background, which makes background + rows × (1 + samples × background)
    predictions.
    """

    libraries: ClassVar = ("shap",)
    kind: Literal["kernel_shap"] = Field(description="name of the method")
    rows: int = Field(64, gt=0, le=1_000_000, description="largest number of explained rows")
    background: int = Field(
        256,
        gt=0,
        le=1_000_000,
        description="largest number of background rows",
    )
    samples: int = Field(512, gt=0, le=1_000_000, description="coalitions of each explained row")

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rng = np.random.default_rng(self.seed)
        rows = subject.rows
        explained = rows.inputs[rows.spread(self.rows, rng)]
        background = rows.inputs[rows.spread(self.background, rng)]
        with _seeded_globally(self.seed):
            explainer = quiet_import("shap").KernelExplainer(subject.probability, background)
            values = explainer.shap_values(explained, nsamples=self.samples, l1_reg=0, silent=True)
        return mean_magnitude(values[:, rows.factor])


class ShapInteraction(Baseline):
    """Mean absolute interaction value of context and factor, off the diagonal of the matrix.

    Path-dependent and exact: XGBoost's own values, in log-odds; values of forests, in P(y = 1). The
    model is not called.
    """

    libraries: ClassVar = ("numba", "xgboost", TREE_SHAPLEY_MODULE)
    kind: Literal["shap_interaction"] = Field(description="name of the method")
    rows: int = Field(128, gt=0, le=1_000_000, description="largest number of explained rows")

    def _measure(self, subject: Subject) -> dict[str, Component]:
        rows, estimator = subject.rows, subject.estimator
        explained = rows.inputs[rows.spread(self.rows, np.random.default_rng(self.seed))]
        if _is_xgboost(estimator):
            matrices = _xgboost_values(estimator, explained, "pred_interactions")
            return mean_magnitude(matrices[:, rows.context, rows.factor])
        if _is_forest(estimator):
            from decaf.evaluation.tree_shapley import forest_shapley

            return mean_magnitude(forest_shapley(estimator, explained, rows.context, rows.factor))
        raise Undefined(
            f"{type(estimator).__name__} has no interaction values: random forests and XGBoost have"
        )


def _tree_values(
    estimator: Any, explained: NDArray[np.float32], factor: int
) -> NDArray[np.floating] | None:
    """(n,) path-dependent TreeSHAP of the factor; None unless it is an ensemble of trees."""
    if _is_xgboost(estimator):
        return _xgboost_values(estimator, explained, "pred_contribs")[:, factor]
    if _is_forest(estimator):
        from decaf.evaluation.tree_shapley import forest_shapley

        return forest_shapley(estimator, explained, factor)
    from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier

    if isinstance(estimator, GradientBoostingClassifier | HistGradientBoostingClassifier):
        explainer = quiet_import("shap").TreeExplainer(estimator)
        return np.asarray(explainer.shap_values(explained, check_additivity=False))[:, factor]
    return None


def _linear_values(
    estimator: Any, explained: NDArray[np.float32], rows: NDArray[np.float32], factor: int
) -> NDArray[np.float64] | None:
    """(n,) weight of the factor times its distance from the mean; None for other models."""
    from sklearn.linear_model import LogisticRegression

    if not isinstance(estimator, LogisticRegression):
        return None
    distance = explained[:, factor].astype(np.float64) - rows[:, factor].mean(dtype=np.float64)
    return estimator.coef_[0, factor] * distance


def _is_xgboost(estimator: Any) -> bool:
    """True for an ``xgboost.Booster``, the type in which decaf opens XGBoost files."""
    return isinstance(estimator, quiet_import("xgboost").Booster)


def _is_forest(estimator: Any) -> bool:
    """True for random forests and extra trees: they return mean shares of labels in leaves."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    return isinstance(estimator, ExtraTreesClassifier | RandomForestClassifier)


def _xgboost_values(
    booster: Any,
    rows: NDArray[np.float32],
    option: Literal["pred_contribs", "pred_interactions"],
) -> NDArray[np.float32]:
    """XGBoost's own TreeSHAP: (n, p + 1) values or (n, p + 1, p + 1) interactions, log-odds."""
    matrix = make_matrix(booster, rows, nthread=1)
    return booster.predict(matrix, iteration_range=best_rounds(booster), **{option: True})


@contextmanager
def _seeded_globally(seed: int) -> Iterator[None]:
    """Seed NumPy's global state; restore the earlier state when the block ends."""
    before = np.random.get_state()  # noqa: NPY002 - the libraries use no other generator
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
