"""Choose the number of sources of a block, from the cost of a source.

A block is the smallest piece of work that is committed. Large blocks lose much when a worker ends;
small blocks pay for a commit each. The choice depends on the machine and on measured seconds, and
the block of a pair is part of the key of its unit, so a study keeps its choice: later runs of the
study read the number from the run before (:mod:`tasks.sizes`).
"""

from math import ceil
from typing import NamedTuple

LONG_SECONDS = 10.0
"""Seconds of work in a block of the slowest model."""
MOST_STATES = 500_000
"""States of a block, which a worker plans in memory, with about 400 bytes for each."""
MOST_BYTES = 2**28
"""Bytes of the clean inputs of a block as models take them."""
LEAST_BLOCKS_TO_STOP = 50
"""Blocks of a study that may stop early, so that it can stop after 4 % of them."""


class Load(NamedTuple):
    """Work of a study, for each of its sources."""

    source_count: int
    states_per_source: float
    """Mean states that are scored for a source, before equal states are merged."""
    bytes_per_source: float
    """Mean bytes of the clean inputs of a source."""
    attribution_rows_per_source: float = 0.0
    """Mean rows that attribution methods score for a source."""


def block_size(
    load: Load, workers: int, *, can_stop: bool = False, seconds_per_row: float = 0.0
) -> int:
    """Number of sources in a block: at least 1, at most all.

    ``seconds_per_row`` are those of the slowest model, 0 where they are not measured. The number of
    blocks is a multiple of the number of workers, so that all workers have equal work.
    """
    limits = [
        load.source_count,
        MOST_STATES / load.states_per_source,
        MOST_BYTES / load.bytes_per_source,
    ]
    if can_stop:
        limits.append(load.source_count / LEAST_BLOCKS_TO_STOP)
    if seconds_per_row:
        rows = load.states_per_source + load.attribution_rows_per_source
        limits.append(LONG_SECONDS / (rows * seconds_per_row))
    block_count = ceil(load.source_count / max(1, int(min(limits))))
    block_count = ceil(block_count / workers) * workers
    return ceil(load.source_count / min(block_count, load.source_count))
