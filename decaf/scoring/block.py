"""Score a block: every distinct state once, then gather both branches of every stage."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ModelError
from decaf.foundation.arrays import Array, as_real, is_on_gpu, is_tensor, start_fetch, to_numpy
from decaf.foundation.memory import is_out_of_memory
from decaf.scoring.batches import Call, FixedLimit, GrowingLimit
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
    known: StoredScores | None = None,
) -> BlockScores:
    """Score the states of a plan and gather trajectories.

    Both branches of a stage go through the model in one batch, unless a state is shared with
    another source. A batch that does not fit the memory is halved and so are all after it. Values
    that are not finite are returned as they are: the caller quarantines them.

    The scorer is model and score definition, inputs → (n, columns) values; ``columns`` (n_pairs,)
    says which of them is the score of a pair. A batch has ``batch_size`` rows at most. ``sign``
    multiplies every score: 1, or -1 for a score whose smaller values mean more. Without ``known``,
    every state is scored.

    Raises ModelError when the scorer returns another number of rows than it was given, or values
    that are not real numbers, and ScoringFailed when even one row does not fit the memory.
    """
    limit = FixedLimit(batch_size)
    (scores,) = score_together(plan, builder, [scorer], columns, limit, sign, [known])
    return scores


def score_together(
    plan: StatePlan,
    builder: StateBuilder,
    scorers: Sequence[Scorer],
    columns: NDArray[np.int64],
    limit: GrowingLimit,
    sign: float,
    known: Sequence[StoredScores | None],
) -> list[BlockScores]:
    """Score a block like :func:`score_block` with several scorers, building each batch once.

    The entries of ``known``, one for each scorer, must leave the same states to score. If a batch
    does not fit the memory of a scorer, it is halved for later scorers, too. Scorers share the
    build time equally. A scorer may write into its batch, which is then built again for the next.
    """
    runs = [_Run(plan.state_count, *pair) for pair in zip(scorers, known, strict=True)]
    batches = plan.batches(limit.rows)
    if known[0] is not None:
        batches = [states[known[0].is_needed[states]] for states in batches]
    pending = [(states, runs) for states in batches if states.size][::-1]
    build_seconds = 0.0
    while pending:
        states, open_runs = _next_batch(pending, limit.rows)
        if states.size > limit.rows:
            pending += [(half, open_runs) for half in _halves(states)]
            continue
        batch, done, started = _Batch(builder, states), 0, time.perf_counter()
        try:
            for run in open_runs:
                run.score(states, batch.inputs(is_last=run is open_runs[-1]))
                done += 1
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            limit.halve(states.size, error)
            pending.append((states, open_runs[done:]))
        else:
            limit.grow(Call(states.size, time.perf_counter() - started))
        build_seconds += batch.build_seconds
    return [run.scores(plan, columns, sign, build_seconds / len(runs)) for run in runs]


def _next_batch(
    pending: list[tuple[NDArray[np.int64], list["_Run"]]], most_rows: int
) -> tuple[NDArray[np.int64], list["_Run"]]:
    """Take batches that follow each other, and are for the same scorers, as one batch."""
    states, runs = pending.pop()
    parts, row_count = [states], states.size
    while pending and pending[-1][1] is runs and row_count + pending[-1][0].size <= most_rows:
        parts.append(pending.pop()[0])
        row_count += parts[-1].size
    return (np.concatenate(parts) if len(parts) > 1 else states), runs


class _Batch:
    """A batch of states for one scorer after the other."""

    def __init__(self, builder: StateBuilder, states: NDArray[np.int64]) -> None:
        self.build_seconds = 0.0
        self._builder, self._states = builder, states
        self._built: tuple[Array, _Mark] | None = None

    def inputs(self, *, is_last: bool) -> Array:
        """The batch as planned, built again if an earlier scorer has written into it."""
        if self._built is not None and self._built[1] == _mark(self._built[0]):
            return self._built[0]
        self._built = None  # free the memory before the batch is built again
        started = time.perf_counter()
        inputs = self._builder.build(self._states)
        self.build_seconds += time.perf_counter() - started
        if not is_last:
            self._built = inputs, _mark(inputs)
        return inputs


_Mark = tuple[int | None, bytes | None]


def _mark(inputs: Array) -> _Mark:
    """Mark of a batch that changes once somebody writes into it.

    Torch counts its own writes; writes of numpy show in the first row. Reading a row from a GPU
    would make the host wait, and numpy cannot write there.
    """
    batch: Any = inputs
    version = batch._version if is_tensor(inputs) else None
    return version, None if is_on_gpu(inputs) else to_numpy(batch[:1]).tobytes()


class _Run:
    """Scores of one scorer as they come in.

    The device gets the next batch before the scores of the previous batch are fetched. So a GPU
    computes while the host fetches these scores and builds another batch.
    """

    def __init__(self, state_count: int, scorer: Scorer, known: StoredScores | None) -> None:
        self._forward_seconds = 0.0
        self._scored_count = self._largest = 0
        self._state_count, self._scorer = state_count, scorer
        self._values = None if known is None else known.values.copy()
        self._running: tuple[NDArray[np.int64], Callable[[], NDArray[np.floating]]] | None = None

    def scores(
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
        if not is_on_gpu(scored):  # scores may be a view of the batch, which later scorers read
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
