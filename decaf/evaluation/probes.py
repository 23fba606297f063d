"""Probes: behaviours learnt from features, judged on a family of models that was held out.

Every representation is evaluated under the same protocol, so that only the content of the features
differs (paper, appendix F).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.statistics.discrimination import auroc

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

SEED = 91701


class HeldOutProbabilities(NamedTuple):
    """Probabilities of every unit, from probes that did not see the unit's group."""

    probability: NDArray[np.float64]
    """(n_units, n_classes); NaN if the fold of the unit's group is undefined."""
    feature_count: NDArray[np.int64]
    """(n_units,) number of features with a value in the training units of the fold."""
    reasons: dict[str, str]
    """Why a fold is undefined, by held-out group."""


class ProbeResult(NamedTuple):
    """AUROC of every held-out group and label, in [0, 1]; NaN if undefined."""

    groups: tuple[str, ...]
    """Names of the held-out groups, sorted; the rows."""
    auroc: NDArray[np.float64]
    """(n_groups, n_labels)."""
    probability: NDArray[np.float64]
    """(n_units, n_labels) of every unit, from a probe that did not see its group, or NaN."""
    reasons: dict[tuple[str, int], str]
    """Why a value is undefined, by group and number of the label."""


def logistic_regression() -> "ClassifierMixin":
    """Standardised L2 logistic regression, C = 1, classes balanced, 2,000 iterations at most."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), LogisticRegression(C=1.0, class_weight="balanced", max_iter=2000)
    )


def gradient_boosting() -> "ClassifierMixin":
    """Boosted trees on histograms: always 200 iterations, at a learning rate of 0.05."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=200, learning_rate=0.05, early_stopping=False, random_state=SEED
    )


def imputed_logistic_regression() -> "ClassifierMixin":
    """Missing features become the training median; then :func:`logistic_regression`.

    With more than two classes it is the multinomial one.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(SimpleImputer(strategy="median"), logistic_regression())


PROBES: "dict[str, Callable[[], ClassifierMixin]]" = {
    "logistic_regression": logistic_regression,
    "gradient_boosting": gradient_boosting,
}
"""Probes by name; the headline uses the first."""


def leave_one_group_out(
    features: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike,
    probe: "Callable[[], ClassifierMixin]" = logistic_regression,
) -> ProbeResult:
    """Fit a probe for every label to all groups but one, and judge it on the held-out group.

    All fitted parts, including the standardisation, see only the training groups.

    Parameters
    ----------
    features
        (n_units, n_features) finite real numbers.
    labels
        (n_units, n_labels) truth values.
    groups
        (n_units,) such as the family of the model of every unit; at least two.
    probe
        Makes a classifier, not yet fitted, with ``predict_proba``.

    Returns
    -------
    ProbeResult
        Undefined, with a reason, if the held-out or the training units all have the same value of
        a label.

    Examples
    --------
    >>> features, labels = [[0.0], [1.0], [0.1], [0.9]], [[0], [1], [0], [1]]
    >>> leave_one_group_out(features, labels, ["a", "a", "b", "b"]).auroc.tolist()
    [[1.0], [1.0]]
    """
    x, y, family = np.asarray(features), np.asarray(labels, bool), np.asarray(groups)
    names = np.unique(family)
    scores = np.full((names.size, y.shape[1]), np.nan)
    probability = np.full(y.shape, np.nan)
    reasons = {}
    for row, name in enumerate(names):
        held_out = family == name
        for label in range(y.shape[1]):
            reason = _reason_undefined(y[held_out, label], y[~held_out, label])
            if reason:
                reasons[str(name), label] = reason
                continue
            fitted = probe().fit(x[~held_out], y[~held_out, label])
            probability[held_out, label] = fitted.predict_proba(x[held_out])[:, 1]
            scores[row, label] = auroc(y[held_out, label], probability[held_out, label])
    return ProbeResult(tuple(map(str, names)), scores, probability, reasons)


def held_out_probabilities(
    features: ArrayLike,
    classes: ArrayLike,
    names: Sequence[str],
    groups: ArrayLike,
) -> HeldOutProbabilities:
    """Fit an imputed logistic regression of all classes without one group; predict that group.

    All fitted parts, including medians and the standardisation, see only the training groups. A
    feature without any value in them is left out of the fold.

    Features are (n_units, n_features) real numbers, NaN for a missing one; classes (n_units,)
    places in ``names``, from 0; groups (n_units,), such as the family of the model of every unit,
    at least two. A fold is undefined, with a reason, if a class has no training unit, or no
    feature has a value.

    >>> found = held_out_probabilities(
    ...     [[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 1], ["no", "yes"], ["a", "a", "b", "b"]
    ... )
    >>> found.probability.argmax(axis=1).tolist(), found.feature_count.tolist()
    ([0, 1, 0, 1], [1, 1, 1, 1])
    """
    x, y, group = np.asarray(features, np.float64), np.asarray(classes), np.asarray(groups)
    probability = np.full((len(x), len(names)), np.nan)
    feature_count = np.zeros(len(x), np.int64)
    reasons = {}
    for held in np.unique(group):
        held_out = group == held
        has_value = ~np.isnan(x[~held_out]).all(axis=0)
        feature_count[held_out] = has_value.sum()
        absent = [name for place, name in enumerate(names) if place not in y[~held_out]]
        if absent:
            reasons[str(held)] = f"no training unit of {absent[0]}"
        elif not has_value.any():
            reasons[str(held)] = "no feature has a value among the training units"
        else:
            probe = imputed_logistic_regression()
            fitted = probe.fit(x[~held_out][:, has_value], y[~held_out])
            probability[held_out] = fitted.predict_proba(x[held_out][:, has_value])
    return HeldOutProbabilities(probability, feature_count, reasons)


def _reason_undefined(held_out: NDArray[np.bool_], training: NDArray[np.bool_]) -> str | None:
    for units, which in ((held_out, "held-out"), (training, "training")):
        if units.all():
            return f"every {which} unit carries the label"
        if not units.any():
            return f"no {which} unit carries the label"
    return None
