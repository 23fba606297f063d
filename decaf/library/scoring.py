"""Score the states of paired inputs with a callable, once or several times."""

import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.errors import UnstableScore
from decaf.foundation.arrays import Array, is_on_gpu, is_tensor, namespace, to_numpy
from decaf.library.frames import DistinctFrameBuilder, FrameBatch, FrameBuilder, Frames
from decaf.library.inputs import PairedInputs
from decaf.library.progress import progress_line
from decaf.library.targets import ScoreCall, TargetScorer, remark_on_used_networks
from decaf.reveal.path import RevealPath
from decaf.scoring.batches import FixedLimit, GrowingLimit, largest_batch
from decaf.scoring.block import BlockScores, Scorer, score_block
from decaf.scoring.consistency import PROBES, UNKNOWN_NOISE, check_consistency, compare_scores
from decaf.scoring.path_checks import check_paths
from decaf.scoring.planner import StatePlan, plan_states
from decaf.scoring.repeats import mean_scores, response_errors
from decaf.scoring.states import StateBuilder


class UnstableScoreWarning(UserWarning):
    """One input has or may have two scores: the score depends on the batch, or on chance."""


class Queries(NamedTuple):
    """Batch size, repeats and threshold of the queries of a callable."""

    batch_size: int | None
    """Most inputs of one call; None if the size of an input and the speed of calls decide."""
    repeats: int
    """Queries of every input."""
    epsilon: float
    """Endpoint threshold; differences below a share of it count as rounding."""
    is_shown: bool
    """True to count forward rows in a line on standard error."""


class Scored(NamedTuple):
    """Scores of pairs by path."""

    scores: BlockScores
    """Mean scores of all queries."""
    errors: Mapping[str, NDArray[np.float64]]
    """By path: (n_pairs, n_repetitions, n_stages) standard errors; empty after one query."""
    grids: Mapping[str, NDArray[np.float64]]
    """By path: (n_stages,) from 0 to 1."""


def score_pairs(
    pairs: PairedInputs,
    paths: dict[str, RevealPath],
    grid: NDArray[np.float64],
    score_call: ScoreCall,
    frames: Frames | None,
    queries: Queries,
) -> Scored:
    """Score every distinct state, gathered by path.

    Warns with UnstableScoreWarning where one input has two scores after one query of each, or a
    function uses a network in training mode.
    """
    if remark := remark_on_used_networks(score_call.call):
        warnings.warn(remark, UnstableScoreWarning, stacklevel=3)
    row = pairs.block.source
    targets = None if score_call.targets is None else score_call.targets[row]
    scorer = TargetScorer(score_call.call, targets, score_call.class_names)
    is_shared = not (frames and frames.has_labels)
    plan = plan_states(pairs.block, pairs.host_inputs, paths, grid, is_shared)
    check_paths(paths, pairs.block, pairs.host_inputs, grid)
    builder = FrameBuilder(plan, pairs.clean, frames) if frames else StateBuilder(plan, pairs.clean)
    torch = namespace(pairs.clean) if is_tensor(pairs.clean) else None
    repeats = queries.repeats
    batches: StateBuilder = builder
    if frames and is_shared and repeats == 1:
        batches = DistinctFrameBuilder(plan, pairs.clean, frames)
    with (
        torch.inference_mode() if torch else nullcontext(),
        progress_line(repeats * plan.state_count, queries.is_shown) as count,
    ):

        def score_and_count(batch: Any) -> Array:
            if isinstance(batch, FrameBatch):
                scored = scorer(batch.frame)[batch.inverse]
            else:
                scored = scorer(batch)
            count(len(scored))
            return scored

        limit, columns = _limit(queries.batch_size, pairs.clean), scorer.columns(row.size)
        repeated_scores = [
            score_block(plan, batches, score_and_count, columns, limit) for _ in range(repeats)
        ]
        if repeats == 1:
            _warn_if_unstable(plan, builder, scorer, repeated_scores[0], queries)
    errors = {name: response_errors(repeated_scores, name) for name in paths} if repeats > 1 else {}
    return Scored(mean_scores(repeated_scores), errors, plan.grids)


def _limit(batch_size: int | None, inputs: Array) -> GrowingLimit:
    if batch_size is not None:
        return FixedLimit(batch_size)
    most = largest_batch(inputs[:1].nbytes, is_on_gpu=is_on_gpu(inputs))
    return GrowingLimit(most)


def _warn_if_unstable(
    plan: StatePlan, builder: Any, scorer: Scorer, scores: BlockScores, queries: Queries
) -> None:
    """Score a few clean inputs again, alone and in small batches, and compare their scores.

    Warns, too, if the score fails for these batches.
    """
    states, inputs = np.unique(plan.clean_index, return_index=True)
    states, inputs = states[:PROBES], inputs[:PROBES]

    def score(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(to_numpy(scorer(builder.build(states[rows]))), np.float64)

    size = min(states.size, scores.batch_size)
    try:
        small = check_consistency(score, size, size, queries.epsilon)
        places = f"in a batch of {len(small)}", "in the audit"
        tolerance = UNKNOWN_NOISE.tolerance(small, queries.epsilon)
        compare_scores(small, scores.clean[inputs[: len(small)]], places, tolerance)
    except UnstableScore as error:
        finding = f"{error}; or set batch_size=1, or, for a score that draws, repeats=8"
    except Exception as error:  # noqa: BLE001 - the score is anybody's code, and the audit is done
        finding = f"the score fails for a few of the inputs: {type(error).__name__}: {error}"
    else:
        return
    # The warning names the line that calls audit(), three calls above.
    warnings.warn(finding, UnstableScoreWarning, stacklevel=4)
