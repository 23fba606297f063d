"""Number of targets of an estimator; decaf scores one."""

from typing import Any

import numpy as np

from decaf.errors import number_of
from decaf.models.estimators.boosters import describe_booster, final_step

MULTILABEL = "multilabel-indicator"
"""Word of scikit-learn for labels with one column for each target."""
ONE_TARGET = "expected one target: fit and save an estimator of one column of labels"


def count_targets(estimator: Any) -> int:
    """Number of targets that an estimator answers for, one by one; 0 if it has a single target.

    A classifier of several targets has a list of classes for each, or says that its labels were
    indicators. A regressor has its number of outputs, or rows of coefficients.
    """
    classes = getattr(estimator, "classes_", None)
    if classes is not None and any(np.ndim(label) for label in classes):
        return len(classes)
    step = final_step(estimator)
    if classes is not None:
        binarizer = getattr(step, "_label_binarizer", None)
        is_indicator = getattr(binarizer, "y_type_", None) == MULTILABEL
        has_labels = is_indicator or getattr(step, "multilabel_", False)
        return len(classes) if has_labels else _booster_targets(step)
    outputs = getattr(step, "n_outputs_", 1)
    weights = np.shape(getattr(step, "coef_", 0.0))
    rows = weights[0] if len(weights) == 2 else 1
    count = max(int(outputs), rows, _booster_targets(step))
    return count if count > 1 else 0


def several_targets(count: int) -> str:
    """Sentence that refuses an estimator of several targets."""
    return f"it has {number_of(count, 'target')}, each with a separate answer; {ONE_TARGET}"


def _booster_targets(step: Any) -> int:
    """Number of targets of a fitted class of XGBoost; 0 if it has a single target."""
    if not hasattr(step, "get_booster") or not step.__sklearn_is_fitted__():
        return 0
    count = describe_booster(step.get_booster()).target_count
    return count if count > 1 else 0
