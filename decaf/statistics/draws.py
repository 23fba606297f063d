"""Bootstrap draws: which clusters every replicate holds, whatever is computed from them.

Draws are one matrix of positions, (n_replicates, n_draws), from 0 in the order in which
``np.unique`` puts the labels of the clusters. Statistics that are given the same matrix are
compared replicate by replicate.
"""

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import ResponseError

DEFAULT_REPLICATES = 500
"""Replicates of every interval (paper, appendix D.8)."""

DEFAULT_SEED = 91702


def draw_clusters(
    cluster_count: int, replicates: int = DEFAULT_REPLICATES, seed: int = DEFAULT_SEED
) -> NDArray[np.int64]:
    """Draw clusters with replacement.

    Returns
    -------
    (replicates, cluster_count) int64, positions from 0

    Raises
    ------
    ResponseError
        For fewer than one cluster or replicate.

    Examples
    --------
    >>> draw_clusters(1, replicates=2).tolist()
    [[0], [0]]
    """
    _check_counts(cluster_count, replicates)
    generator = np.random.default_rng(seed)
    return generator.integers(0, cluster_count, size=(replicates, cluster_count))


def draw_within_strata(
    strata: ArrayLike,
    clusters: ArrayLike | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
) -> NDArray[np.int64]:
    """Draw clusters with replacement inside every stratum, so that strata keep their sizes.

    The stratified bootstrap of the controlled suite (paper, appendix D.8). With a single stratum
    these are the draws of :func:`draw_clusters`.

    Parameters
    ----------
    strata
        (n_values,) label of the stratum.
    clusters
        (n_values,) label of the cluster, which lies in one stratum; or every value is its own.

    Returns
    -------
    (replicates, n_clusters) int64
        Positions of clusters; column ``i`` holds clusters of the stratum of cluster ``i``.

    Raises
    ------
    ResponseError
        For shapes that do not match, no value, no replicate, or a cluster in two strata.

    Examples
    --------
    >>> draw_within_strata(["a", "b"], replicates=2).tolist()
    [[0, 1], [0, 1]]
    """
    strata = _members(strata, clusters)
    _check_counts(len(strata), replicates)
    generator = np.random.default_rng(seed)
    draws = np.empty((replicates, sum(members.size for members in strata)), dtype=np.int64)
    for members in strata:
        size = (replicates, members.size)
        draws[:, members] = members[generator.integers(0, members.size, size=size)]
    return draws


def draw_nested(
    groups: ArrayLike,
    clusters: ArrayLike | None = None,
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
) -> NDArray[np.int64]:
    """Draw groups with replacement and, inside each drawn group, its clusters with replacement.

    Wider than drawing clusters alone where groups differ. For models of few families: groups are
    the families, a cluster is one seed of one family and holds all its models. A group that is
    drawn twice draws its clusters anew.

    Parameters
    ----------
    groups
        (n_values,) label of the group. Groups hold equally many clusters.
    clusters
        (n_values,) label of the cluster, which lies in one group; or every value is its own.

    Returns
    -------
    (replicates, n_clusters) int64, positions of clusters

    Raises
    ------
    ResponseError
        For shapes that do not match, no value, no replicate, a cluster in two groups, or groups
        of different sizes.

    Examples
    --------
    >>> families, seeds = ["forest", "forest", "linear", "linear"], [1, 2, 1, 2]
    >>> models = [f"{family} {seed}" for family, seed in zip(families, seeds)]
    >>> draw_nested(families, models, replicates=3).shape
    (3, 4)
    """
    members = _members(groups, clusters)
    _check_counts(len(members), replicates)
    sizes = {group.size for group in members}
    if len(sizes) > 1:
        raise ResponseError(
            f"groups hold {min(sizes)} to {max(sizes)} clusters; expected equally many in each, "
            "so that every replicate draws as many"
        )
    generator = np.random.default_rng(seed)
    table = np.stack(members)
    drawn = generator.integers(0, len(table), size=(replicates, len(table)))
    inside = generator.integers(0, table.shape[1], size=(replicates, *table.shape))
    return table[drawn[:, :, np.newaxis], inside].reshape(replicates, table.size)


def draw_by_name(
    cluster_count: int,
    names: tuple[str, ...],
    replicates: int = DEFAULT_REPLICATES,
    seed: int = DEFAULT_SEED,
) -> NDArray[np.int64]:
    r"""Draw clusters with replacement, every replicate from a generator of its own name.

    Replicate ``b`` of a data set and model depends on nothing else, so that parts of an
    attribution study can be resampled apart (paper, appendix H): its generator is seeded by the
    first eight bytes, little-endian, of the SHA-256 of ``seed\0b\0name\0…``.

    Parameters
    ----------
    names
        What is resampled, such as ``("imagenet", "resnet50")``.

    Returns
    -------
    (replicates, cluster_count) int64, positions from 0

    Raises
    ------
    ResponseError
        For fewer than one cluster or replicate.

    Examples
    --------
    >>> draw_by_name(9, ("imagenet", "resnet50"), replicates=1, seed=8218).shape
    (1, 9)
    """
    _check_counts(cluster_count, replicates)
    draws = np.empty((replicates, cluster_count), dtype=np.int64)
    for replicate in range(replicates):
        digest = hashlib.sha256("\0".join((str(seed), str(replicate), *names)).encode()).digest()
        generator = np.random.default_rng(int.from_bytes(digest[:8], "little"))
        draws[replicate] = generator.integers(0, cluster_count, size=cluster_count)
    return draws


def as_draws(draws: ArrayLike, cluster_count: int) -> NDArray[np.int64]:
    """Draws as a matrix, (n_replicates, n_draws) positions of ``cluster_count`` clusters.

    Raises
    ------
    ResponseError
        For draws that are not such a matrix, or of a cluster that is not there.
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
    """Count how often every replicate drew each cluster.

    Parameters
    ----------
    draws
        (n_replicates, n_draws) positions of clusters.

    Returns
    -------
    (n_replicates, cluster_count) float64, whole numbers

    Raises
    ------
    ResponseError
        For draws that are not such a matrix, or of a cluster that is not there.

    Examples
    --------
    >>> multiplicities([[0, 0], [1, 0]], 3).tolist()
    [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    drawn = as_draws(draws, cluster_count)
    cells = drawn + cluster_count * np.arange(len(drawn))[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=len(drawn) * cluster_count)
    return counts.reshape(len(drawn), cluster_count).astype(np.float64)


def _members(groups: ArrayLike, clusters: ArrayLike | None) -> list[NDArray[np.int64]]:
    """Positions of the clusters of every group, groups in the order of their labels."""
    labels = np.asarray(groups)
    names = np.arange(labels.size) if clusters is None else np.asarray(clusters)
    if labels.ndim != 1 or labels.size == 0 or names.shape != labels.shape:
        raise ResponseError(
            f"groups have shape {labels.shape} and clusters {names.shape}; expected one cluster "
            "for each of at least one value"
        )
    _, first, cluster_of = np.unique(names, return_index=True, return_inverse=True)
    _, group_of = np.unique(labels, return_inverse=True)
    split = np.flatnonzero(group_of != group_of[first][cluster_of])
    if split.size:
        raise ResponseError(
            f"cluster {names[split[0]]!r} lies in more than one group; expected a name of its own "
            "for every cluster of a group"
        )
    group_of_cluster = group_of[first]
    return [
        np.flatnonzero(group_of_cluster == group) for group in range(group_of_cluster.max() + 1)
    ]


def _check_counts(cluster_count: int, replicates: int) -> None:
    if cluster_count < 1 or replicates < 1:
        raise ResponseError(
            f"{replicates} replicates of {cluster_count} clusters; expected at least one of each"
        )
