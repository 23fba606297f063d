"""How well scores separate behaviours: AUROC and AUPRC, one label against the rest."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.statistics.ranks import tied_weights


class Discrimination(NamedTuple):
    """AUROC and AUPRC of every label, in [0, 1]; the last axis is the label.

    NaN stands for undefined: a label without a positive or without a negative unit.
    """

    auroc: NDArray[np.float64]
    auprc: NDArray[np.float64]
    positive_count: NDArray[np.int64]
    """Units with a score that carry the label."""
    negative_count: NDArray[np.int64]

    @property
    def macro_auroc(self) -> NDArray[np.float64]:
        """Mean over labels; undefined unless every label is defined."""
        return np.mean(self.auroc, axis=-1)

    @property
    def macro_auprc(self) -> NDArray[np.float64]:
        """Mean over labels; undefined unless every label is defined."""
        return np.mean(self.auprc, axis=-1)


def auroc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Probability that a positive unit scores above a negative one; a tie counts half.

    Parameters
    ----------
    labels
        (n_units,) 0 or 1.
    scores
        (n_units,) real numbers; a unit whose score is NaN is left out.

    Returns
    -------
    float
        In [0, 1]; NaN with fewer than two classes, which is never replaced by chance (paper,
        appendix F).

    Raises
    ------
    ResponseError
        For labels that are not 0 or 1, no unit, or shapes that do not match.

    Examples
    --------
    >>> auroc([0, 1, 1, 0], [0.1, 0.4, 0.2, 0.2])
    0.875
    """
    from sklearn.metrics import roc_auc_score

    return _measure(roc_auc_score, labels, scores)


def auprc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Average precision: precision at every distinct score, weighted by the recall it adds.

    Parameters
    ----------
    labels
        (n_units,) 0 or 1.
    scores
        (n_units,) real numbers; a unit whose score is NaN is left out.

    Returns
    -------
    float
        In [0, 1]; NaN with fewer than two classes.

    Raises
    ------
    ResponseError
        As for :func:`auroc`.

    Examples
    --------
    >>> auprc([0, 1, 1, 0], [0.1, 0.4, 0.2, 0.3])
    0.8333333333333333
    """
    from sklearn.metrics import average_precision_score

    return _measure(average_precision_score, labels, scores)


def one_vs_rest(labels: ArrayLike, scores: ArrayLike) -> Discrimination:
    """Separate every label from the rest by its own score (paper, section 6.2, appendix I).

    Parameters
    ----------
    labels
        (n_units, n_labels) 0 or 1; a unit may carry several or none.
    scores
        (n_units, n_labels) real numbers, or (n_units,) where one score stands for all labels.
        A missing score, NaN, leaves its unit out.

    Returns
    -------
    Discrimination
        Arrays of shape (n_labels,).

    Raises
    ------
    ResponseError
        For labels that are not 0 or 1, no unit, or shapes that do not match.

    Examples
    --------
    >>> found = one_vs_rest([[1, 0], [0, 1], [0, 0]], [[0.9, 0.1], [0.2, 0.3], [0.4, 0.8]])
    >>> found.auroc.tolist(), float(found.macro_auroc)
    ([1.0, 0.5], 0.75)
    """
    y = as_labels(labels, ndim=2)
    s = per_label_scores(scores, y)
    columns = list(zip(y.T, s.T, strict=True))
    scored = ~np.isnan(s)
    return Discrimination(
        np.array([auroc(*column) for column in columns]),
        np.array([auprc(*column) for column in columns]),
        positive_count=(scored & y).sum(axis=0),
        negative_count=(scored & ~y).sum(axis=0),
    )


def weighted_auroc(labels: ArrayLike, scores: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
    """AUROC of units that are repeated, for every replicate of a bootstrap.

    Parameters
    ----------
    labels
        (n_units,) 0 or 1.
    scores
        (n_units,) real numbers, no NaN.
    weights
        (n_replicates, n_units) how often each unit occurs.

    Returns
    -------
    (n_replicates,) float64
        NaN for a replicate with fewer than two classes.

    Raises
    ------
    ResponseError
        For labels that are not 0 or 1, no unit, NaN, or shapes that do not match.

    Examples
    --------
    >>> weighted_auroc([0, 1, 1], [1, 2, 0], [[1, 1, 1], [1, 2, 0], [0, 2, 1]]).tolist()
    [0.5, 1.0, nan]
    """
    positive, negative = _class_weights(labels, scores, weights)
    below = np.cumsum(negative, axis=1) - negative
    wins = (positive * (below + negative / 2)).sum(axis=1)
    return _quotient(wins, positive.sum(axis=1) * negative.sum(axis=1))


def weighted_auprc(labels: ArrayLike, scores: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
    """Average precision of units that are repeated, for every replicate of a bootstrap.

    Parameters
    ----------
    labels, scores, weights
        As for :func:`weighted_auroc`.

    Returns
    -------
    (n_replicates,) float64
        NaN for a replicate with fewer than two classes.

    Raises
    ------
    ResponseError
        As for :func:`weighted_auroc`.

    Examples
    --------
    >>> weighted_auprc([0, 1, 1], [1, 2, 0], [[1, 1, 1], [1, 2, 0]]).round(3).tolist()
    [0.833, 1.0]
    """
    positive, negative = _class_weights(labels, scores, weights)
    hits, all_above = (
        np.cumsum(side[:, ::-1], axis=1)[:, ::-1] for side in (positive, positive + negative)
    )
    precision = np.divide(hits, all_above, out=np.zeros(hits.shape), where=all_above > 0)
    gains = (positive * precision).sum(axis=1)
    return _quotient(gains, np.where(negative.any(axis=1), positive.sum(axis=1), 0.0))


def as_labels(labels: ArrayLike, ndim: int) -> NDArray[np.bool_]:
    """Behaviours as truth values.

    Parameters
    ----------
    labels
        (n_units,) or (n_units, n_labels), as ``ndim`` says; 0 or 1, of any real type.

    Raises
    ------
    ResponseError
        For anything else, or no unit or label at all.
    """
    y = np.asarray(labels)
    if y.ndim != ndim or y.size == 0:
        shape = "(n_units,)" if ndim == 1 else "(n_units, n_labels)"
        raise ResponseError(f"labels have shape {y.shape}; expected {shape}, at least one unit")
    if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
        raise ResponseError(
            f"labels of dtype {y.dtype} hold other values than 0 and 1; a unit whose behaviour is "
            "unknown cannot be judged, leave it out"
        )
    return y.astype(bool)


def per_label_scores(scores: ArrayLike, labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Scores of the shape of ``labels``, (n_units, n_labels); one score may stand for all labels.

    Raises
    ------
    ResponseError
        For scores that are neither (n_units,) nor (n_units, n_labels).
    """
    s = np.asarray(scores, dtype=np.float64)
    if s.shape == labels.shape[:1]:
        s = np.broadcast_to(s[:, np.newaxis], labels.shape)
    if s.shape != labels.shape:
        raise ResponseError(
            f"scores have shape {s.shape}; expected {labels.shape[:1]}, or {labels.shape} like the "
            "labels"
        )
    return s


def _measure(metric: Callable[..., float], labels: ArrayLike, scores: ArrayLike) -> float:
    y, s = as_labels(labels, ndim=1), np.asarray(scores, dtype=np.float64)
    if s.shape != y.shape:
        raise ResponseError(f"scores have shape {s.shape}; expected {y.shape} like the labels")
    scored = ~np.isnan(s)
    y, s = y[scored], s[scored]
    # It takes longer to load than an audit without analyses needs to plan.
    from scipy.stats import rankdata

    # Only order and ties count, and ranks are finite where scores are not.
    return float(metric(y, rankdata(s))) if 0 < y.sum() < y.size else np.nan


def _class_weights(
    labels: ArrayLike, scores: ArrayLike, weights: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of the positive and of the negative units at every distinct score, ascending."""
    y, w = as_labels(labels, ndim=1), np.asarray(weights, dtype=np.float64)
    everything, _ = tied_weights(scores, w)
    if w.shape[1] != y.size:
        raise ResponseError(f"labels have shape {y.shape}; expected ({w.shape[1]},)")
    positive, _ = tied_weights(scores, w * y)
    return positive, everything - positive


def _quotient(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
