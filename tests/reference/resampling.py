"""Statistics of the rows that every replicate of a bootstrap drew, written out."""

import numpy as np
import pandas as pd

from decaf.statistics.bootstrap import percentile_interval


def replicate_means(values, draws, clusters=None):
    """(n_replicates,) mean of the values of the drawn clusters; NaN is missing."""
    sums, counts = _by_cluster(values, clusters)
    return _ratio(sums[draws].sum(axis=1), counts[draws].sum(axis=1))


def bootstrap_ratio(x, y, clusters=None, draws=None):
    """Interval of the mean of ``x`` over the mean of ``y``, of rows that have both."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    x, y = np.where(np.isnan(y), np.nan, x), np.where(np.isnan(x), np.nan, y)
    (above, counts), (below, _) = (_by_cluster(side, clusters) for side in (x, y))
    ratios = _ratio(above[draws].sum(axis=1), below[draws].sum(axis=1))
    return percentile_interval(_ratio(above.sum(), below.sum()), ratios, (counts > 0).sum())


def bootstrap_spearman(x, y, draws):
    """Interval of the rank correlation of rows that are drawn one by one."""
    x, y = np.asarray(x), np.asarray(y)
    return percentile_interval(spearman(x, y), spearman_rows(x[draws], y[draws]), x.size)


def spearman(x, y):
    return spearman_rows([x], [y])[0]


def spearman_rows(x, y):
    """Rank correlation of every row of ``x`` with that of ``y``, NaN where undefined."""
    x, y = pd.DataFrame(np.asarray(x, float)), pd.DataFrame(np.asarray(y, float))
    ranks = (side.where(x.notna() & y.notna()).rank(axis=1) for side in (x, y))
    return next(ranks).corrwith(next(ranks), axis=1).to_numpy()


def _by_cluster(values, clusters):
    """Sum and number of the values of every cluster, in the order of their names."""
    column = pd.Series(np.asarray(values, float))
    groups = column.groupby(np.arange(column.size) if clusters is None else np.asarray(clusters))
    return groups.sum().to_numpy(), groups.count().to_numpy()


def _ratio(above, below):
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)
