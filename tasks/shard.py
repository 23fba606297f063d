"""Score, route and commit one shard: what a Dask worker runs. Nothing here imports Prefect."""

import os
import platform
import resource
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray

from decaf.data.pixels import open_pixels
from decaf.models.card import ModelCard
from decaf.models.classifier import ImageClassifier, load_classifier
from decaf.pairs import PairBlock
from decaf.planner import plan_states
from decaf.profiles import profile
from decaf.scoring import BlockScores, score_block
from decaf.shards import ShardKeys
from decaf.study import RevealPath, Score, import_from
from warehouse import layout
from warehouse.schemas import COSTS, PREDICTIONS, PROFILES, QUARANTINE, TRAJECTORIES
from warehouse.writer import commit


@dataclass(frozen=True)
class ShardOrder:
    """What a worker is told: keys, paths and names, no pixels and no weights."""

    root: Path
    study: str
    model: ModelCard
    weights: Path
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
    quarantined_count: int


class _Loaded(NamedTuple):
    key: tuple[str, str]
    classifier: ImageClassifier


_held: list[_Loaded] = []
"""The one model that this worker keeps in memory."""


def run_shard(order: ShardOrder) -> ShardReport:
    """Score and route one shard, as far as it has not been done.

    Reads pixels and weights, or the shard's trajectories when only its profiles are missing;
    writes both commits. Returns at once when both receipts are there.
    """
    rows = quarantined = 0
    if not _has_receipt(order, "shards", order.keys.shard_key):
        rows, quarantined = _score(order)
    if not _has_receipt(order, "profiles", order.keys.profile_key):
        _route(order)
    return ShardReport(order.model.id, rows, quarantined)


def examine_model(order: ShardOrder) -> str:
    """Load a model and send one blank input through it: bad checkpoints show before any work."""
    classifier, _ = _classifier(order)
    side = order.model.input_size
    blank = torch.zeros(1, 3, side, side, device=classifier.device)
    order.score.values(classifier.logits(blank))
    return order.model.id


def choose_device(wanted: str) -> str:
    """Device of this worker: `auto` is the GPU where there is one."""
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted


def _has_receipt(order: ShardOrder, kind: str, key: str) -> bool:
    return layout.receipt_file(order.root, kind, order.study, key).exists()


def _classifier(order: ShardOrder) -> tuple[ImageClassifier, float]:
    """The order's model and the seconds it took to load; the worker holds one at a time."""
    import_from(order.python_path)
    wanted = (order.keys.inputs["weights"], order.keys.inputs["feeding"])
    if _held and _held[0].key == wanted:
        return _held[0].classifier, 0.0
    _held.clear()
    started = time.perf_counter()
    classifier = load_classifier(order.model, order.weights, choose_device(order.device))
    _held.append(_Loaded(wanted, classifier))
    return classifier, time.perf_counter() - started


def _score(order: ShardOrder) -> tuple[int, int]:
    started_at, started = datetime.now(UTC), time.perf_counter()
    classifier, load_seconds = _classifier(order)
    device = classifier.device
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    block = order.block
    planning = time.perf_counter()
    images = open_pixels(order.pixels)[block.image_positions]
    plan = plan_states(block, images, order.paths, order.grid)
    plan_seconds = time.perf_counter() - planning

    def scorer(pixels: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            return order.score.values(classifier.logits(pixels))

    scores = score_block(plan, block, images, scorer, order.batch_size, device)
    trajectories, quarantine = _trajectory_rows(order, scores)
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
            "predictions": _prediction_rows(order, scores),
            "quarantine": quarantine,
            "costs": pa.Table.from_pylist([cost], schema=COSTS.schema),
        },
        model_id=order.model.id,
        inputs=order.keys.inputs,
        software=order.software,
    )
    return scores.forward_rows, quarantine.num_rows


def _route(order: ShardOrder) -> None:
    partition = {"study": order.study, "model_id": order.model.id}
    path = layout.table_file(order.root, "trajectories", partition, order.keys.shard_key)
    tables = {}
    # A shard whose every trajectory is quarantined has no file, and no profiles either.
    if path.exists():
        stored = pq.ParquetFile(path).read()
        tables["profiles"] = _profile_rows(order, stored)
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


def _trajectory_rows(order: ShardOrder, scores: BlockScores) -> tuple[pa.Table, pa.Table]:
    """Finite trajectories, and what is withheld in their place."""
    pair_ids = np.array(order.block.pair_ids)
    kept, withheld = [], []
    for name, branches in scores.branches.items():
        bad = ~np.isfinite(branches)
        whole = ~bad.any(axis=(1, 2))
        count = int(whole.sum())
        columns = {
            **_row_names(order, name, pair_ids[whole]),
            "t": _lists(np.broadcast_to(order.grid, (count, order.grid.size))),
            "q_plus": _lists(branches[whole, :, 0]),
            "q_minus": _lists(branches[whole, :, 1]),
        }
        kept.append(pa.table(columns, schema=TRAJECTORIES.schema))
        columns = {
            **_row_names(order, name, pair_ids[~whole]),
            "stage_count": np.full((~whole).sum(), branches.shape[1]),
            "non_finite_count": bad[~whole].sum(axis=(1, 2)),
        }
        withheld.append(pa.table(columns, schema=QUARANTINE.schema))
    return pa.concat_tables(kept), pa.concat_tables(withheld)


def _row_names(order: ShardOrder, path: str, pair_ids: NDArray[np.str_]) -> dict[str, Any]:
    return {
        "shard_key": pa.repeat(order.keys.shard_key, pair_ids.size),
        "pair_id": pa.array(pair_ids, pa.string()),
        "path": pa.repeat(path, pair_ids.size),
        "repetition": np.zeros(pair_ids.size, np.int64),
    }


def _prediction_rows(order: ShardOrder, scores: BlockScores) -> pa.Table:
    finite = np.isfinite(scores.clean).all(axis=1)
    values = scores.clean[finite]
    columns = {
        "shard_key": pa.repeat(order.keys.shard_key, len(values)),
        "image_id": pa.array(np.array(order.block.image_ids)[finite], pa.string()),
        "probabilities": _lists(values),
        "predicted_class": values.argmax(axis=1),
    }
    return pa.table(columns, schema=PREDICTIONS.schema)


def _profile_rows(order: ShardOrder, stored: pa.Table) -> pa.Table:
    plus, minus = _matrix(stored["q_plus"]), _matrix(stored["q_minus"])
    epsilon = order.epsilon
    profiles = profile(plus - minus, order.grid, epsilon)
    flips = pa.array(profiles.sign_flip_frac, from_pandas=True)
    columns = {
        "profile_key": pa.repeat(order.keys.profile_key, stored.num_rows),
        **{name: stored[name] for name in ("shard_key", "pair_id", "path", "repetition")},
        "epsilon": np.full(stored.num_rows, epsilon),
        **profiles._asdict(),
        "sign_flip_frac": flips,
    }
    return pa.table({name: columns[name] for name in PROFILES.schema.names}, schema=PROFILES.schema)


def _lists(values: NDArray[np.float64]) -> pa.ListArray:
    """(n, k) matrix → n lists of k."""
    offsets = np.arange(values.shape[0] + 1, dtype=np.int32) * values.shape[1]
    flat = pa.array(np.ascontiguousarray(values).ravel())
    return pa.ListArray.from_arrays(
        pa.array(offsets), flat, type=TRAJECTORIES.schema.field("t").type
    )


def _matrix(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Lists of one length → (n, k) matrix."""
    lists = column.combine_chunks()
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)


def _peak_memory(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"cpu {platform.machine()}, {torch.get_num_threads()} threads"
