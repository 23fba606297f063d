"""AUROC: how well scores separate the units that show a behaviour from all other units."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError


def auroc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Probability that a positive unit scores above a negative one; a tie counts half.

    Labels are (n_units,) 0 or 1, scores (n_units,) real numbers; a unit whose score is NaN is left
    out. The result is in [0, 1], or NaN with fewer than two classes, which is never replaced by
    chance (paper, appendix F). Raises ResponseError for labels that are not 0 or 1, no unit, or
    shapes that do not match.

    >>> auroc([0, 1, 1, 0], [0.1, 0.4, 0.2, 0.2])
    0.875
    """
    y, s = as_labels(labels, ndim=1), np.asarray(scores, dtype=np.float64)
    if s.shape != y.shape:
        raise ResponseError(f"scores have shape {s.shape}; expected {y.shape} like the labels")
    scored = ~np.isnan(s)
    y, s = y[scored], s[scored]
    if not 0 < y.sum() < y.size:
        return np.nan
    # They take longer to load than an audit without analyses needs to plan.
    from scipy.stats import rankdata
    from sklearn.metrics import roc_auc_score

    # Only order and ties count, and ranks are finite where scores are not.
    return float(roc_auc_score(y, rankdata(s)))


def as_labels(labels: ArrayLike, ndim: int) -> NDArray[np.bool_]:
    """Behaviours as truth values.

    Labels are (n_units,) or (n_units, n_labels), as ``ndim`` says; 0 or 1, of any real type. Raises
    ResponseError for anything else, or no unit or label at all.
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
