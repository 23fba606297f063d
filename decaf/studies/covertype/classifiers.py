"""The five families of classifiers, with the settings of the paper (appendix I)."""

from collections.abc import Callable
from typing import Any, Literal

Family = Literal["logistic_regression", "random_forest", "hist_gradient_boosting", "xgboost", "mlp"]

TRUSTED: dict[Family, tuple[str, ...]] = {
    "random_forest": ("sklearn.tree._tree.Tree",),
    "hist_gradient_boosting": ("sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",),
    "mlp": ("sklearn.neural_network._stochastic_optimizers.AdamOptimizer",),
}
"""Types of scikit-learn in a file of the family that skops does not know to be harmless."""


FEWEST_ROWS: dict[Family, int] = {"mlp": 10}
"""Training rows of each class that a family needs: early stopping holds a tenth out, with both."""


def unfitted(family: Family, seed: int) -> Any:
    """A classifier that runs on one core and whose every random choice the seed decides."""
    return _BUILDERS[family](seed)


def _logistic_regression(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1.0, solver="lbfgs", max_iter=1000, random_state=seed)


def _random_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        n_estimators=300, min_samples_leaf=2, max_features="sqrt", n_jobs=1, random_state=seed
    )


def _hist_gradient_boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=250,
        learning_rate=0.06,
        max_leaf_nodes=31,
        l2_regularization=1e-3,
        random_state=seed,
    )


def _xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=400,
        max_depth=6,
        learning_rate=0.05,
        subsample=0.9,
        colsample_bytree=0.9,
        reg_lambda=1.0,
        tree_method="hist",
        objective="binary:logistic",
        eval_metric="logloss",
        n_jobs=1,
        random_state=seed,
    )


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(
        hidden_layer_sizes=(128, 64),
        activation="relu",
        solver="adam",
        learning_rate_init=1e-3,
        alpha=1e-4,
        batch_size=512,
        max_iter=60,
        early_stopping=True,
        n_iter_no_change=8,
        random_state=seed,
    )


_BUILDERS: dict[Family, Callable[[int], Any]] = {
    "logistic_regression": _logistic_regression,
    "random_forest": _random_forest,
    "hist_gradient_boosting": _hist_gradient_boosting,
    "xgboost": _xgboost,
    "mlp": _mlp,
}
