"""Score a block: every distinct state once, then gather both branches of every stage."""

import time
from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ModelError
from decaf.foundation.arrays import Array, as_real, fetched
from decaf.foundation.memory import halved, is_out_of_memory
from decaf.scoring.planner import StatePlan
from decaf.scoring.states import StateBuilder

Scorer = Callable[[Array], Array]
"""A batch of inputs → (n, columns) score values."""


class Known(NamedTuple):
    """What is known of the states of a block before anything is scored."""

    values: NDArray[np.float64]
    """(n_states, columns), NaN where they are not known."""
    is_needed: NDArray[np.bool_]
    """(n_states,) states that have to be scored all the same."""


class BlockScores(NamedTuple):
    """Scores of a block, and what they cost."""

    branches: dict[str, NDArray[np.float64]]
    """By path: (n_pairs, n_repetitions, n_stages, 2) scores, factual branch first."""
    clean: NDArray[np.float64]
    """(n_inputs, columns) score values of the clean inputs."""
    forward_rows: int
    naive_rows: int
    batch_size: int
    """Rows of the largest batch that went through the model."""
    build_seconds: float
    forward_seconds: float


def score_block(
    plan: StatePlan,
    builder: StateBuilder,
    scorer: Scorer,
    columns: NDArray[np.int64],
    batch_size: int,
    sign: float = 1.0,
    known: Known | None = None,
) -> BlockScores:
    """Score the states of a plan and gather trajectories.

    Both branches of a stage go through the model in one batch, unless a state is shared with
    another source. A batch that does not fit the memory is halved and so are all after it. Values
    that are not finite are returned as they are: the caller quarantines them.

    The scorer is model and score definition, inputs → (n, columns) values; ``columns`` (n_pairs,)
    says which of them is the score of a pair. A batch has ``batch_size`` rows at most. The sign is
    the factor of the score, -1 for one that is larger where there is less. Every state is scored
    where no values are known.

    Raises ModelError when the scorer returns another number of rows than it was given, or values
    that are no real numbers, and ScoringFailed when even one row does not fit the memory.
    """
    run = _Run(plan.state_count, known)
    batches = plan.batches(batch_size)
    if known is not None:
        batches = [states[known.is_needed[states]] for states in batches]
    pending = [states for states in batches if states.size][::-1]
    limit, largest = batch_size, 0
    while pending:
        states = pending.pop()
        if states.size > limit:
            pending += _halves(states)
            continue
        try:
            run.score(states, builder, scorer)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            limit = halved(states.size, error)
            pending.append(states)
            continue
        largest = max(largest, states.size)
    branches = plan.gather(run.values, columns)
    return BlockScores(
        branches={name: sign * scores for name, scores in branches.items()},
        clean=run.values[plan.clean_index],
        forward_rows=run.scored_count,
        naive_rows=plan.naive_count(),
        batch_size=largest,
        build_seconds=run.build_seconds,
        forward_seconds=run.forward_seconds,
    )


class _Run:
    """Values as they come in. A device is given its next batch before the last one is fetched.

    A GPU thus has a batch to do while the host fetches the values of the one before, and builds the
    next.
    """

    def __init__(self, state_count: int, known: Known | None) -> None:
        self.build_seconds = self.forward_seconds = 0.0
        self.scored_count = 0
        self._state_count = state_count
        self._values = None if known is None else known.values.copy()
        self._running: tuple[NDArray[np.int64], Callable[[], NDArray[np.floating]]] | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """(n_states, columns), once every state has been scored."""
        waiting = time.perf_counter()
        self._fetch()
        self.forward_seconds += time.perf_counter() - waiting
        return cast("NDArray[np.float64]", self._values)

    def score(self, states: NDArray[np.int64], builder: StateBuilder, scorer: Scorer) -> None:
        started = time.perf_counter()
        inputs = builder.build(states)
        built = time.perf_counter()
        scored = as_real(scorer(inputs), "the score of a batch", ModelError)
        if scored.ndim != 2 or scored.shape[0] != states.size:
            raise ModelError(
                f"the model returned shape {tuple(scored.shape)} for {states.size} inputs; "
                f"expected ({states.size}, columns)"
            )
        running = states, fetched(scored)
        self._fetch()
        self._running = running
        self.build_seconds += built - started
        self.forward_seconds += time.perf_counter() - built

    def _fetch(self) -> None:
        if self._running is not None:
            states, scored = self._running[0], self._running[1]()
            if self._values is None:
                self._values = np.empty((self._state_count, scored.shape[1]))
            self._values[states] = scored
            self.scored_count += states.size
            self._running = None


def _halves(states: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Second half, first half: the order in which a stack wants them; cut between stages."""
    cut = states.size // 2
    cut += cut % 2 if states.size > 2 else 0
    return [states[cut:], states[:cut]]
