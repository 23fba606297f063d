"""Score, route and commit one shard: what a Dask worker runs. Nothing here imports Prefect."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.data.input_store import channels_first, open_inputs
from decaf.data.pairs import PairBlock
from decaf.plan.shards import ShardKeys
from decaf.plan.study import RevealPath, Score
from decaf.scoring.block import score_block
from decaf.scoring.planner import plan_states
from decaf.scoring.states import StateBuilder, on_device
from tasks.cluster.worker import (
    ModelOrder,
    device_name,
    loaded_model,
    peak_memory,
    watch_memory,
    worker_name,
)
from tasks.rows import prediction_rows, profile_rows, trajectory_rows
from warehouse.commits import receipts
from warehouse.commits.stored import read_commit
from warehouse.commits.writer import commit
from warehouse.storage import Root
from warehouse.tables.declarations import COSTS

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class ShardOrder:
    """What a worker is told: keys, paths and names, no inputs and no weights."""

    root: Root
    study: str
    model: ModelOrder
    score: Score
    paths: dict[str, RevealPath]
    grid: NDArray[np.float64]
    epsilon: float
    batch_size: int
    inputs: Path
    """File of the clean inputs."""
    block: PairBlock
    keys: ShardKeys
    software: dict[str, str]


class ShardReport(NamedTuple):
    """What comes back: a few numbers."""

    model_id: str
    forward_rows: int
    """Rows that this call sent through the model; 0 when the trajectories were there."""


def run_shard(order: ShardOrder) -> ShardReport:
    """Score and route one shard, as far as it has not been done.

    Reads clean inputs and weights, or the shard's trajectories when only its profiles are missing;
    writes both commits. Returns at once when both receipts are there.
    """
    rows = 0
    if not _has_receipt(order, "shards", order.keys.shard_key):
        rows = _score(order)
    if not _has_receipt(order, "profiles", order.keys.profile_key):
        _route(order)
    return ShardReport(order.model.card.id, rows)


def examine_model(order: ShardOrder) -> str:
    """Load a model and score one clean input: what does not fit shows before any work."""
    model, _ = loaded_model(order.model)
    first = open_inputs(order.inputs)[order.block.image_positions[:1]]
    inputs = on_device(channels_first(first), model.device)
    order.score.values(model.outputs(inputs), model.output)
    order.score.columns(order.block.class_id)
    return order.model.card.id


def _has_receipt(order: ShardOrder, kind: str, key: str) -> bool:
    return receipts.exists(order.root, kind, order.study, key)


def _score(order: ShardOrder) -> int:
    import torch

    started_at, started = datetime.now(UTC), time.perf_counter()
    model, load_seconds = loaded_model(order.model)
    device = model.device
    watch_memory(device)
    block = order.block
    planning = time.perf_counter()
    inputs = channels_first(open_inputs(order.inputs)[block.image_positions])
    plan = plan_states(block, inputs, order.paths, order.grid)
    builder = StateBuilder(plan, on_device(inputs, device))
    plan_seconds = time.perf_counter() - planning

    def scorer(states: "torch.Tensor") -> "torch.Tensor":
        with torch.inference_mode():
            return order.score.values(model.outputs(states), model.output)

    columns = order.score.columns(block.class_id)
    scores = score_block(plan, builder, scorer, columns, order.batch_size, sign=order.score.sign)
    trajectories, quarantine = trajectory_rows(order.keys.shard_key, block, plan.grids, scores)
    cost = {
        "shard_key": order.keys.shard_key,
        "pair_count": block.pair_count,
        "trajectory_count": trajectories.num_rows + quarantine.num_rows,
        "forward_rows": scores.forward_rows,
        "naive_rows": scores.naive_rows,
        "batch_size": scores.batch_size,
        "requested_batch_size": order.batch_size,
        "load_seconds": load_seconds,
        "build_seconds": plan_seconds + scores.build_seconds,
        "forward_seconds": scores.forward_seconds,
        "wall_seconds": time.perf_counter() - started,
        "peak_memory_bytes": peak_memory(device),
        "device": device_name(device),
        "worker": worker_name(),
        "started_at": started_at,
    }
    commit(
        order.root,
        "shards",
        order.study,
        order.keys.shard_key,
        {
            "trajectories": trajectories,
            "predictions": prediction_rows(
                order.keys.shard_key, block, scores, order.score.has_classes
            ),
            "quarantine": quarantine,
            "costs": pa.Table.from_pylist([cost], schema=COSTS.schema),
        },
        model_id=order.model.card.id,
        inputs=order.keys.inputs,
        software=order.software,
    )
    return scores.forward_rows


def _route(order: ShardOrder) -> None:
    stored = read_commit(order.root, "shards", order.study, order.keys.shard_key, "trajectories")
    tables = {}
    # A shard whose every trajectory is quarantined has no rows, and no profiles either.
    if stored is not None:
        tables["profiles"] = profile_rows(order.keys.profile_key, stored, order.epsilon)
    commit(
        order.root,
        "profiles",
        order.study,
        order.keys.profile_key,
        tables,
        model_id=order.model.card.id,
        inputs={"shard_key": order.keys.shard_key, "epsilon": repr(order.epsilon)},
        software=order.software,
    )
