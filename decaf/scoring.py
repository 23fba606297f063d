"""Score a block: every distinct state once, then gather both branches of every stage."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from decaf.errors import ModelError, ScoringFailed
from decaf.pairs import PairBlock
from decaf.planner import StatePlan
from decaf.states import StateBuilder

Scorer = Callable[[torch.Tensor], torch.Tensor]
"""(n, channels, height, width) float32 in [0, 1] → (n, classes) score values."""

CPU_OUT_OF_MEMORY = ("not enough memory", "can't allocate memory")


class BlockScores(NamedTuple):
    """Scores of a block, and what they cost."""

    branches: dict[str, NDArray[np.float64]]
    """By path: (n_pairs, n_stages, 2) score of the true class, factual branch first."""
    clean: NDArray[np.float64]
    """(n_images, classes) score values of the clean inputs."""
    forward_rows: int
    naive_rows: int
    batch_size: int
    """Rows of the largest batch that went through the model."""
    build_seconds: float
    forward_seconds: float


def score_block(
    plan: StatePlan,
    block: PairBlock,
    images: NDArray[np.uint8],
    scorer: Scorer,
    batch_size: int,
    device: torch.device,
) -> BlockScores:
    """Score the states of a plan and gather trajectories.

    Both branches of a stage go through the model in one batch, unless a state is shared with
    another source. A batch that does not fit the memory is halved and so are all after it. Values
    that are not finite are returned as they are: the caller quarantines them.

    Raises
    ------
    ModelError
        When the scorer returns another number of rows than it was given.
    ScoringFailed
        When even one row does not fit the memory.
    """
    builder = StateBuilder(plan, images, device)
    values: NDArray[np.float64] | None = None
    pending = plan.batches(batch_size)[::-1]
    limit, largest = batch_size, 0
    build_seconds = forward_seconds = 0.0
    while pending:
        states = pending.pop()
        if states.size > limit:
            pending += _halves(states)
            continue
        try:
            started = time.perf_counter()
            inputs = builder.build(states)
            built = time.perf_counter()
            scored = scorer(inputs).to("cpu", torch.float64).numpy()
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            limit = _halved(states.size, error)
            pending.append(states)
            continue
        build_seconds += built - started
        forward_seconds += time.perf_counter() - built
        if scored.ndim != 2 or scored.shape[0] != states.size:
            raise ModelError(
                f"the model returned shape {scored.shape} for {states.size} inputs; expected "
                f"({states.size}, classes)"
            )
        if values is None:
            values = np.empty((plan.state_count, scored.shape[1]))
        values[states] = scored
        largest = max(largest, states.size)

    target = block.class_id[:, None, None]
    return BlockScores(
        branches={name: values[index, target] for name, index in plan.index.items()},
        clean=values[plan.clean_index],
        forward_rows=plan.state_count,
        naive_rows=plan.naive_count,
        batch_size=largest,
        build_seconds=build_seconds,
        forward_seconds=forward_seconds,
    )


def _halves(states: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Second half, first half: the order in which a stack wants them; cut between stages."""
    cut = states.size // 2
    cut += cut % 2 if states.size > 2 else 0
    return [states[cut:], states[:cut]]


def _halved(size: int, error: Exception) -> int:
    if size == 1:
        raise ScoringFailed(
            f"one input alone does not fit the memory of the device: {error}"
        ) from error
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return size // 2 + (size // 2) % 2 if size > 2 else 1


def _is_out_of_memory(error: Exception) -> bool:
    """Other failures, such as an illegal memory access, must not be retried."""
    return isinstance(error, torch.OutOfMemoryError) or any(
        sign in str(error) for sign in CPU_OUT_OF_MEMORY
    )
