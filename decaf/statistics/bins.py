"""Behaviours told apart among units of equal magnitude: quantile bins of the ordinary response."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.routing.route import as_scores
from decaf.statistics.discrimination import Discrimination, as_labels, one_vs_rest, per_label_scores


class QuantileBins(NamedTuple):
    """Right-closed intervals between quantiles; the first holds the minimum as well."""

    edges: NDArray[np.float64]
    """(n_bins + 1,) in the unit of the magnitude; equal only where all magnitudes are."""
    bin_of: NDArray[np.int64]
    """(n_units,) bin of every unit, from 0."""

    @property
    def bin_count(self) -> int:
        """Bins, which may be empty."""
        return self.edges.size - 1


def quantile_bins(magnitude: ArrayLike, bin_count: int) -> QuantileBins:
    """Cut a magnitude into bins of about equally many units (paper, section 6.2, appendix F).

    Edges interpolate linearly between units. Edges that coincide are dropped, so that ties lie in
    one bin and there may be fewer bins than asked for. They are those of ``pandas.qcut`` in
    pandas 3.

    Parameters
    ----------
    magnitude
        (n_units,) finite real numbers.
    bin_count
        At least 1.

    Raises
    ------
    ResponseError
        For a magnitude that is not such a list, or a bad number of bins.

    Examples
    --------
    >>> bins = quantile_bins([4, 1, 2, 3, 9], 2)
    >>> bins.edges.tolist(), bins.bin_of.tolist()
    ([1.0, 3.0, 9.0], [1, 0, 0, 0, 1])
    """
    is_whole = isinstance(bin_count, int | np.integer) and not isinstance(bin_count, bool)
    if not is_whole or bin_count < 1:
        raise ResponseError(f"bin_count is {bin_count!r}; expected a whole number above 0")
    values = as_scores(magnitude, "magnitude")
    if values.ndim != 1:
        raise ResponseError(f"magnitude has shape {values.shape}; expected (n_units,)")
    edges = np.unique(np.quantile(values, _shares(bin_count)))
    if edges.size == 1:
        edges = np.repeat(edges, 2)
    return QuantileBins(edges, np.searchsorted(edges[1:-1], values, side="left"))


def within_bins(labels: ArrayLike, scores: ArrayLike, bins: QuantileBins) -> Discrimination:
    """Separate every label from the rest inside every bin.

    Parameters
    ----------
    labels
        (n_units, n_labels) 0 or 1.
    scores
        (n_units, n_labels) real numbers, or (n_units,) where one score stands for all labels.
        A missing score, NaN, leaves its unit out.

    Returns
    -------
    Discrimination
        Arrays of shape (n_bins, n_labels), macro means of shape (n_bins,). The counts of a bin
        tell why a label is undefined there.

    Raises
    ------
    ResponseError
        As for :func:`decaf.statistics.discrimination.one_vs_rest`, or bins of other units.

    Examples
    --------
    >>> labels, scores = [[1], [0], [1], [1]], [0.9, 0.1, 0.3, 0.4]
    >>> within_bins(labels, scores, quantile_bins([1, 1, 5, 6], 2)).auroc.tolist()
    [[1.0], [nan]]
    """
    y = _labels_of(bins, labels)
    s = per_label_scores(scores, y)
    empty = Discrimination(
        *(np.full(y.shape[1], np.nan) for _ in range(2)),
        *(np.zeros(y.shape[1], dtype=np.int64) for _ in range(2)),
    )
    found = []
    for number in range(bins.bin_count):
        inside = bins.bin_of == number
        found.append(one_vs_rest(y[inside], s[inside]) if inside.any() else empty)
    return Discrimination(*(np.stack(field) for field in zip(*found, strict=True)))


def common_support(labels: ArrayLike, bins: QuantileBins) -> NDArray[np.bool_]:
    """Bins in which every label occurs both positively and negatively, whatever the scores.

    Returns
    -------
    (n_bins,) bool

    Raises
    ------
    ResponseError
        For labels that are not 0 or 1, or bins of other units.

    Examples
    --------
    >>> common_support([[1], [0], [1], [1]], quantile_bins([1, 1, 5, 6], 2)).tolist()
    [True, False]
    """
    y = _labels_of(bins, labels)
    units = np.bincount(bins.bin_of, minlength=bins.bin_count)
    positive = np.stack(
        [np.bincount(bins.bin_of[column], minlength=bins.bin_count) for column in y.T], axis=1
    )
    return np.all((positive > 0) & (positive < units[:, np.newaxis]), axis=1)


def valid_bin_macro(by_bin: ArrayLike) -> float:
    """Mean over labels of the mean over the bins in which the label is defined.

    Parameters
    ----------
    by_bin
        (n_bins, n_labels) such as ``within_bins(...).auroc``; NaN where undefined.

    Returns
    -------
    float
        NaN when a label is defined in no bin.

    Raises
    ------
    ResponseError
        For an array of another shape.

    Examples
    --------
    >>> valid_bin_macro([[0.5, 1.0], [0.7, np.nan]])
    0.8
    """
    values = _table(by_bin)
    is_defined = ~np.isnan(values)
    if not is_defined.any(axis=0).all():
        return np.nan
    return float(np.mean(np.where(is_defined, values, 0.0).sum(axis=0) / is_defined.sum(axis=0)))


def common_support_macro(by_bin: ArrayLike, is_common: ArrayLike) -> float:
    """Mean over the common bins of the mean over labels.

    Parameters
    ----------
    by_bin
        (n_bins, n_labels) such as ``within_bins(...).auroc``; NaN where undefined.
    is_common
        (n_bins,) from :func:`common_support`.

    Returns
    -------
    float
        NaN without a common bin, or where missing scores leave a label undefined in one.

    Raises
    ------
    ResponseError
        For arrays of other shapes.

    Examples
    --------
    >>> common_support_macro([[0.5, 1.0], [0.7, np.nan]], [True, False])
    0.75
    """
    values, common = _table(by_bin), np.asarray(is_common)
    if common.dtype != bool or common.shape != values.shape[:1]:
        raise ResponseError(
            f"is_common has shape {common.shape} and dtype {common.dtype}; expected one truth "
            f"value for each of {len(values)} bins"
        )
    return float(values[common].mean(axis=1).mean()) if common.any() else np.nan


def _shares(bin_count: int) -> NDArray[np.float64]:
    """Shares of the units below every edge, to the last bit those of pandas 3.

    A share that no float64 is equal to is rounded up: one that is too small may put an edge that
    lies on a unit below it, and the unit in the next bin.
    """
    shares = np.linspace(0, 1, bin_count + 1)
    is_exact = bin_count * shares == np.arange(bin_count + 1)
    return np.where(is_exact, shares, np.nextafter(shares, 1))


def _table(by_bin: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(by_bin, dtype=np.float64)
    if values.ndim != 2 or values.size == 0:
        raise ResponseError(f"values have shape {values.shape}; expected (n_bins, n_labels)")
    return values


def _labels_of(bins: QuantileBins, labels: ArrayLike) -> NDArray[np.bool_]:
    y = as_labels(labels, ndim=2)
    if len(y) != bins.bin_of.size:
        raise ResponseError(
            f"labels are of {len(y)} units and bins of {bins.bin_of.size}; expected the same units"
        )
    return y
