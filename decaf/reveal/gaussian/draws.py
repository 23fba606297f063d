"""Random draws that are named, so that they depend on no batch, order or machine's history."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.digests import hashed_word
from decaf.routing.quadrature import check_grid

PRINCIPAL, PIXEL = 0, 1
"""Streams of a draw: normals of the principal axes, and of the pixels, independent of them."""


def draw_keys(seeds: Sequence[int], source_ids: Sequence[str]) -> NDArray[np.uint64]:
    """(n_sources, n_seeds) key of the draw of every source under every noise seed.

    A key is the first eight bytes of the sha256 of ``decaf|gaussian|<seed>|<source id>``: all pairs
    of a source share a draw, in every block and study.
    """
    names = (f"decaf|gaussian|{seed}|{source}" for source in source_ids for seed in seeds)
    keys = np.array([hashed_word(name) for name in names], np.uint64)
    return keys.reshape(len(source_ids), len(seeds))


def normals(key: int, stream: int, steps: int, width: int) -> NDArray[np.float64]:
    """(steps, width) float64 standard normals of one draw, by NumPy's Philox generator.

    The host draws them in float64 for every device, so that all devices see the same numbers up to
    rounding. One step of 3,072 costs about 30 microseconds, 8 of them set-up.
    """
    generator = np.random.Generator(np.random.Philox(key=np.array([key, stream], np.uint64)))
    return generator.standard_normal((steps, width))


def mixed_normals(
    keys: NDArray[np.uint64],
    stages: NDArray[np.integer],
    mixing: NDArray[np.float64],
    stream: int,
    width: int,
) -> NDArray[np.float64]:
    """(n, width) float64 normals of many draws, each the mixture of its key's steps at its stage.

    Keys and stages are (n,): the key of each draw, which is drawn once, and its row of ``mixing``,
    (n_stages, n_steps) weights of the steps: :func:`chain_weights`, or ``[[1]]`` where a key is a
    single draw. One product always mixes all stages of a key, so that a draw does not depend on
    which other draws are requested.
    """
    mixtures = np.empty((keys.size, width))
    distinct_keys, use = np.unique(keys, return_inverse=True)
    for number, key in enumerate(distinct_keys):
        rows = np.flatnonzero(use == number)
        steps = normals(int(key), stream, mixing.shape[1], width)
        mixtures[rows] = (mixing @ steps)[stages[rows]]
    return mixtures


def chain_weights(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Noise of every stage of the reverse Markov chain, as a mixture of the noises of its steps.

    The chain runs from the clean input at ``alpha = 1`` down the grid, (n_stages,) alphas from 0 to
    1,

        X_{j-1} = mu + sqrt(s_j) (X_j - mu) + sqrt(1 - s_j) xi_j,    s_j = a_{j-1} / a_j.

    Dividing by ``sqrt(a_{j-1})`` leaves a sum, ``Y_{j-1} = Y_j + sqrt(1/a_{j-1} - 1/a_j) xi_j`` for
    ``Y_j = (X_j - mu) / sqrt(a_j)``, so that stage ``j`` is the common formula with

        eta_j = sqrt(a_j / (1 - a_j)) sum_{k > j} sqrt(1/a_{k-1} - 1/a_k) xi_k,

    and ``eta_0 = xi_1`` where ``a_0 = 0``. The squared weights of a stage sum to one: each stage
    alone has the noise of the fixed-draw path, but the stages of a chain differ from one another.

    Returns (n_stages, n_stages - 1) float64; column ``k - 1`` weights ``xi_k``. The last row is
    zero: the clean input has no noise.

    >>> chain_weights(np.array([0, 0.5, 1])).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    alpha = check_grid(grid)
    weights = np.zeros((alpha.size, alpha.size - 1))
    weights[0, 0] = 1
    inner = alpha[1:-1]
    # A grid may miss 1 by rounding; the last state is the clean input all the same.
    above = np.append(inner[1:], 1.0)
    steps = np.sqrt((above - inner) / (above * inner))
    scale = np.sqrt(inner / (1 - inner))
    weights[1:-1, 1:] = np.triu(scale[:, None] * steps[None, :])
    return weights
