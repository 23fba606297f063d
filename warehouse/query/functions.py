"""Functions of SQL that are made of numpy: the products and rankings of the bootstrap.

Resampled sums and discrimination are matrix products for all replicates at once, and ranks are
sorted many lists at once: many times faster than the same in SQL. All are pure, and see no file.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import ResponseError
from decaf.statistics.cluster_discrimination import auprc_of_clusters, auroc_of_clusters
from decaf.statistics.draws import multiplicities, named_draws
from decaf.statistics.ranks import spearman_rows

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


def resampled_sums(
    draws: pa.ChunkedArray, positions: pa.ChunkedArray, columns: pa.ChunkedArray
) -> pa.Array:
    """Sum columns of any groups over the clusters that every bootstrap replicate drew.

    Raises ResponseError for replicates of different sizes, groups with different numbers of
    columns, or columns that have not one number for every row.

    Parameters
    ----------
    draws
        ``INTEGER[][]``: positions of the clusters, from 0, that each replicate drew.
    positions
        ``INTEGER[][]``: by group, the cluster of every row. A cluster may have many rows, or none.
    columns
        ``DOUBLE[][][]``: by group and column, a number for every row. NULL makes NULL of the sums
        that it is part of.

    Returns
    -------
    pa.Array
        ``DOUBLE[][][]``, by group, column and replicate. The first of every list is the sample
        itself, in which each cluster is drawn once.
    """
    return _nested(
        [
            _sums_of_layout(*(argument[row].values for argument in (draws, positions, columns)))
            for row in range(len(draws))
        ]
    )


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
    return _nested([_means_of_name(*of, own) for of, own in zip(given, lists, strict=True)]).values


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
    return _nested(
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
    lengths, ranks = _lengths(lists), _positions(lists.flatten()).copy()
    for inside in np.split(ranks, np.cumsum(lengths)[:-1]):
        is_there = np.zeros(1 + inside.max(initial=0), bool)
        is_there[inside] = True
        inside[:] = (np.cumsum(is_there) - 1)[inside]
    return _lists(_given(ranks), lengths.tolist())


def rank_correlation(x: pa.ChunkedArray, y: pa.ChunkedArray) -> pa.Array:
    """Spearman correlation of two lists; ties share their average rank (paper, section 6.3).

    Takes two ``DOUBLE[]``; entries where either is NULL or NaN are left out, and NULL is an empty
    list. Gives ``DOUBLE`` in [-1, 1]; NULL with fewer than two entries, or all of one side equal.
    Raises ResponseError for two lists of different lengths.
    """
    a, b = (side.combine_chunks() for side in (x, y))
    lengths, others = (_lengths(side) for side in (a, b))
    if not np.array_equal(lengths, others):
        raise ResponseError(
            "rank_correlation: found lists of different lengths; expected two equal"
        )
    entries = [_numbers(side.flatten()) for side in (a, b)]
    starts = np.cumsum(lengths) - lengths
    found = np.full(len(lengths), np.nan)
    for length in np.unique(lengths[lengths > 1]):
        rows = np.flatnonzero(lengths == length)
        places = starts[rows, np.newaxis] + np.arange(length)
        found[rows] = spearman_rows(*(side[places] for side in entries))
    return _doubles(found)


FUNCTIONS = (
    Function(
        "resampled_sums",
        resampled_sums,
        ["INTEGER[][]", "INTEGER[][]", "DOUBLE[][][]"],
        "DOUBLE[][][]",
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


def _sums_of_layout(
    draws: pa.ListArray, positions: pa.ListArray, columns: pa.ListArray
) -> NDArray[np.float64]:
    """Sums of the groups of one layout, (n_groups, n_columns, 1 + n_replicates)."""
    clusters = _positions(positions.flatten())
    rows = _lengths(positions)
    widths, lists = np.unique(_lengths(columns)), columns.flatten()
    width = int(widths[0]) if widths.size else 0
    lengths = _lengths(lists)
    if widths.size > 1 or not np.array_equal(lengths, np.repeat(rows, width)):
        raise ResponseError(
            f"resampled_sums: found groups of {widths} columns over {rows.sum()} rows; expected "
            "equally many columns in every group, each with one number for every row"
        )
    values, is_there = _stored(lists.flatten())
    counts = _counts(draws, clusters)
    cluster_count = counts.shape[1]
    ends = np.cumsum(rows)
    sums = np.full((len(rows), width, len(counts)), np.nan)
    step = max(1, CELLS_AT_ONCE // max(1, width * cluster_count))
    # Memory that is new costs more than the sums: one array for all steps.
    laid_out = np.empty((min(step, len(rows)) * width, cluster_count))
    for first in range(0, len(rows), step):
        part = sums[first : first + step]
        is_known = np.zeros(part.shape[:2], bool)
        filled = 0
        for known, end, count in zip(is_known, ends[first:], rows[first:], strict=False):
            entries = slice(width * (end - count), width * end)
            numbers, there = (side[entries].reshape(width, count) for side in (values, is_there))
            # What is missing in one cluster is missing in every sum.
            known[:] = there.all(axis=1) & ~np.isnan(numbers).any(axis=1)
            lines = laid_out[filled : filled + known.sum()]
            filled += len(lines)
            cells = clusters[end - count : end] + cluster_count * np.arange(len(lines))[:, None]
            weights = numbers[known].ravel()
            found = np.bincount(cells.ravel(), weights=weights, minlength=lines.size)
            lines[:] = found.reshape(lines.shape)
        part[is_known] = laid_out[:filled] @ counts.T
    return sums


def _means_of_name(
    name: str, seed: int, replicates: int, columns: pa.ListArray
) -> NDArray[np.float64]:
    """Means of the columns of one name, (1, n_columns, 1 + n_replicates)."""
    lengths = np.unique(_lengths(columns))
    if lengths.size != 1:
        raise ResponseError(
            f"named_means: found columns of {lengths} numbers; expected one number for each cluster"
        )
    values = _numbers(columns.flatten()).reshape(len(columns), -1).T
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
    clusters = _positions(positions.flatten())
    counts = _counts(draws, clusters)
    lengths = [_lengths(side) for side in (positions, labels, scores)]
    if not all(np.array_equal(lengths[0], other) for other in lengths[1:]):
        raise ResponseError(
            "resampled_discrimination: found groups whose positions, labels and scores are not of "
            "one length; expected one of each for every unit"
        )
    columns = [_numbers(side.flatten()) for side in (labels, scores)]
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
    drawn = _positions(draws.flatten())
    sizes = np.unique(_lengths(draws))
    if sizes.size != 1:
        raise ResponseError(f"bootstrap: found replicates of {sizes} draws; expected one size")
    cluster_count = 1 + int(max(drawn.max(initial=0), clusters.max(initial=0)))
    counts = np.ones((1 + len(draws), cluster_count))
    counts[1:] = multiplicities(drawn.reshape(len(draws), -1), cluster_count)
    return counts


def _positions(places: pa.Array) -> NDArray[np.int32]:
    """Positions of clusters as they are, none of them missing or negative."""
    if places.null_count or np.from_dlpack(places).min(initial=0) < 0:
        raise ResponseError(
            "bootstrap: found a position that is NULL or negative; expected the places of "
            "clusters, from 0"
        )
    return np.from_dlpack(places)


def _numbers(values: pa.Array) -> NDArray[np.float64]:
    """Numbers in which NaN stands for NULL."""
    return _filled(values, np.float64(np.nan))


def _lengths(lists: pa.ListArray) -> NDArray[np.int32]:
    """Length of every list; that of NULL is 0."""
    return _filled(lists.value_lengths(), np.int32(0))


def _stored(values: pa.Array) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Arrow's memory as numbers, and which of them are there: what NULL stands on is anything."""
    if not values.null_count:
        return np.from_dlpack(values), np.ones(len(values), bool)
    numbers = [None, values.buffers()[1]]
    whole = pa.Array.from_buffers(values.type, len(values), numbers, offset=values.offset)
    valid = values.is_valid()  # may begin within a byte
    bits = np.frombuffer(valid.buffers()[1], np.uint8)[valid.offset // 8 :]
    before = valid.offset % 8
    is_there = np.unpackbits(bits, count=before + len(values), bitorder="little")[before:]
    return np.from_dlpack(whole), is_there.view(bool)


def _filled(values: pa.Array, missing: np.generic) -> NDArray[Any]:
    """Arrow's memory as an array, of the type of ``missing``, which stands for NULL.

    Arrow's own ``to_numpy`` would load pandas, which takes longer than to open a warehouse; so
    would its ``array`` and ``scalar``.
    """
    if values.null_count:
        values = values.fill_null(_given(np.full(1, missing))[0])
    return np.from_dlpack(values)


def _given(values: NDArray[Any], known: NDArray[np.bool_] | None = None) -> pa.Array:
    """The memory of an array as Arrow's, NULL where it is not known."""
    bits = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    type_ = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(type_, len(values), [bits, pa.py_buffer(values)])


def _doubles(values: NDArray[np.float64]) -> pa.Array:
    """Numbers as ``DOUBLE``, in which NULL stands for NaN."""
    return _given(values, ~np.isnan(values))


def _lists(values: pa.Array, lengths: list[int]) -> pa.ListArray:
    """Cut values into lists of these lengths."""
    return pa.ListArray.from_arrays(_given(np.cumsum([0, *lengths], dtype=np.int32)), values)


def _nested(results: list[NDArray[np.float64]]) -> pa.ListArray:
    """Arrays of three axes, one for each row, as lists of lists of lists."""
    values = _doubles(np.concatenate([np.empty(0), *(result.ravel() for result in results)]))
    shapes = [result.shape for result in results]
    innermost = _lists(values, [n for groups, rows, n in shapes for _ in range(groups * rows)])
    inner = _lists(innermost, [rows for groups, rows, _ in shapes for _ in range(groups)])
    return _lists(inner, [groups for groups, _, _ in shapes])
