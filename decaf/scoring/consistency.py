"""Compare the scores of one input in several batches.

States are scored once, in batches of any composition, and a key holds no batch size. So a score
has to be the same in every batch and at every query. :func:`check_consistency` compares one input
alone, the same input again, a small batch in two orders, and a full batch.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.errors import UnstableScore
from decaf.foundation.memory import halve_batch_size, is_out_of_memory

PROBES = 4
"""Distinct inputs of a small batch."""


class Noise(NamedTuple):
    """Difference between two scores of one input that rounding explains."""

    relative: float
    """Share of the largest absolute score."""
    of_epsilon: float
    """Share of the endpoint threshold; the larger of both bounds counts."""

    def tolerance(self, scores: NDArray[np.float64], epsilon: float) -> float:
        """Largest difference that counts as rounding, score units."""
        finite = np.abs(scores[np.isfinite(scores)])
        return max(self.relative * float(finite.max(initial=0.0)), self.of_epsilon * epsilon)


NOISE = {
    "float32": Noise(1e-4, 0.01),
    "tf32": Noise(1e-2, 0.05),
    "float16": Noise(1e-2, 0.05),
    "bfloat16": Noise(5e-2, 0.05),
}
"""Rounding noise of a network by the precision of its forward pass."""
UNKNOWN_NOISE = Noise(1e-3, 0.05)
"""Rounding noise of models whose precision their card does not say."""


def check_consistency(
    score: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    probe_count: int,
    batch_size: int,
    epsilon: float,
    noise: Noise = UNKNOWN_NOISE,
) -> NDArray[np.float64]:
    """Score a few inputs in several batches, and compare the scores of each input.

    ``score`` maps (n,) numbers of inputs, from 0 to ``probe_count`` - 1, to their (n, columns)
    scores, n up to ``batch_size``. A full batch that does not fit in memory is halved. Scores that
    are not finite equal each other. Returns the scores of the inputs in a small batch.

    Raises UnstableScore when two scores of one input differ by more than rounding, and what
    ``score`` raises.
    """
    first = np.zeros(1, np.int64)
    alone = score(first)
    tolerance = noise.tolerance(alone, epsilon)
    compare_scores(alone, score(first), ("alone", "at the next query"), tolerance)
    small = np.arange(min(probe_count, batch_size))
    if small.size == batch_size == 1:
        return alone
    scores = score(small)
    tolerance = noise.tolerance(scores, epsilon)
    place = f"in a batch of {small.size}"
    compare_scores(alone, scores[:1], ("alone", place), tolerance)
    turned = f"{place} in another order"
    compare_scores(scores[::-1], score(small[::-1]), (place, turned), tolerance)
    full, of_full = score_full(score, small, batch_size)
    compare_scores(scores[full], of_full, (place, f"in a batch of {full.size}"), tolerance)
    return scores


def score_full(
    score: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    small: NDArray[np.int64],
    batch_size: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Score a full batch: copies of the first input, then all of a small batch in reverse.

    A batch that does not fit in the memory is halved. Returns the (n,) numbers of the inputs of the
    batch, and their (n, columns) scores.
    """
    while True:
        copies = np.zeros(max(batch_size - small.size, 0), np.int64)
        full = np.concatenate([copies, small[::-1]])
        try:
            return full, score(full)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            batch_size = halve_batch_size(full.size, error)
            small = small[:batch_size]


def compare_scores(
    expected: NDArray[np.float64],
    scores: NDArray[np.float64],
    places: tuple[str, str],
    tolerance: float,
) -> None:
    """Compare (n, columns) scores of the same inputs; ``places`` say where each was scored.

    Raises UnstableScore, with both scores, where two differ by more than the tolerance.
    """
    if place := _differing(expected, scores, tolerance):
        raise UnstableScore(
            f"one input has the score {expected[place]:.6g} {places[0]} and {scores[place]:.6g} "
            f"{places[1]}; expected one score for one input: use BatchNorm in evaluation "
            "mode, normalise each row separately, and switch off dropout and sampling"
        )


def _differing(
    first: NDArray[np.float64], second: NDArray[np.float64], tolerance: float
) -> tuple[int, ...] | None:
    """Place of the largest difference above the tolerance, or None."""
    with np.errstate(invalid="ignore"):
        difference = np.abs(first - second)
    is_equal = (first == second) | (np.isnan(first) & np.isnan(second))
    excess = np.where(is_equal, 0.0, np.where(np.isfinite(difference), difference, np.inf))
    if excess.size == 0 or excess.max() <= tolerance:
        return None
    row, column = np.unravel_index(int(excess.argmax()), excess.shape)
    return int(row), int(column)
