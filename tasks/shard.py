"""Score, route and commit one shard: what a Dask worker runs. Nothing here imports Prefect."""

import os
import platform
import resource
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from decaf.data.pixels import open_pixels
from decaf.errors import BadInput
from decaf.models.card import Model, ModelCard
from decaf.models.precision import exact_float32
from decaf.pairs import PairBlock
from decaf.planner import plan_states
from decaf.scoring import score_block
from decaf.shards import ShardKeys
from decaf.states import StateBuilder, on_device
from decaf.study import RevealPath, Score, import_from
from tasks.rows import prediction_rows, profile_rows, trajectory_rows
from warehouse import receipts
from warehouse.schemas import COSTS
from warehouse.storage import Root
from warehouse.stored import read_commit
from warehouse.writer import commit


@dataclass(frozen=True)
class ShardOrder:
    """What a worker is told: keys, paths and names, no pixels and no weights."""

    root: Root
    study: str
    model: ModelCard
    workspace: Path
    score: Score
    paths: dict[str, RevealPath]
    grid: NDArray[np.float64]
    epsilon: float
    batch_size: int
    device: str
    python_path: tuple[Path, ...]
    pixels: Path
    block: PairBlock
    keys: ShardKeys
    software: dict[str, str]


class ShardReport(NamedTuple):
    """What comes back: a few numbers."""

    model_id: str
    forward_rows: int
    """Rows that this call sent through the model; 0 when the trajectories were there."""


class _Loaded(NamedTuple):
    weights: str
    card: ModelCard
    feeding: str
    model: Model


_held: list[_Loaded] = []
"""The one model that this worker keeps in memory."""


def run_shard(order: ShardOrder) -> ShardReport:
    """Score and route one shard, as far as it has not been done.

    Reads pixels and weights, or the shard's trajectories when only its profiles are missing;
    writes both commits. Returns at once when both receipts are there.
    """
    rows = 0
    if not _has_receipt(order, "shards", order.keys.shard_key):
        rows = _score(order)
    if not _has_receipt(order, "profiles", order.keys.profile_key):
        _route(order)
    return ShardReport(order.model.id, rows)


def examine_model(order: ShardOrder) -> str:
    """Load a model and score one clean input: what does not fit shows before any work."""
    model, _ = _loaded_model(order)
    image = open_pixels(order.pixels)[order.block.image_positions[:1]]
    inputs = torch.from_numpy(image).to(model.device).permute(0, 3, 1, 2) / 255
    order.score.values(model.outputs(inputs), model.output)
    order.score.columns(order.block.class_id)
    return order.model.id


def choose_device(wanted: str) -> str:
    """Device of this worker: `auto` is the GPU where there is one.

    Raises
    ------
    BadInput
        When a GPU is asked for and there is none.
    """
    has_gpu = torch.cuda.is_available()
    if wanted == "cuda" and not has_gpu:
        raise BadInput(
            f"device 'cuda' is asked for, but a worker on {socket.gethostname()} sees no GPU; set "
            "'device: auto', or repair the driver"
        )
    return "cuda" if has_gpu and wanted != "cpu" else "cpu"


def _has_receipt(order: ShardOrder, kind: str, key: str) -> bool:
    return receipts.exists(order.root, kind, order.study, key)


def _loaded_model(order: ShardOrder) -> tuple[Model, float]:
    """The order's model and the seconds it took to load; the worker holds one at a time."""
    import_from(order.python_path)
    exact_float32()
    wanted = (order.keys.inputs["weights"], order.model, order.keys.inputs["feeding"])
    if _held and _held[0][:3] == wanted:
        return _held[0].model, 0.0
    _held.clear()
    started = time.perf_counter()
    model = order.model.load(order.workspace, choose_device(order.device))
    _held.append(_Loaded(*wanted, model))
    return model, time.perf_counter() - started


def _score(order: ShardOrder) -> int:
    started_at, started = datetime.now(UTC), time.perf_counter()
    model, load_seconds = _loaded_model(order)
    device = model.device
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    block = order.block
    planning = time.perf_counter()
    inputs = open_pixels(order.pixels)[block.image_positions].transpose(0, 3, 1, 2)
    plan = plan_states(block, inputs, order.paths, order.grid)
    builder = StateBuilder(plan, on_device(inputs, device))
    plan_seconds = time.perf_counter() - planning

    def scorer(pixels: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            return order.score.values(model.outputs(pixels), model.output)

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
        "peak_memory_bytes": _peak_memory(device),
        "device": _device_name(device),
        "worker": f"{socket.gethostname()}:{os.getpid()}",
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
        model_id=order.model.id,
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
        model_id=order.model.id,
        inputs={"shard_key": order.keys.shard_key, "epsilon": repr(order.epsilon)},
        software=order.software,
    )


def _peak_memory(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"cpu {platform.machine()}, {torch.get_num_threads()} threads"
