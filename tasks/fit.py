"""Fit what reveal paths take from the clean inputs of a study, and make their random starts."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import channels_first, open_inputs
from decaf.data.pairs import PairSet
from decaf.foundation.arrays import as_taken
from decaf.plan.preparation import fitted_paths, start_files
from decaf.plan.study import Study
from decaf.reveal.path import RevealPath, Words
from decaf.scoring.starts import is_drawn, store_starts

INPUTS_AT_ONCE = 1024


def fit_paths(study: Study, pairs: PairSet, inputs: Path) -> None:
    """Fit the paths that need it, over all clean inputs; draw their random starts once.

    Reads clean inputs; writes one file per need under the workspace. A file that is there is not
    made again.

    Raises
    ------
    DataError
        When the inputs are not what a path can be fitted to.
    WriteFailed
        When the workspace takes no more data.
    """
    paths, files = fitted_paths(study, pairs), start_files(study, pairs)
    for path in paths.values():
        path.fit(_batches(inputs))
    stored = channels_first(open_inputs(inputs))
    for name, path in paths.items():
        if path.start.of_pair or files[name].exists():
            continue
        draws = _draws(path, study, pairs, stored)
        if (first := next(draws, None)) is not None:
            pattern = as_taken(stored[:1])[0]
            store_starts(files[name], path.start, chain([first], draws), pattern)


def _draws(path: RevealPath, study: Study, pairs: PairSet, stored: NDArray[Any]) -> Iterator[Words]:
    """(n, words) names of the random starts, block by block; none where nothing is random."""
    for rows in pairs.blocks(study.sources_per_block):
        block = pairs.block(rows)
        block = block.of_rows(block.rows_of_types(path.pair_types))
        if not block.pair_count:
            continue
        revealed = path.reveal(block, stored[block.input_positions], path.grid(study.grid))
        if not is_drawn(path, revealed):
            return
        yield np.unique(revealed.draw.reshape(-1, revealed.draw.shape[-1]), axis=0)


def _batches(inputs: Path) -> Iterator[NDArray[np.floating]]:
    """All clean inputs as models take them, a batch at a time."""
    stored = open_inputs(inputs)
    for first in range(0, len(stored), INPUTS_AT_ONCE):
        yield as_taken(channels_first(stored[first : first + INPUTS_AT_ONCE]))
