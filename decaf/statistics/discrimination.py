"""AUROC: how well scores separate the units that show a behaviour from all other units."""

import numpy as np
from numpy.typing import ArrayLike


def auroc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Probability that a positive unit scores above a negative one; a tie counts half.

    Labels are (n_units,) 0 or 1, scores (n_units,) real numbers; a unit whose score is NaN is left
    out. The result is in [0, 1], or NaN with fewer than two classes, which is never replaced by
    chance (paper, appendix F).

    >>> auroc([0, 1, 1, 0], [0.1, 0.4, 0.2, 0.2])
    0.875
    """
    y, s = np.asarray(labels, bool), np.asarray(scores, np.float64)
    scored = ~np.isnan(s)
    y, s = y[scored], s[scored]
    if not 0 < y.sum() < y.size:
        return np.nan
    # They take longer to load than an audit without analyses needs to plan.
    from scipy.stats import rankdata
    from sklearn.metrics import roc_auc_score

    # Only order and ties count, and ranks are finite where scores are not.
    return float(roc_auc_score(y, rankdata(s)))
