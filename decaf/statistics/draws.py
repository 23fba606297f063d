"""Bootstrap draws: the clusters that every replicate holds, for all statistics alike.

Draws are one matrix of positions, (n_replicates, n_draws), from 0 in the order in which
``np.unique`` puts the labels of the clusters. Statistics of the same matrix can be compared
replicate by replicate.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError
from decaf.foundation.digests import hashed_word

DEFAULT_REPLICATES = 500
"""Replicates of every interval (paper, appendix D.8)."""

DEFAULT_SEED = 91702


def draw_clusters(
    cluster_count: int, replicates: int = DEFAULT_REPLICATES, seed: int = DEFAULT_SEED
) -> NDArray[np.int64]:
    """(replicates, cluster_count) int64 positions from 0 of clusters drawn with replacement.

    Raises ResponseError for fewer than one cluster or replicate.

    >>> draw_clusters(1, replicates=2).tolist()
    [[0], [0]]
    """
    if cluster_count < 1 or replicates < 1:
        raise ResponseError(
            f"{replicates} replicates of {cluster_count} clusters; expected at least one of each"
        )
    generator = np.random.default_rng(seed)
    return generator.integers(0, cluster_count, size=(replicates, cluster_count))


def named_draws(name: str, cluster_count: int, replicates: range, seed: int) -> NDArray[np.int64]:
    r"""(len(replicates), cluster_count) int64 positions from 0 that replicates of a name draw.

    Each replicate has its own generator (as in the paper's code for attribution): ``default_rng``
    of the first eight bytes, little-endian, of the sha256 of seed, replicate and name with a NUL
    between them. So replicates can be drawn in parts. Raises ResponseError without clusters or
    replicates.

    >>> named_draws("imagenet\0resnet50", 5, range(2), seed=8218).tolist()
    [[0, 1, 0, 0, 2], [0, 4, 4, 2, 2]]
    """
    if cluster_count < 1 or not replicates:
        raise ResponseError(
            f"{len(replicates)} replicates of {cluster_count} clusters; expected at least one of "
            "each"
        )
    words = (hashed_word(f"{seed}\0{replicate}\0{name}", "little") for replicate in replicates)
    return np.stack(
        [np.random.default_rng(word).integers(0, cluster_count, cluster_count) for word in words]
    )


def as_draws(draws: ArrayLike, cluster_count: int) -> NDArray[np.int64]:
    """Draws as a matrix, (n_replicates, n_draws) positions of ``cluster_count`` clusters.

    Raises ResponseError if the draws are not such a matrix, or have a position outside the range.
    """
    drawn = np.asarray(draws)
    is_matrix = drawn.ndim == 2 and drawn.size > 0 and drawn.dtype.kind in "iu"
    if not is_matrix or drawn.min() < 0 or drawn.max() >= cluster_count:
        raise ResponseError(
            f"draws have shape {drawn.shape} and dtype {drawn.dtype}; expected (n_replicates, "
            f"n_draws) positions of the {cluster_count} clusters, from 0"
        )
    return drawn


def multiplicities(draws: ArrayLike, cluster_count: int) -> NDArray[np.float64]:
    """(n_replicates, cluster_count) float64, how often every replicate drew each cluster.

    They are whole numbers; errors are those of :func:`as_draws`.

    >>> multiplicities([[0, 0], [1, 0]], 3).tolist()
    [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    drawn = as_draws(draws, cluster_count)
    cells = drawn + cluster_count * np.arange(len(drawn))[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=len(drawn) * cluster_count)
    return counts.reshape(len(drawn), cluster_count).astype(np.float64)
