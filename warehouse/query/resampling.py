"""Sums over the clusters that every replicate of a bootstrap drew, as a function of SQL."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import ResponseError
from warehouse.query import arrow_lists
from warehouse.query.blas import one_blas_thread
from warehouse.query.draws import Drawn, draw_clusters

CELLS_AT_ONCE = 1 << 23
"""Columns times clusters that are laid out together: bounds the memory."""
DRAWS_AT_ONCE = 1 << 17
"""Replicates times clusters that are multiplied at once: a megabyte, which stays in the cache."""


class Group(NamedTuple):
    """Rows of one group."""

    clusters: NDArray[np.int32]
    """Position of the cluster of every row."""
    columns: NDArray[np.float64]
    """(n_columns, n_rows), NaN where a number is missing."""


Layout = tuple[int, tuple[str | None, ...], int, int]
"""Number of clusters, their strata, replicates and seed: what draws depend on."""


@one_blas_thread
def resampled_sums(
    cluster_counts: pa.ChunkedArray,
    strata: pa.ChunkedArray,
    replicates: pa.ChunkedArray,
    seeds: pa.ChunkedArray,
    positions: pa.ChunkedArray,
    columns: pa.ChunkedArray,
) -> pa.Array:
    """Sum columns of any groups over the clusters that every bootstrap replicate drew.

    A group depends on no other, so that a query about some groups computes these alone.

    Raises ResponseError for columns that have not one number for every row, and for a cluster that
    is not there.

    Parameters
    ----------
    cluster_counts
        ``BIGINT``: clusters that are drawn from, and drawn.
    strata
        ``VARCHAR[]``: the stratum of every cluster, or an empty list.
    replicates, seeds
        ``BIGINT``.
    positions
        ``INTEGER[]``: the cluster of every row, from 0. A cluster may have many rows, or none.
    columns
        ``DOUBLE[][]``: by column, a number for every row. NULL makes NULL of the sums that it is
        part of.

    Returns
    -------
    pa.Array
        ``DOUBLE[][]``, by column and replicate. The first of every list is the sample itself, in
        which each cluster is drawn once.
    """
    places, lists = positions.combine_chunks(), columns.combine_chunks()
    rows, widths = arrow_lists.lengths(places), arrow_lists.lengths(lists)
    cells = lists.flatten()
    if not np.array_equal(arrow_lists.lengths(cells), np.repeat(rows, widths)):
        raise ResponseError(
            "resampled_sums: found columns that have not one number for every row; expected lists "
            "as long as that of positions"
        )
    clusters = arrow_lists.positions(places.flatten())
    values = arrow_lists.numbers(cells.flatten())
    ends, cell_ends = np.cumsum(rows), np.cumsum(rows.astype(np.int64) * widths)
    groups = [
        Group(
            clusters[end - count : end], values[last - width * count : last].reshape(width, count)
        )
        for end, count, last, width in zip(ends, rows, cell_ends, widths, strict=True)
    ]
    layouts: dict[Layout, list[int]] = {}
    asked = (side.to_pylist() for side in (cluster_counts, strata, replicates, seeds))
    for place, (count, of_clusters, *drawn) in enumerate(zip(*asked, strict=True)):
        layouts.setdefault((count, tuple(of_clusters), *drawn), []).append(place)
    sums = [np.empty((1, 0, 0))] * len(groups)
    for layout, members in layouts.items():
        drawn = draw_clusters(*layout)
        for member, found in zip(
            members, _sums([groups[member] for member in members], drawn), strict=True
        ):
            sums[member] = found[np.newaxis]
    return arrow_lists.nested(sums).values


def _sums(groups: Sequence[Group], drawn: Drawn) -> Iterator[NDArray[np.float64]]:
    """Sums of groups of one layout, each (n_columns, 1 + n_replicates)."""
    most = max(1, CELLS_AT_ONCE // max(1, drawn.counts.shape[1]))
    together: list[Group] = []
    for group in groups:
        if together and sum(len(one.columns) for one in (*together, group)) > most:
            yield from _sums_at_once(together, drawn)
            together = []
        together.append(group)
    yield from _sums_at_once(together, drawn)


def _sums_at_once(groups: Sequence[Group], drawn: Drawn) -> list[NDArray[np.float64]]:
    replicates, unit_count = drawn.counts.shape
    cluster_count = len(drawn.unit_of_cluster)
    ends = np.cumsum([len(group.columns) for group in groups])
    laid_out = np.empty((int(ends[-1]), unit_count))
    for (clusters, columns), end in zip(groups, ends, strict=True):
        if clusters.max(initial=-1) >= cluster_count:
            raise ResponseError(
                f"resampled_sums: found the position {clusters.max()}; expected those of "
                f"{cluster_count} clusters, from 0"
            )
        units = drawn.unit_of_cluster[clusters]
        lines = laid_out[end - len(columns) : end]
        for line, column in zip(lines, columns, strict=True):
            line[:] = np.bincount(units, weights=column, minlength=unit_count)
    sums = np.zeros((len(laid_out), 1 + replicates))
    sums[:, 0] = laid_out.sum(axis=1)
    step = min(max(1, DRAWS_AT_ONCE // replicates), unit_count)
    # Memory that is new costs more than the sums: one array for all steps.
    weights = np.empty((replicates, step), order="F")
    for first in range(0, unit_count, step):
        portion = slice(first, min(first + step, unit_count))
        part = weights[:, : portion.stop - first]
        part[:] = drawn.counts[:, portion]
        # What is missing in one cluster is missing in every sum: NaN stays NaN, whatever its count.
        sums[:, 1:] += laid_out[:, portion] @ part.T
    return np.split(sums, ends[:-1])
