"""Probes: behaviours learnt from features, judged on a family of models that was held out.

Every representation is evaluated under the same protocol, so that only the content of the features
differs (paper, appendix F).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.route import as_scores
from decaf.statistics.discrimination import as_labels, auroc

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

SEED = 91701


class HeldOutProbabilities(NamedTuple):
    """Probabilities of every unit, from probes that did not see the unit's group."""

    probability: NDArray[np.float64]
    """(n_units, n_classes); NaN where the fold of the unit's group is undefined."""
    feature_count: NDArray[np.int64]
    """(n_units,) features that a training unit of the fold has a value of."""
    reasons: dict[str, str]
    """Why a fold is undefined, by held-out group."""


class ProbeResult(NamedTuple):
    """AUROC of every held-out group and label, in [0, 1]; NaN where it is undefined."""

    groups: tuple[str, ...]
    """Names of the held-out groups, sorted; the rows."""
    auroc: NDArray[np.float64]
    """(n_groups, n_labels)."""
    probability: NDArray[np.float64]
    """(n_units, n_labels) of every unit, from a probe that did not see its group; NaN likewise."""
    reasons: dict[tuple[str, int], str]
    """Why a value is undefined, by group and number of the label."""

    @property
    def by_label(self) -> NDArray[np.float64]:
        """(n_labels,) mean over the groups in which the label is defined; NaN with none."""
        is_defined = ~np.isnan(self.auroc)
        count = is_defined.sum(axis=0)
        total = np.where(is_defined, self.auroc, 0.0).sum(axis=0)
        return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)

    @property
    def macro(self) -> float:
        """Mean over labels; undefined unless every label is defined somewhere."""
        return float(self.by_label.mean())


def logistic_regression() -> "ClassifierMixin":
    """Standardised L2 logistic regression, C = 1, classes balanced, 2,000 iterations at most."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), LogisticRegression(C=1.0, class_weight="balanced", max_iter=2000)
    )


def gradient_boosting() -> "ClassifierMixin":
    """Boosted trees on histograms: always 200, at a learning rate of 0.05."""
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
"""Probes by name; the first is the one of the headline."""


def leave_one_group_out(
    features: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike,
    probe: "Callable[[], ClassifierMixin]" = logistic_regression,
) -> ProbeResult:
    """Fit a probe for every label to all groups but one, and judge it on the held-out group.

    Everything that is fitted, the standardisation too, sees the training groups alone.

    Parameters
    ----------
    features
        (n_units, n_features) finite real numbers.
    labels
        (n_units, n_labels) 0 or 1.
    groups
        (n_units,) such as the family of the model of every unit.
    probe
        Makes a classifier, not yet fitted, with ``predict_proba``.

    Returns
    -------
    ProbeResult
        Undefined, with a reason, where the held-out or the training units of a label are all of
        one kind.

    Raises
    ------
    ResponseError
        For features that are not finite, labels that are not 0 or 1, shapes that do not match, or
        fewer than two groups.

    Examples
    --------
    >>> features, labels = [[0.0], [1.0], [0.1], [0.9]], [[0], [1], [0], [1]]
    >>> leave_one_group_out(features, labels, ["a", "a", "b", "b"]).macro
    1.0
    """
    x, y = as_scores(features, "features"), as_labels(labels, ndim=2)
    family = np.asarray(groups)
    if x.ndim != 2 or len(x) != len(y) or family.shape != (len(y),):
        raise ResponseError(
            f"features have shape {x.shape}, labels {y.shape} and groups {family.shape}; expected "
            "(n, features), (n, labels) and (n,)"
        )
    names = _groups(family)
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
    probe: "Callable[[], ClassifierMixin]" = imputed_logistic_regression,
) -> HeldOutProbabilities:
    """Fit one probe of all classes to all groups but one; predict the held-out group.

    Everything that is fitted, medians and the standardisation too, sees the training groups alone.
    A feature without any value among them is left out of the fold.

    Features are (n_units, n_features) real numbers, NaN where one is missing; classes (n_units,)
    places in ``names``, from 0; groups (n_units,), such as the family of the model of every unit.
    The probe makes a classifier, not yet fitted, with ``predict_proba``, that takes NaN. A fold is
    undefined, with a reason, where a class has no training unit, or no feature has a value.

    Raises ResponseError for features that are infinite, classes out of range, shapes that do not
    match, or fewer than two groups.

    >>> found = held_out_probabilities(
    ...     [[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 1], ["no", "yes"], ["a", "a", "b", "b"]
    ... )
    >>> found.probability.argmax(axis=1).tolist(), found.feature_count.tolist()
    ([0, 1, 0, 1], [1, 1, 1, 1])
    """
    x, y, group = np.asarray(features, np.float64), np.asarray(classes), np.asarray(groups)
    if x.ndim != 2 or y.shape != (len(x),) or group.shape != (len(x),):
        raise ResponseError(
            f"features have shape {x.shape}, classes {y.shape} and groups {group.shape}; expected "
            "(n, features), (n,) and (n,)"
        )
    if np.isinf(x).any():
        raise ResponseError("features hold an infinite value; expected numbers, NaN where missing")
    if y.dtype.kind not in "iu" or not np.isin(y, np.arange(len(names))).all():
        raise ResponseError(f"classes are {np.unique(y)}; expected 0 to {len(names) - 1}")
    probability = np.full((len(x), len(names)), np.nan)
    feature_count = np.zeros(len(x), np.int64)
    reasons = {}
    for held in _groups(group):
        held_out = group == held
        has_value = ~np.isnan(x[~held_out]).all(axis=0)
        feature_count[held_out] = has_value.sum()
        absent = [name for place, name in enumerate(names) if place not in y[~held_out]]
        if absent:
            reasons[str(held)] = f"no training unit of {absent[0]}"
        elif not has_value.any():
            reasons[str(held)] = "no feature has a value among the training units"
        else:
            fitted = probe().fit(x[~held_out][:, has_value], y[~held_out])
            probability[held_out] = fitted.predict_proba(x[held_out][:, has_value])
    return HeldOutProbabilities(probability, feature_count, reasons)


def _groups(groups: NDArray[Any]) -> NDArray[Any]:
    """Distinct names, sorted: two at least."""
    names = np.unique(groups)
    if names.size < 2:
        raise ResponseError(
            f"all units are of group {str(names[0])!r}; expected at least two, one to hold out"
        )
    return names


def _reason_undefined(held_out: NDArray[np.bool_], training: NDArray[np.bool_]) -> str | None:
    for units, which in ((held_out, "held-out"), (training, "training")):
        if units.all():
            return f"every {which} unit carries the label"
        if not units.any():
            return f"no {which} unit carries the label"
    return None
