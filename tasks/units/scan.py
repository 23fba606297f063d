"""One forward pass over the states of a block, for all paths that are missing together."""

import time
from typing import TYPE_CHECKING

from decaf.scoring.block import BlockScores, score_block
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder, on_device
from tasks.units.bench import Bench
from tasks.units.scope import of_kind

if TYPE_CHECKING:
    import torch


def scanned(bench: Bench) -> BlockScores:
    """Scores of the clean inputs and of the paths that the order scores; one forward pass.

    The second call of an order finds what the first one computed.
    """
    if bench.scores is None:
        bench.scores = _scan(bench)
    return bench.scores


def _scan(bench: Bench) -> BlockScores:
    order, study = bench.order, bench.order.study
    model = bench.model
    planning = time.perf_counter()
    inputs = bench.inputs(order.block.image_positions)
    names = [unit.name for unit in of_kind(order.units, "score")]
    paths = {name: study.paths[name] for name in names}
    plan = plan_states(order.block, inputs, paths, study.grid)
    builder = StateBuilder(plan, on_device(inputs, model.device))
    planned = time.perf_counter() - planning

    def scorer(states: "torch.Tensor") -> "torch.Tensor":
        import torch

        with torch.inference_mode():
            return study.score.values(model.outputs(states), model.output)

    columns = study.score.columns(order.block.class_id)
    scores = score_block(plan, builder, scorer, columns, study.batch_size, sign=study.score.sign)
    bench.cost.item_count = order.block.pair_count
    bench.cost.forward_rows = scores.forward_rows
    bench.cost.naive_rows = scores.naive_rows
    bench.cost.batch_size = scores.batch_size
    bench.cost.prepare_seconds = planned + scores.build_seconds
    bench.cost.forward_seconds = scores.forward_seconds
    return scores
