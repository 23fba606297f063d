"""Scan a block: one forward pass over the states of all its missing paths."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from decaf.models.card import Model
from decaf.plan.units import Unit
from decaf.reveal.start import ModelMean
from decaf.scoring.batches import FixedLimit
from decaf.scoring.block import StoredScores, score_block
from decaf.scoring.planner import StatePlan
from decaf.scoring.repeats import mean_scores
from decaf.scoring.starts import open_starts
from decaf.scoring.states import StateBuilder, on_device
from decaf.scoring.stored_scores import states_to_score, stored_values
from tasks.units.bench import Bench
from tasks.units.repeats import scorers_of
from tasks.units.scope import of_kind
from tasks.units.state_plans import state_plan


def scan(bench: Bench) -> None:
    """Score the clean inputs of a block and the paths of its task, except stored states."""
    started = time.perf_counter()
    task, block, model = bench.task, bench.part.block, bench.model
    study, stored_units = task.study, task.stored.scored_units
    pending, stored = of_kind(task.units, "score"), of_kind(stored_units, "score")
    pending_paths = {unit.name for unit in pending}
    coarser = [unit for unit in stored if unit.name in pending_paths]
    stored = [unit for unit in stored if unit.name not in pending_paths]
    plan = _with_model_mean(state_plan(bench, (*pending, *stored), bench.clean), model)
    # A path may have no pairs among those of one shape.
    missing_paths = [unit.name for unit in pending if unit.name in plan.index]
    stored = [unit for unit in (*stored, *coarser) if unit.name in plan.index]
    columns = study.score.columns(block.class_id)
    scorers = scorers_of(task.model.card, model, study.score)
    stored_scores = (
        _read_stored_scores(bench, plan, columns, missing_paths, stored, len(scorers))
        if stored_units
        else [None] * len(scorers)
    )
    starts = {number: open_starts(task.files.starts[name]) for name, number in plan.drawn.items()}
    builder = StateBuilder(plan, on_device(bench.clean, model.device), starts)
    limit, cost = FixedLimit(task.batch_size), bench.cost
    # The time to load the model is counted separately.
    cost.prepare_seconds = time.perf_counter() - started - cost.load_seconds
    bench.queries = [
        score_block(plan, builder, scorer, columns, limit, study.score.sign, query_scores)
        for scorer, query_scores in zip(scorers, stored_scores, strict=True)
    ]
    bench.scores = scores = mean_scores(bench.queries)
    if limit.rows < task.batch_size:
        bench.note_smaller_batch(limit.rows)
    cost.item_count = block.pair_count
    cost.forward_rows = scores.forward_rows
    cost.naive_rows = len(scorers) * plan.naive_count(missing_paths)
    cost.batch_size = scores.batch_size
    cost.prepare_seconds += scores.build_seconds
    cost.forward_seconds = scores.forward_seconds


def _with_model_mean(plan: StatePlan, model: Model) -> StatePlan:
    """Copy a shared plan with the mean of this model for states that start from it."""
    starts = (start.of(model) if isinstance(start, ModelMean) else start for start in plan.starts)
    return replace(plan, starts=tuple(starts))


def _read_stored_scores(
    bench: Bench,
    plan: StatePlan,
    columns: NDArray[np.int64],
    missing_paths: Sequence[str],
    stored: Sequence[Unit],
    query_count: int,
) -> list[StoredScores | None]:
    """Read stored scores of the block for each query; None if its predictions are not stored.

    Values of stored paths are those of each query; other class scores are means over all queries.
    """
    predicted = of_kind(bench.task.stored.scored_units, "predict")
    rows = bench.rows_of(predicted[0], "predictions") if predicted else None
    if rows is None:
        return [None] * query_count
    scores = rows["class_scores"].to_pylist()
    clean = np.full((len(bench.part.block.image_ids), len(scores[0])), np.nan)
    places = {name: place for place, name in enumerate(bench.part.block.image_ids)}
    clean[[places[name] for name in rows["image_id"].to_pylist()]] = scores
    means = {unit.name: _read_branches(bench, plan, unit) for unit in stored}
    values = stored_values(plan, columns, clean, means)
    is_needed = states_to_score(plan, columns, values, missing_paths)
    if query_count == 1:
        return [StoredScores(values, is_needed)]
    stored_queries: list[StoredScores | None] = []
    for query in range(query_count):
        branches = {unit.name: _read_branches(bench, plan, unit, query) for unit in stored}
        query_values = stored_values(plan, columns, np.full_like(clean, np.nan), branches)
        stored_queries.append(
            StoredScores(np.where(np.isnan(query_values), values, query_values), is_needed)
        )
    return stored_queries


def _read_branches(
    bench: Bench, plan: StatePlan, unit: Unit, query: int | None = None
) -> NDArray[np.float64]:
    """Read the (n_pairs, n_repetitions, n_stages, 2) stored values of a path; NaN without a value.

    Reads one query of a stochastic model, or by default the mean over queries. If the path was
    scored on a coarser grid, the stages between are NaN; if the states on that grid differ, all
    are NaN.
    """
    pair_ids = [bench.part.block.pair_ids[row] for row in plan.rows[unit.name]]
    repetitions = plan.index[unit.name].shape[1]
    scores = np.full((len(pair_ids), repetitions, plan.grids[unit.name].size, 2), np.nan)
    rows = bench.rows_of(unit, "trajectories" if query is None else "repeats")
    if rows is not None and query is not None:
        rows = rows.filter(pc.equal(rows["repeat"], query))
    if rows is not None:
        places = {name: place for place, name in enumerate(pair_ids)}
        pairs = [places[name] for name in rows["pair_id"].to_pylist()]
        repetition = rows["repetition"].to_numpy()
        for branch, column in enumerate(("q_plus", "q_minus")):
            # Stored scores have the sign of the definition; the model's values do not.
            values = np.array(rows[column].to_pylist()) * bench.task.study.score.sign
            stride = (scores.shape[2] - 1) // max(values.shape[1] - 1, 1)
            if stride > 1 and not _is_nested(bench, plan, unit.name, stride):
                break
            scores[pairs, repetition, ::stride, branch] = values
    return scores


def _is_nested(bench: Bench, plan: StatePlan, path: str, stride: int) -> bool:
    """True if the states on every n-th stage do not change when only these stages are shown."""
    grid, pairs = plan.grids[path], bench.block.of_rows(plan.rows[path])
    fine = bench.task.study.paths[path]
    coarse = replace(fine, stages=tuple(grid[::stride].tolist()))
    if fine.start != coarse.start:  # a chain whose draws depend on all stages
        return False
    shown = zip(
        fine.reveal(pairs, bench.clean, grid),
        coarse.reveal(pairs, bench.clean, grid[::stride]),
        strict=True,
    )
    return all(np.array_equal(on_fine[:, :, ::stride], on_coarse) for on_fine, on_coarse in shown)
