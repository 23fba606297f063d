"""Sums over the sources that every replicate of a bootstrap drew, as an SQL function."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import ResponseError
from warehouse.query import arrow_lists
from warehouse.query.blas import one_blas_thread
from warehouse.query.draws import SourceDraws, draw_sources

CELLS_AT_ONCE = 1 << 23
"""Most columns times draw units of a batch of groups; a larger group is a batch of one."""
DRAWS_AT_ONCE = 1 << 17
"""Replicates times sources that are multiplied at once: a megabyte, which stays in the cache."""


class Group(NamedTuple):
    """Rows of one group."""

    sources: NDArray[np.int32]
    """(n_rows,) position of the source of every row."""
    columns: NDArray[np.float64]
    """(n_columns, n_rows), NaN for missing numbers."""


Layout = tuple[int, tuple[str | None, ...], int, int]
"""Number of sources, their strata, replicates and seed, which determine the draws."""


@one_blas_thread
def resampled_sums(
    source_counts: pa.ChunkedArray,
    strata: pa.ChunkedArray,
    replicates: pa.ChunkedArray,
    seeds: pa.ChunkedArray,
    positions: pa.ChunkedArray,
    columns: pa.ChunkedArray,
) -> pa.Array:
    """Sum columns of groups over the sources that every bootstrap replicate drew.

    Groups are independent, so that a query about some groups computes only those.

    Raises ResponseError for columns without exactly one number for every row, and for the position
    of a source that does not exist.

    Parameters
    ----------
    source_counts
        ``BIGINT``: number of sources, and of draws in a replicate.
    strata
        ``VARCHAR[]``: the stratum of every source, or an empty list.
    replicates, seeds
        ``BIGINT``.
    positions
        ``INTEGER[]``: the source of every row, from 0. A source may have many rows, or none.
    columns
        ``DOUBLE[][]``: by column, a number for every row. A sum that includes NULL is NULL.

    Returns
    -------
    pa.Array
        ``DOUBLE[][]``, by column and replicate. The first entry of every list is the sample itself,
        in which each source is drawn once.
    """
    places, lists = positions.combine_chunks(), columns.combine_chunks()
    rows, widths = arrow_lists.lengths(places), arrow_lists.lengths(lists)
    cells = lists.flatten()
    if not np.array_equal(arrow_lists.lengths(cells), np.repeat(rows, widths)):
        raise ResponseError(
            "resampled_sums: some columns have another length than 'positions'; expected one "
            "number for each row"
        )
    sources = arrow_lists.positions(places.flatten())
    values = arrow_lists.numbers(cells.flatten())
    ends, cell_ends = np.cumsum(rows), np.cumsum(rows.astype(np.int64) * widths)
    groups = [
        Group(sources[end - count : end], values[last - width * count : last].reshape(width, count))
        for end, count, last, width in zip(ends, rows, cell_ends, widths, strict=True)
    ]
    layouts: dict[Layout, list[int]] = {}
    layout_columns = (side.to_pylist() for side in (source_counts, strata, replicates, seeds))
    for place, (count, strata_of_sources, *draws) in enumerate(zip(*layout_columns, strict=True)):
        layouts.setdefault((count, tuple(strata_of_sources), *draws), []).append(place)
    sums = [np.empty((1, 0, 0))] * len(groups)
    for layout, members in layouts.items():
        draws = draw_sources(*layout)
        for member, group_sums in zip(
            members, _sum_groups([groups[member] for member in members], draws), strict=True
        ):
            sums[member] = group_sums[np.newaxis]
    return arrow_lists.nest_arrays(sums).values


def _sum_groups(groups: Sequence[Group], draws: SourceDraws) -> Iterator[NDArray[np.float64]]:
    """Yield the sums of groups of one layout, each (n_columns, 1 + n_replicates)."""
    most = max(1, CELLS_AT_ONCE // max(1, draws.counts.shape[1]))
    batch: list[Group] = []
    for group in groups:
        if batch and sum(len(member.columns) for member in (*batch, group)) > most:
            yield from _sum_batch(batch, draws)
            batch = []
        batch.append(group)
    yield from _sum_batch(batch, draws)


def _sum_batch(groups: Sequence[Group], draws: SourceDraws) -> list[NDArray[np.float64]]:
    replicates, unit_count = draws.counts.shape
    source_count = len(draws.unit_of_source)
    ends = np.cumsum([len(group.columns) for group in groups])
    laid_out = np.empty((int(ends[-1]), unit_count))
    for (sources, columns), end in zip(groups, ends, strict=True):
        if sources.max(initial=-1) >= source_count:
            raise ResponseError(
                f"resampled_sums: found the position {sources.max()}; expected positions below "
                f"{source_count}, the number of sources"
            )
        units = draws.unit_of_source[sources]
        lines = laid_out[end - len(columns) : end]
        for line, column in zip(lines, columns, strict=True):
            line[:] = np.bincount(units, weights=column, minlength=unit_count)
    sums = np.zeros((len(laid_out), 1 + replicates))
    sums[:, 0] = laid_out.sum(axis=1)
    step = min(max(1, DRAWS_AT_ONCE // replicates), unit_count)
    # Allocating memory costs more than the sums, so all steps share one array.
    weights = np.empty((replicates, step), order="F")
    for first in range(0, unit_count, step):
        portion = slice(first, min(first + step, unit_count))
        part = weights[:, : portion.stop - first]
        part[:] = draws.counts[:, portion]
        # A missing value of one source makes every sum missing: NaN times any count is NaN.
        sums[:, 1:] += laid_out[:, portion] @ part.T
    return np.split(sums, ends[:-1])
