"""Bins, discrimination and matched pairs as they are defined, by pandas, SciPy and scikit-learn."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score


class Bins(NamedTuple):
    edges: np.ndarray
    bin_of: np.ndarray

    @property
    def bin_count(self):
        return self.edges.size - 1


class MatchedAgreement(NamedTuple):
    accuracy: float
    ranking_accuracy: float
    pair_count: int
    ranking_count: int


def pair_columns(pairs, **of_units):
    """Columns of both units of each pair: ``left_<name>`` and ``right_<name>``."""
    return {
        f"{side}_{name}": values[units]
        for side, units in zip(("left", "right"), pairs.T, strict=True)
        for name, values in of_units.items()
    }


def quantile_bins(magnitude, bin_count):
    values = np.asarray(magnitude, float)
    if np.ptp(values) == 0:
        return Bins(np.repeat(values[:1], 2), np.zeros(values.size, int))
    bin_of, edges = pd.qcut(values, bin_count, labels=False, retbins=True, duplicates="drop")
    return Bins(edges, bin_of)


def auroc(labels, scores):
    return _of_scored(roc_auc_score, labels, scores)


def auprc(labels, scores):
    return _of_scored(average_precision_score, labels, scores)


def _of_scored(metric, labels, scores):
    y, s = np.asarray(labels, bool), np.asarray(scores, float)
    y, s = y[~np.isnan(s)], s[~np.isnan(s)]
    # Ranks are finite where scores are not.
    return metric(y, rankdata(s)) if 0 < y.sum() < y.size else np.nan


def weighted_auroc(labels, scores, weights):
    """(n_replicates,) AUROC of units that are repeated; weights are (n_replicates, n_units)."""
    y, s, w = np.asarray(labels, bool), np.asarray(scores), np.asarray(weights, float)
    is_above = (s[y, None] > s[~y]) + (s[y, None] == s[~y]) / 2
    wins = (w[:, y] @ is_above * w[:, ~y]).sum(axis=1)
    return _quotient(wins, w[:, y].sum(axis=1) * w[:, ~y].sum(axis=1))


def weighted_auprc(labels, scores, weights):
    """As :func:`weighted_auroc`: precision at every positive unit, weighted."""
    y, s, w = np.asarray(labels, bool), np.asarray(scores), np.asarray(weights, float)
    is_called = s[:, None] >= s[y]
    precision = _quotient(w[:, y] @ is_called[y], w @ is_called)
    gains = np.nansum(w[:, y] * precision, axis=1)
    return _quotient(gains, np.where(w[:, ~y].any(axis=1), w[:, y].sum(axis=1), 0))


def role_credit(scores, labels):
    """Share of a unit's largest coordinates that name a behaviour which it shows."""
    y = np.asarray(labels, bool)
    s = _per_label(scores, y)
    is_largest = s == s.max(axis=1, keepdims=True)
    return _quotient((is_largest & y).sum(axis=1), is_largest.sum(axis=1))


def matched_agreement(scores, labels, pairs):
    y, rows = np.asarray(labels, bool), np.reshape(pairs, (-1, 2))
    s = _per_label(scores, y)
    credit = pd.Series(role_credit(s, y)[rows].mean(axis=1)).dropna()
    differ = y[rows[:, 0]] != y[rows[:, 1]]
    # The score of the member that carries a label, over that of the other.
    lead = np.where(y[rows[:, 0]], 1, -1) * (s[rows[:, 0]] - s[rows[:, 1]])
    wins = (np.sign(pd.Series(lead[differ]).dropna()) + 1) / 2
    return MatchedAgreement(credit.mean(), wins.mean(), credit.size, wins.size)


def _per_label(scores, labels):
    """One score of a unit may stand for all its labels."""
    s = np.asarray(scores, float)
    return np.broadcast_to(s if s.ndim == 2 else s[:, None], labels.shape)


def _quotient(above, below):
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
