"""Score a block: every distinct state once, then gather both branches of every stage."""

import time
from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ModelError
from decaf.foundation.arrays import Array, as_real, is_on_gpu, start_fetch
from decaf.foundation.memory import is_out_of_memory
from decaf.scoring.batches import Call, GrowingLimit
from decaf.scoring.planner import StatePlan
from decaf.scoring.states import StateBuilder

Scorer = Callable[[Array], Array]
"""A batch of inputs → (n, columns) score values."""


class StoredScores(NamedTuple):
    """Scores of a block's states that are stored already."""

    values: NDArray[np.float64]
    """(n_states, columns), NaN for a state without stored scores."""
    is_needed: NDArray[np.bool_]
    """(n_states,) states that have to be scored."""


class BlockScores(NamedTuple):
    """Scores of a block, and their cost."""

    branches: dict[str, NDArray[np.float64]]
    """By path: (n_pairs, n_repetitions, n_stages, 2) scores, factual branch first."""
    clean: NDArray[np.float64]
    """(n_inputs, columns) score values of the clean inputs."""
    forward_rows: int
    naive_rows: int
    """Forward rows without shared states, as the paper counts."""
    batch_size: int
    """Rows of the largest batch that went through the model."""
    build_seconds: float
    forward_seconds: float


def score_block(
    plan: StatePlan,
    builder: StateBuilder,
    scorer: Scorer,
    columns: NDArray[np.int64],
    limit: GrowingLimit,
    sign: float = 1.0,
    stored: StoredScores | None = None,
) -> BlockScores:
    """Score the states of a plan and gather trajectories.

    Both branches of a stage go through the model in one batch, unless a state is shared with
    another source. A batch that does not fit in the memory is halved and so are all after it, also
    those of later calls with the same ``limit``. Values that are not finite are returned as they
    are: the caller quarantines them.

    The scorer is model and score definition, inputs → (n, columns) values; ``columns`` (n_pairs,)
    has the column that is the score of each pair. A batch has ``limit.rows`` rows at most. ``sign``
    multiplies every score: 1, or -1 for a score whose smaller values mean more. Without ``stored``,
    every state is scored.

    Raises ModelError when the scorer returns another number of rows than it was given, or values
    that are not real numbers, and ScoringFailed when even one row does not fit in the memory.
    """
    scores = _Scores(plan.state_count, scorer, stored)
    batches = plan.batches(limit.rows)
    if stored is not None:
        batches = [states[stored.is_needed[states]] for states in batches]
    pending = [states for states in batches if states.size][::-1]
    build_seconds = 0.0
    while pending:
        states = _next_batch(pending, limit.rows)
        started = time.perf_counter()
        try:
            inputs = builder.build(states)
            built = time.perf_counter()
            scores.score(states, inputs)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            limit.halve(states.size, error)
            pending += _halves(states)
            continue
        limit.grow(Call(states.size, time.perf_counter() - started))
        build_seconds += built - started
    return scores.gather(plan, columns, sign, build_seconds)


def _next_batch(pending: list[NDArray[np.int64]], most_rows: int) -> NDArray[np.int64]:
    """Take batches that follow each other as one; cut one that is larger than allowed."""
    while pending[-1].size > most_rows:
        pending += _halves(pending.pop())
    parts = [pending.pop()]
    row_count = parts[0].size
    while pending and row_count + pending[-1].size <= most_rows:
        parts.append(pending.pop())
        row_count += parts[-1].size
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


class _Scores:
    """Scores of a block as they come in.

    The device gets the next batch before the scores of the previous batch are fetched. So a GPU
    computes while the host fetches these scores and builds another batch.
    """

    def __init__(self, state_count: int, scorer: Scorer, stored: StoredScores | None) -> None:
        self._forward_seconds = 0.0
        self._scored_count = self._largest = 0
        self._state_count, self._scorer = state_count, scorer
        self._values = None if stored is None else stored.values.copy()
        self._running: tuple[NDArray[np.int64], Callable[[], NDArray[np.floating]]] | None = None

    def gather(
        self, plan: StatePlan, columns: NDArray[np.int64], sign: float, build_seconds: float
    ) -> BlockScores:
        """Trajectories, once every state has been scored."""
        waiting = time.perf_counter()
        self._fetch()
        self._forward_seconds += time.perf_counter() - waiting
        values = cast("NDArray[np.float64]", self._values)
        branches = plan.gather(values, columns)
        return BlockScores(
            branches={name: sign * scores for name, scores in branches.items()},
            clean=values[plan.clean_index],
            forward_rows=self._scored_count,
            naive_rows=plan.naive_count(),
            batch_size=self._largest,
            build_seconds=build_seconds,
            forward_seconds=self._forward_seconds,
        )

    def score(self, states: NDArray[np.int64], inputs: Array) -> None:
        """Score a batch of states."""
        started = time.perf_counter()
        scored = as_real(self._scorer(inputs), "the score of a batch", ModelError)
        if scored.ndim != 2 or scored.shape[0] != states.size:
            raise ModelError(
                f"the model returned shape {tuple(scored.shape)} for {states.size} inputs; "
                f"expected ({states.size}, columns)"
            )
        running = states, start_fetch(scored)
        self._fetch()
        self._running = running
        if not is_on_gpu(scored):  # on a CPU, scores may be a view that keeps the batch in memory
            self._fetch()
        self._largest = max(self._largest, states.size)
        self._forward_seconds += time.perf_counter() - started

    def _fetch(self) -> None:
        if self._running is not None:
            states, scored = self._running[0], self._running[1]()
            if self._values is None:
                self._values = np.empty((self._state_count, scored.shape[1]))
            self._values[states] = scored
            self._scored_count += states.size
            self._running = None


def _halves(states: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split a batch into (second half, first half) for a stack; keep both branches of a stage."""
    cut = states.size // 2
    cut += cut % 2 if states.size > 2 else 0
    return [states[cut:], states[:cut]]
