"""One forward pass over the states of a block, for all paths that are missing together.

Models that score a block together have its states built once.
"""

import time
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from decaf.models.card import Model
from decaf.plan.units import Unit
from decaf.reveal.start import ModelMean
from decaf.scoring.batches import FixedLimit
from decaf.scoring.block import Known, score_together
from decaf.scoring.known import known_values, states_to_score
from decaf.scoring.planner import StatePlan
from decaf.scoring.repeats import mean_scores
from decaf.scoring.starts import open_starts
from decaf.scoring.states import StateBuilder, on_device
from tasks.units.behind import reached
from tasks.units.bench import Bench
from tasks.units.repeats import scorers_of
from tasks.units.scope import of_kind
from tasks.units.state_plans import state_plan


def planned(bench: Bench) -> StatePlan:
    """The states of the paths that the order scores, or has stored; reads the clean inputs."""
    if bench.plan is None:
        units = (*of_kind(bench.order.units, "score"), *of_kind(bench.order.known, "score"))
        bench.plan = state_plan(bench, units, bench.clean)
    return bench.plan


def scan(benches: Sequence[Bench]) -> None:
    """Score the clean inputs of a block, and the paths that its orders score, model by model.

    The orders score, and have stored, the same paths; what is stored does not go through a model
    again. Models whose states differ all the same, as with a start of the model's own or another
    gap in what is stored, are scored by themselves.
    """
    first, *others = benches
    for bench in others:
        bench.plan = planned(first)
    alike: dict[Hashable, list[_Scan]] = {}
    for bench in benches:
        one = _Scan(bench)
        alike.setdefault(one.states, []).append(one)
    for scans in alike.values():
        _score(scans, first.clean)


class _Scan:
    """What a model has to score of a block."""

    def __init__(self, bench: Bench) -> None:
        self.bench, order, model = bench, bench.order, bench.model
        preparing = time.perf_counter()
        plan = planned(bench)
        scored, stored = of_kind(order.units, "score"), of_kind(order.known, "score")
        # A path may have no pairs among those of one shape.
        self.missing = [unit.name for unit in scored if unit.name in plan.index]
        stored = [unit for unit in stored if unit.name in plan.index]
        self.columns = order.study.score.columns(order.block.class_id)
        query_count = order.model.card.query_count
        self.known = (
            _known(bench, plan, self.columns, self.missing, stored, query_count)
            if order.known
            else [None] * query_count
        )
        means = [start.of(model) for start in plan.starts if isinstance(start, ModelMean)]
        needed = None if self.known[0] is None else self.known[0].is_needed.tobytes()
        self.states = (str(model.device), tuple(means), needed)
        """What tells whether another model of the block takes the same states."""
        self.prepare_seconds = time.perf_counter() - preparing


def _score(scans: Sequence[_Scan], clean: NDArray[np.floating]) -> None:
    """Score the states of a block, which are the same for all models."""
    first = scans[0]
    preparing = time.perf_counter()
    order, model = first.bench.order, first.bench.model
    plan = _of_model(planned(first.bench), model)
    starts = {number: open_starts(order.starts[name]) for name, number in plan.drawn.items()}
    builder = StateBuilder(plan, on_device(clean, model.device), starts)
    prepared = (time.perf_counter() - preparing) / len(scans)
    study = order.study
    reached()
    scorers = [
        scorers_of(one.bench.order.model.card, one.bench.model, study.score) for one in scans
    ]
    limit = FixedLimit(order.batch_size)
    scored = iter(
        score_together(
            *(plan, builder, [*chain.from_iterable(scorers)]),
            *(first.columns, limit, study.score.sign),
            [scores for one in scans for scores in one.known],
        )
    )
    for one, own_scorers in zip(scans, scorers, strict=True):
        bench, cost = one.bench, one.bench.cost
        bench.queries = [*islice(scored, len(own_scorers))]
        bench.scores = scores = mean_scores(bench.queries)
        if limit.rows < order.batch_size:
            bench.note_smaller_batch(limit.rows)
        cost.item_count = order.block.pair_count
        cost.forward_rows = scores.forward_rows
        cost.naive_rows = len(own_scorers) * plan.naive_count(one.missing)
        cost.batch_size = scores.batch_size
        cost.prepare_seconds += one.prepare_seconds + prepared + scores.build_seconds
        cost.forward_seconds = scores.forward_seconds


def _of_model(plan: StatePlan, model: Model) -> StatePlan:
    """The plan, which models share, with the mean of this one where states start there."""
    starts = (start.of(model) if isinstance(start, ModelMean) else start for start in plan.starts)
    return replace(plan, starts=tuple(starts))


def _known(
    bench: Bench,
    plan: StatePlan,
    columns: NDArray[np.int64],
    missing: Sequence[str],
    stored: Sequence[Unit],
    query_count: int,
) -> list[Known | None]:
    """Stored scores of the block, for each query; None where its predictions are not stored.

    Of a clean input, the queries of its stored paths are known, and of its other classes the mean.
    """
    predicted = of_kind(bench.order.known, "predict")
    rows = bench.rows_of(predicted[0], "predictions") if predicted else None
    if rows is None:
        return [None] * query_count
    scores = rows["class_scores"].to_pylist()
    clean = np.full((len(bench.order.block.image_ids), len(scores[0])), np.nan)
    places = {name: place for place, name in enumerate(bench.order.block.image_ids)}
    clean[[places[name] for name in rows["image_id"].to_pylist()]] = scores
    means = {unit.name: _branches(bench, plan, unit) for unit in stored}
    values = known_values(plan, columns, clean, means)
    is_needed = states_to_score(plan, columns, values, missing)
    if query_count == 1:
        return [Known(values, is_needed)]
    stored_queries: list[Known | None] = []
    for query in range(query_count):
        branches = {unit.name: _branches(bench, plan, unit, query) for unit in stored}
        of_query = known_values(plan, columns, np.full_like(clean, np.nan), branches)
        stored_queries.append(Known(np.where(np.isnan(of_query), values, of_query), is_needed))
    return stored_queries


def _branches(
    bench: Bench, plan: StatePlan, unit: Unit, query: int | None = None
) -> NDArray[np.float64]:
    """(n_pairs, n_repetitions, n_stages, 2) stored values of a path; NaN where there are none.

    They are those of one query of a stochastic model, or the scores.
    """
    pair_ids = [bench.order.block.pair_ids[row] for row in plan.rows[unit.name]]
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
            # Before the sign of the score, as the model's values are.
            stages = np.array(rows[column].to_pylist()) * bench.order.study.score.sign
            scores[pairs, repetition, :, branch] = stages
    return scores
