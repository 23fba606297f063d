"""The five families of classifiers, with the settings of the paper (appendix I)."""

import importlib
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
    module, name, settings = _CLASSIFIERS[family]
    return getattr(importlib.import_module(module), name)(random_state=seed, **settings)


_CLASSIFIERS: dict[Family, tuple[str, str, dict[str, Any]]] = {
    "logistic_regression": (
        "sklearn.linear_model",
        "LogisticRegression",
        {"C": 1.0, "solver": "lbfgs", "max_iter": 1000},
    ),
    "random_forest": (
        "sklearn.ensemble",
        "RandomForestClassifier",
        {"n_estimators": 300, "min_samples_leaf": 2, "max_features": "sqrt", "n_jobs": 1},
    ),
    "hist_gradient_boosting": (
        "sklearn.ensemble",
        "HistGradientBoostingClassifier",
        {
            "max_iter": 250,
            "learning_rate": 0.06,
            "max_leaf_nodes": 31,
            "l2_regularization": 1e-3,
        },
    ),
    "xgboost": (
        "xgboost",
        "XGBClassifier",
        {
            "n_estimators": 400,
            "max_depth": 6,
            "learning_rate": 0.05,
            "subsample": 0.9,
            "colsample_bytree": 0.9,
            "reg_lambda": 1.0,
            "tree_method": "hist",
            "objective": "binary:logistic",
            "eval_metric": "logloss",
            "n_jobs": 1,
        },
    ),
    "mlp": (
        "sklearn.neural_network",
        "MLPClassifier",
        {
            "hidden_layer_sizes": (128, 64),
            "activation": "relu",
            "solver": "adam",
            "learning_rate_init": 1e-3,
            "alpha": 1e-4,
            "batch_size": 512,
            "max_iter": 60,
            "early_stopping": True,
            "n_iter_no_change": 8,
        },
    ),
}
"""Module, class and settings of each family."""
