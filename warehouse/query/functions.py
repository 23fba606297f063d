"""SQL functions written with numpy: the products and rankings of the bootstrap.

Discrimination, means and sums (``warehouse.query.resampling``) are matrix products over all
replicates. Ranks are sorted in many lists at once. Both are many times faster than in SQL.
All functions are pure: equal arguments give equal results.
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
"""Most columns times sources in memory at a time, for any number of groups."""


class Function(NamedTuple):
    """Declaration of one SQL function."""

    name: str
    call: Callable[..., pa.Array]
    parameters: list[str]
    returns: str
    null_handling: str
    """``default``: NULL gives NULL without a call; ``special``: the function handles NULL."""


def register(connection: duckdb.DuckDBPyConnection) -> None:
    """Register the functions on a connection."""
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
    """Average columns over the sources that every replicate of a name drew.

    Raises ResponseError for columns of different lengths, and without columns.

    Parameters
    ----------
    names, seeds
        ``VARCHAR`` and ``BIGINT``: select the draws (:func:`decaf.statistics.draws.named_draws`).
    replicates
        ``BIGINT``: number of replicates.
    columns
        ``DOUBLE[][]``: lists of equal length, with one number for each source. NULL and NaN are
        missing: the source can still be drawn, but is left out of the mean.

    Returns
    -------
    pa.Array
        ``DOUBLE[][]``, by column and replicate. The first entry of every list is the mean of the
        sample itself. NULL is undefined: all drawn numbers are missing.
    """
    draws = zip(*(side.to_pylist() for side in (names, seeds, replicates)), strict=True)
    lists = (columns[row].values for row in range(len(columns)))
    means = [
        _means_of_name(*draw, columns_of_name)
        for draw, columns_of_name in zip(draws, lists, strict=True)
    ]
    return arrow_lists.nest_arrays(means).values


@one_blas_thread
def resampled_discrimination(
    draws: pa.ChunkedArray,
    positions: pa.ChunkedArray,
    labels: pa.ChunkedArray,
    scores: pa.ChunkedArray,
    measures: pa.ChunkedArray,
) -> pa.Array:
    """Compute AUROC and AUPRC of groups on the sources that every bootstrap replicate drew.

    Raises ResponseError for replicates of different sizes, groups whose lists have different
    lengths, and an unknown measure.

    Parameters
    ----------
    draws
        ``INTEGER[][]``: positions of the sources, from 0, that each replicate drew.
    positions
        ``INTEGER[][]``: by group, the source of every unit.
    labels
        ``DOUBLE[][]``: by group, 0 or 1 for every unit.
    scores
        ``DOUBLE[][]``: by group, the score of every unit. A unit whose label or score is NULL or
        NaN is left out.
    measures
        ``VARCHAR[]``: ``auroc``, ``auprc`` or both.

    Returns
    -------
    pa.Array
        ``DOUBLE[][][]``, by group, measure and replicate. The first entry of every list is of the
        sample itself. NULL is undefined: fewer than two classes were drawn.
    """
    columns = (draws, positions, labels, scores)
    return arrow_lists.nest_arrays(
        [
            _measure_layout(*(column[row].values for column in columns), measures[row].as_py())
            for row in range(len(draws))
        ]
    )


def dense_ranks(entries: pa.ChunkedArray) -> pa.Array:
    """Rank every entry among the distinct entries of its list, from 0.

    Equals ``dense_rank() - 1`` over the rows of a list, without sorting.

    Takes ``INTEGER[]`` from 0 and returns ``INTEGER[]`` of the same length. Raises ResponseError
    when an entry is NULL or negative.
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

    Takes two ``DOUBLE[]``. Entries where either is NULL or NaN are left out; a NULL list counts as
    empty. Returns ``DOUBLE`` in [-1, 1]; NULL with fewer than two entries, or if all entries of one
    list are equal. Raises ResponseError for two lists of different lengths.
    """
    a, b = (side.combine_chunks() for side in (x, y))
    lengths, lengths_of_y = (arrow_lists.lengths(side) for side in (a, b))
    if not np.array_equal(lengths, lengths_of_y):
        raise ResponseError(
            "rank_correlation: found lists of different lengths; expected equal lengths"
        )
    entries = [arrow_lists.numbers(side.flatten()) for side in (a, b)]
    starts = np.cumsum(lengths) - lengths
    correlations = np.full(len(lengths), np.nan)
    for length in np.unique(lengths[lengths > 1]):
        rows = np.flatnonzero(lengths == length)
        places = starts[rows, np.newaxis] + np.arange(length)
        correlations[rows] = spearman_rows(*(side[places] for side in entries))
    return arrow_lists.doubles(correlations)


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
    """(1, n_columns, 1 + n_replicates) means of the columns of one name."""
    lengths = np.unique(arrow_lists.lengths(columns))
    if lengths.size != 1:
        raise ResponseError(
            f"named_means: found columns of {lengths} numbers; expected one number for each source"
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


def _measure_layout(
    draws: pa.ListArray,
    positions: pa.ListArray,
    labels: pa.ListArray,
    scores: pa.ListArray,
    measures: list[str],
) -> NDArray[np.float64]:
    """(n_groups, n_measures, 1 + n_replicates) measures of the groups of one layout."""
    if unknown := set(measures) - MEASURES.keys():
        raise ResponseError(
            f"resampled_discrimination: found the measures {sorted(unknown)}; expected one or more "
            f"of {sorted(MEASURES)}"
        )
    sources = arrow_lists.positions(positions.flatten())
    counts = _count_draws(draws, sources)
    lengths = [arrow_lists.lengths(side) for side in (positions, labels, scores)]
    if not all(np.array_equal(lengths[0], lengths_of_side) for lengths_of_side in lengths[1:]):
        raise ResponseError(
            "resampled_discrimination: found groups whose positions, labels and scores differ in "
            "length; expected one of each for every unit"
        )
    columns = [arrow_lists.numbers(side.flatten()) for side in (labels, scores)]
    ends = np.cumsum(lengths[0])
    results = np.empty((len(positions), len(measures), len(counts)))
    for group, (end, length) in enumerate(zip(ends, lengths[0], strict=True)):
        inside = slice(end - length, end)
        units = [*(column[inside] for column in columns), sources[inside], counts]
        for place, measure in enumerate(measures):
            results[group, place] = MEASURES[measure](*units)
    return results


def _count_draws(draws: pa.ListArray, sources: NDArray[np.int32]) -> NDArray[np.float64]:
    """(1 + n_replicates, n_sources) number of draws of each source; the first row is the sample."""
    drawn = arrow_lists.positions(draws.flatten())
    sizes = np.unique(arrow_lists.lengths(draws))
    if sizes.size != 1:
        raise ResponseError(f"bootstrap: found replicates of {sizes} draws; expected equal sizes")
    source_count = 1 + int(max(drawn.max(initial=0), sources.max(initial=0)))
    counts = np.ones((1 + len(draws), source_count))
    counts[1:] = multiplicities(drawn.reshape(len(draws), -1), source_count)
    return counts
