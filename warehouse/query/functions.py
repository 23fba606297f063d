"""Functions of SQL that are made of numpy: the products and rankings of the bootstrap.

Discrimination, means and sums (``warehouse.query.resampling``) are matrix products for all
replicates at once, and ranks are sorted many lists at once: many times faster than the same in SQL.
All are pure: equal arguments give equal results.
"""

from collections.abc import Callable
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import ResponseError
from decaf.statistics.cluster_discrimination import auprc_of_clusters, auroc_of_clusters
from decaf.statistics.draws import multiplicities, named_draws
from decaf.statistics.ranks import spearman_rows
from warehouse.query import arrow_lists
from warehouse.query.blas import one_blas_thread
from warehouse.query.resampling import resampled_sums

MEASURES = {"auroc": auroc_of_clusters, "auprc": auprc_of_clusters}
CELLS_AT_ONCE = 1 << 23
"""Columns times clusters laid out together: bounds the memory whatever the number of groups."""


class Function(NamedTuple):
    """What a function of SQL is made of."""

    name: str
    call: Callable[..., pa.Array]
    parameters: list[str]
    returns: str
    null_handling: str
    """``default``: it never sees NULL, which gives NULL; ``special``: it does, and may give it."""


def register(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the functions known to a connection."""
    for function in FUNCTIONS:
        connection.create_function(
            function.name,
            function.call,
            function.parameters,
            function.returns,
            type="arrow",
            null_handling=function.null_handling,
        )


@one_blas_thread
def named_means(
    names: pa.ChunkedArray,
    seeds: pa.ChunkedArray,
    replicates: pa.ChunkedArray,
    columns: pa.ChunkedArray,
) -> pa.Array:
    """Mean of columns over the clusters that every replicate of a name drew.

    Raises ResponseError for columns of different lengths, or none.

    Parameters
    ----------
    names, seeds
        ``VARCHAR`` and ``BIGINT``: which draws (:func:`decaf.statistics.draws.named_draws`).
    replicates
        ``BIGINT``: how many of them.
    columns
        ``DOUBLE[][]``: lists of as many numbers, one for each cluster. NULL and NaN are missing:
        their cluster keeps its place among the draws, and counts in no mean.

    Returns
    -------
    pa.Array
        ``DOUBLE[][]``, by column and replicate. The first of every list is the mean of the sample
        itself. NULL is undefined: nothing but missing numbers was drawn.
    """
    given = zip(*(side.to_pylist() for side in (names, seeds, replicates)), strict=True)
    lists = (columns[row].values for row in range(len(columns)))
    means = [_means_of_name(*of, own) for of, own in zip(given, lists, strict=True)]
    return arrow_lists.nested(means).values


@one_blas_thread
def resampled_discrimination(
    draws: pa.ChunkedArray,
    positions: pa.ChunkedArray,
    labels: pa.ChunkedArray,
    scores: pa.ChunkedArray,
    measures: pa.ChunkedArray,
) -> pa.Array:
    """Judge scores of any groups on the clusters that every bootstrap replicate drew.

    Raises ResponseError for replicates of different sizes, groups whose lists have different
    lengths, or an unknown measure.

    Parameters
    ----------
    draws
        ``INTEGER[][]``: positions of the clusters, from 0, that each replicate drew.
    positions
        ``INTEGER[][]``: by group, the cluster of every unit.
    labels
        ``DOUBLE[][]``: by group, 0 or 1 for every unit.
    scores
        ``DOUBLE[][]``: by group, the score of every unit. A unit whose label or score is NULL or
        NaN is left out.
    measures
        ``VARCHAR[]``: ``auroc`` and ``auprc``, or one of them.

    Returns
    -------
    pa.Array
        ``DOUBLE[][][]``, by group, measure and replicate. The first of every list is the sample
        itself. NULL is undefined: fewer than two classes were drawn.
    """
    columns = (draws, positions, labels, scores)
    return arrow_lists.nested(
        [
            _judged_layout(*(column[row].values for column in columns), measures[row].as_py())
            for row in range(len(draws))
        ]
    )


def dense_ranks(entries: pa.ChunkedArray) -> pa.Array:
    """Place of every entry among the different ones of its list, in their order, from 0.

    As ``dense_rank() - 1`` over the rows of a list, which would have to be sorted.

    Takes ``INTEGER[]`` from 0 and gives ``INTEGER[]`` of as many places. Raises ResponseError when
    an entry is NULL or negative.
    """
    lists = entries.combine_chunks()
    lengths, ranks = arrow_lists.lengths(lists), arrow_lists.positions(lists.flatten()).copy()
    for inside in np.split(ranks, np.cumsum(lengths)[:-1]):
        is_there = np.zeros(1 + inside.max(initial=0), bool)
        is_there[inside] = True
        inside[:] = (np.cumsum(is_there) - 1)[inside]
    return arrow_lists.lists(pa.array(ranks), lengths.tolist())


def rank_correlation(x: pa.ChunkedArray, y: pa.ChunkedArray) -> pa.Array:
    """Spearman correlation of two lists; ties share their average rank (paper, section 6.3).

    Takes two ``DOUBLE[]``; entries where either is NULL or NaN are left out, and NULL is an empty
    list. Gives ``DOUBLE`` in [-1, 1]; NULL with fewer than two entries, or all of one side equal.
    Raises ResponseError for two lists of different lengths.
    """
    a, b = (side.combine_chunks() for side in (x, y))
    lengths, others = (arrow_lists.lengths(side) for side in (a, b))
    if not np.array_equal(lengths, others):
        raise ResponseError(
            "rank_correlation: found lists of different lengths; expected two equal"
        )
    entries = [arrow_lists.numbers(side.flatten()) for side in (a, b)]
    starts = np.cumsum(lengths) - lengths
    found = np.full(len(lengths), np.nan)
    for length in np.unique(lengths[lengths > 1]):
        rows = np.flatnonzero(lengths == length)
        places = starts[rows, np.newaxis] + np.arange(length)
        found[rows] = spearman_rows(*(side[places] for side in entries))
    return arrow_lists.doubles(found)


FUNCTIONS = (
    Function(
        "resampled_sums",
        resampled_sums,
        ["BIGINT", "VARCHAR[]", "BIGINT", "BIGINT", "INTEGER[]", "DOUBLE[][]"],
        "DOUBLE[][]",
        "default",
    ),
    Function(
        "resampled_discrimination",
        resampled_discrimination,
        ["INTEGER[][]", "INTEGER[][]", "DOUBLE[][]", "DOUBLE[][]", "VARCHAR[]"],
        "DOUBLE[][][]",
        "default",
    ),
    Function(
        "named_means",
        named_means,
        ["VARCHAR", "BIGINT", "BIGINT", "DOUBLE[][]"],
        "DOUBLE[][]",
        "default",
    ),
    Function("dense_ranks", dense_ranks, ["INTEGER[]"], "INTEGER[]", "default"),
    Function("rank_correlation", rank_correlation, ["DOUBLE[]", "DOUBLE[]"], "DOUBLE", "special"),
)


def _means_of_name(
    name: str, seed: int, replicates: int, columns: pa.ListArray
) -> NDArray[np.float64]:
    """Means of the columns of one name, (1, n_columns, 1 + n_replicates)."""
    lengths = np.unique(arrow_lists.lengths(columns))
    if lengths.size != 1:
        raise ResponseError(
            f"named_means: found columns of {lengths} numbers; expected one number for each cluster"
        )
    values = arrow_lists.numbers(columns.flatten()).reshape(len(columns), -1).T
    is_known = ~np.isnan(values)
    both = np.hstack([np.where(is_known, values, 0), is_known])
    count = len(values)
    sums = np.empty((1 + replicates, both.shape[1]))
    sums[0] = both.sum(axis=0)
    step = max(1, CELLS_AT_ONCE // count)
    for first in range(0, replicates, step):
        drawn = named_draws(name, count, range(first, min(first + step, replicates)), seed)
        sums[1 + first : 1 + first + step] = multiplicities(drawn, count) @ both
    above, below = np.hsplit(sums, 2)
    means = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return means.T[np.newaxis]


def _judged_layout(
    draws: pa.ListArray,
    positions: pa.ListArray,
    labels: pa.ListArray,
    scores: pa.ListArray,
    measures: list[str],
) -> NDArray[np.float64]:
    """Measures of the groups of one layout, (n_groups, n_measures, 1 + n_replicates)."""
    if unknown := set(measures) - MEASURES.keys():
        raise ResponseError(
            f"resampled_discrimination: found {sorted(unknown)} among the measures; expected "
            f"{sorted(MEASURES)}, or one of them"
        )
    clusters = arrow_lists.positions(positions.flatten())
    counts = _counts(draws, clusters)
    lengths = [arrow_lists.lengths(side) for side in (positions, labels, scores)]
    if not all(np.array_equal(lengths[0], other) for other in lengths[1:]):
        raise ResponseError(
            "resampled_discrimination: found groups whose positions, labels and scores are not of "
            "one length; expected one of each for every unit"
        )
    columns = [arrow_lists.numbers(side.flatten()) for side in (labels, scores)]
    ends = np.cumsum(lengths[0])
    found = np.empty((len(positions), len(measures), len(counts)))
    for group, (end, length) in enumerate(zip(ends, lengths[0], strict=True)):
        inside = slice(end - length, end)
        units = [*(column[inside] for column in columns), clusters[inside], counts]
        for place, measure in enumerate(measures):
            found[group, place] = MEASURES[measure](*units)
    return found


def _counts(draws: pa.ListArray, clusters: NDArray[np.int32]) -> NDArray[np.float64]:
    """How often every replicate drew each cluster, (1 + n_replicates, n_clusters): sample first."""
    drawn = arrow_lists.positions(draws.flatten())
    sizes = np.unique(arrow_lists.lengths(draws))
    if sizes.size != 1:
        raise ResponseError(f"bootstrap: found replicates of {sizes} draws; expected one size")
    cluster_count = 1 + int(max(drawn.max(initial=0), clusters.max(initial=0)))
    counts = np.ones((1 + len(draws), cluster_count))
    counts[1:] = multiplicities(drawn.reshape(len(draws), -1), cluster_count)
    return counts
