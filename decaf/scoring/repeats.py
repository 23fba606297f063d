"""Repeated queries of a block: their mean scores, and the standard errors of the responses."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from decaf.scoring.block import BlockScores


def mean_scores(queries: Sequence[BlockScores]) -> BlockScores:
    """Mean scores of several queries of a block, with the sum of their costs."""
    first = queries[0]
    if len(queries) == 1:
        return first
    return BlockScores(
        branches={
            path: np.mean([scores.branches[path] for scores in queries], axis=0)
            for path in first.branches
        },
        clean=np.mean([scores.clean for scores in queries], axis=0),
        forward_rows=sum(scores.forward_rows for scores in queries),
        naive_rows=sum(scores.naive_rows for scores in queries),
        batch_size=max(scores.batch_size for scores in queries),
        build_seconds=sum(scores.build_seconds for scores in queries),
        forward_seconds=sum(scores.forward_seconds for scores in queries),
    )


def response_errors(queries: Sequence[BlockScores], path: str) -> NDArray[np.float64]:
    """(n_pairs, n_repetitions, n_stages) standard errors of the mean response of a path.

    They are those of the mean over two or more queries, score units; 0 where branches share a
    state.
    """
    responses = np.stack([scores.branches[path] for scores in queries])
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, and quarantined
        spread = (responses[..., 0] - responses[..., 1]).std(axis=0, ddof=1)
    errors: NDArray[np.float64] = spread / np.sqrt(len(queries))
    return errors
