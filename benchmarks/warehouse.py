"""The warehouse at the size of the paper's ImageNet-9 audit and at ten times that size.

A synthetic study goes through the real writer: 72 models, every foreground in two pair types under
three paths at nine stages. Then every view is read in a process of its own, with a new connection,
from Parquet; wall and CPU seconds and peak memory are that process's. Committing one shard and
planning are measured too. Figures at 1x are the best of the rounds. The large warehouse is written
without flushing to disk. Warehouses that are there already are read again.
Run: python benchmarks/warehouse.py FOLDER [VIEW ...], which keeps the warehouses (1.5 GB)
"""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

# A script's folder comes first in its path; this file has the name of the package.
sys.path.remove(str(Path(__file__).resolve().parent))

import duckdb
import numpy as np
import pyarrow as pa
from safetensors.numpy import save_file

from decaf.digests import json_sha256, short
from decaf.pairs import Image, Pair, PairSet
from tasks.rows import profile_rows
from warehouse.catalog import connect
from warehouse.schemas import STAGES, TABLES
from warehouse.views import CHECKS, views
from warehouse.writer import commit, open_root

STUDY, EPSILON = "imagenet9", 0.02
MODELS, FOREGROUNDS, SCALES = 72, 1644, (1, 10)
TYPES, PATHS = ("rand", "next"), ("blend", "patch_a", "patch_b")
GRID = np.linspace(0, 1, 9)
SOURCES_PER_SHARD = 256  # x 2 types x 3 paths = 1,536 trajectories
ROUNDS, CORES = 3, 2
PLANNED_SHARDS, PLANNED_SOURCES, MOST_SECONDS = 10_000, 32, 300
MB = 1e6


def write(root: Path, foregrounds: int, models: int = MODELS) -> list[float]:
    """Commit a whole run; returns the seconds that each full shard's scores took to commit."""
    open_root(root)
    sources = [f"source-{number:06}" for number in range(foregrounds)]
    blocks = [
        sources[first : first + SOURCES_PER_SHARD]
        for first in range(0, foregrounds, SOURCES_PER_SHARD)
    ]
    pairs = pa.Table.from_pylist([_pair(s, kind) for s in sources for kind in TYPES])
    commit(root, "pairs", STUDY, "pairs", {"pairs": pairs})
    shards = [
        _shard(f"net_{model:02}", number, block)
        for model in range(models)
        for number, block in enumerate(blocks)
    ]
    commit(root, "runs", STUDY, "run", _manifest(shards, models))
    rng = np.random.default_rng(0)
    return [
        seconds
        for shard in shards
        for seconds in [_commit_shard(root, rng, shard, blocks[shard["block"]])]
        if len(blocks[shard["block"]]) == SOURCES_PER_SHARD
    ]


def _shard(model: str, block: int, sources: list[str]) -> dict[str, Any]:
    key, pair_count = short(json_sha256([model, block])), len(sources) * len(TYPES)
    return {
        "run_id": "run",
        "shard_key": key,
        "profile_key": short(json_sha256([key, EPSILON])),
        "model_id": model,
        "block": block,
        "pair_count": pair_count,
        "trajectory_count": pair_count * len(PATHS),
    }


def _manifest(shards: list[dict[str, Any]], models: int) -> dict[str, pa.Table]:
    run = {"run_id": "run", "started_at": datetime.now(UTC), "epsilon": EPSILON}
    run |= {"pairs_digest": "pairs", "shard_count": len(shards)}
    run |= dict.fromkeys(("score", "config", "software"), "{}")
    cards = [
        {"run_id": "run", "model_id": f"net_{number:02}", "position": number, "family": "net"}
        | {"architecture": "net", "weights_sha256": "0", "card": "{}", "training": None}
        for number in range(models)
    ]
    paths = [
        {"run_id": "run", "path": path, "position": position, "kind": "blend", "identity": "{}"}
        | {"t": GRID.tolist(), "repetition_count": 1, "has_common_start": True}
        for position, path in enumerate(PATHS)
    ]
    rows = {"runs": [run], "run_shards": shards, "models": cards, "paths": paths}
    return {name: pa.Table.from_pylist(table, TABLES[name].schema) for name, table in rows.items()}


def _pair(source: str, kind: str) -> dict[str, Any]:
    return {
        "pairs_digest": "pairs",
        "pair_id": f"{source}/{kind}",
        "source_id": source,
        "pair_type": kind,
        "class_id": int(source[-6:]) % 9,
        "split": "test",
        "plus_image": f"{source}/same",
        "minus_image": f"{source}/{kind}",
        "plus_variant": "mixed_same",
        "minus_variant": f"mixed_{kind}",
    }


def _commit_shard(
    root: Path, rng: np.random.Generator, shard: dict[str, Any], sources: list[str]
) -> float:
    trajectories = _trajectories(rng, shard["shard_key"], sources)
    images = [f"{s}/{v}" for s in sources for v in ("same", *TYPES)]
    classes = rng.dirichlet(np.ones(9), len(images))
    predictions = pa.table(
        {
            "shard_key": pa.repeat(shard["shard_key"], len(images)),
            "image_id": images,
            "class_scores": _lists(classes),
            "predicted_class": classes.argmax(axis=1),
        }
    )
    cost = {name: shard[name] for name in ("shard_key", "pair_count", "trajectory_count")}
    cost |= {"forward_rows": 61 * len(sources), "naive_rows": 108 * len(sources)}
    cost |= {"batch_size": 64, "requested_batch_size": 64, "peak_memory_bytes": 10**9}
    cost |= {f"{step}_seconds": 1.0 for step in ("load", "build", "forward", "wall")}
    cost |= {"device": "cpu", "worker": "w", "started_at": datetime.now(UTC)}
    tables = {
        "trajectories": trajectories,
        "predictions": predictions,
        "quarantine": TABLES["quarantine"].schema.empty_table(),
        "costs": pa.Table.from_pylist([cost], TABLES["costs"].schema),
    }
    inputs = dict.fromkeys(
        ("feeding", "grid", "model_id", "numerics", "pairs", "paths", "score", "weights"), "0" * 64
    )
    model = shard["model_id"]
    started = time.perf_counter()
    commit(root, "shards", STUDY, shard["shard_key"], tables, model_id=model, inputs=inputs)
    seconds = time.perf_counter() - started
    profiles = {"profiles": profile_rows(shard["profile_key"], trajectories, EPSILON)}
    commit(root, "profiles", STUDY, shard["profile_key"], profiles, model_id=model, inputs=inputs)
    return seconds


def _trajectories(rng: np.random.Generator, key: str, sources: list[str]) -> pa.Table:
    pairs = [f"{source}/{kind}" for source in sources for kind in TYPES]
    rows = len(pairs) * len(PATHS)
    # float32, as networks give them.
    q = rng.random((2, rows, GRID.size), np.float32).astype(np.float64)
    q[1, :, 0] = q[0, :, 0]
    q[1, ::12, -1] = q[0, ::12, -1]  # one pair in twelve is endpoint-null
    columns = {
        "shard_key": pa.repeat(key, rows),
        "pair_id": pairs * len(PATHS),
        "path": np.repeat(PATHS, len(pairs)),
        "repetition": np.zeros(rows, np.int64),
        "t": _lists(np.broadcast_to(GRID, (rows, GRID.size))),
        "q_plus": _lists(q[0]),
        "q_minus": _lists(q[1]),
    }
    return pa.table(columns, schema=TABLES["trajectories"].schema)


def _lists(values: np.ndarray[Any, Any]) -> pa.ListArray:
    offsets = pa.array(np.arange(len(values) + 1, dtype=np.int32) * values.shape[1])
    return pa.ListArray.from_arrays(offsets, pa.array(values.ravel()), type=STAGES)


def read(root: Path, name: str) -> tuple[float, float, float, float]:
    """Seconds to connect; seconds and CPU seconds of the query to its last row; peak memory."""
    view = {view.name: view for view in views()}[name]
    started = time.perf_counter()
    with connect(root, threads=CORES) as connection:
        connected, used = time.perf_counter(), time.process_time()
        sql = view.sql.rstrip().rstrip(";") if view.folder == CHECKS else f"FROM {name}"
        # All columns and rows are made, none is kept: what an aggregate over them has to see.
        connection.sql(f"SELECT count(*), bit_xor(hash(COLUMNS(*))) FROM ({sql})").fetchall()
        seconds, used = time.perf_counter() - connected, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return connected - started, seconds, used, peak


def measured() -> Iterator[str]:
    """Views of the audit: what is above the staging views, and the checks."""
    return (view.name for view in views() if view.folder in ("core", "out", "paper", CHECKS))


def plan(root: Path) -> tuple[int, float, float, bool]:
    """Plan an audit of as many shards as are wanted against a warehouse, as ``decaf run`` does.

    Returns
    -------
    Shards, seconds to plan, seconds with the imports, and whether torch was imported.
    """
    started = time.perf_counter()
    from decaf.study import Study
    from tasks.plan import plan_audit

    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "weights.safetensors"
        save_file({"weight": np.zeros(1, np.float32)}, weights)
        fed = {"architecture": "torchvision:resnet18", "weights": str(weights), "input_size": 224}
        models = [
            {"id": f"net_{number:02}", "family": "net", "mean": [0.5], "std": [0.5], **fed}
            for number in range(MODELS)
        ]
        study = Study(
            study=STUDY,
            data={"adapter": "scenes"},
            models=models,
            score={"kind": "class_probability", "classes": 2},
            paths={name: {"kind": "blend"} for name in PATHS},
            sources_per_shard=PLANNED_SOURCES,
            warehouse=str(root),
        )
        pairs = _pair_set(PLANNED_SOURCES * -(-PLANNED_SHARDS // MODELS))
        began = time.perf_counter()
        planned = plan_audit(study, pairs)
        ended = time.perf_counter()
    return len(planned.shards), ended - began, ended - started, "torch" in sys.modules


def _pair_set(sources: int) -> PairSet:
    images = tuple(
        Image(f"{source}/{side}", side, f"{source} {side}", "")
        for source in range(sources)
        for side in ("same", *TYPES)
    )
    pairs = tuple(
        Pair(f"{source}-{kind}", f"{source:06}", kind, 0, "score", 3 * source, 3 * source + side)
        for source in range(sources)
        for side, kind in enumerate(TYPES, start=1)
    )
    return PairSet(images, pairs, "synthetic")


def in_process(*arguments: str) -> Any:
    """One measurement in a fresh process."""
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=MOST_SECONDS
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(f"{arguments}: {error}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def best(root: Path, name: str, rounds: int) -> list[float]:
    """Least of each figure over the rounds; NaN where no round ended in time."""
    found = [result for _ in range(rounds) if (result := in_process("read", str(root), name))]
    return [min(figures) for figures in zip(*found, strict=True)] if found else [np.nan] * 4


def write_or_keep(root: Path, scale: int) -> None:
    """Write a warehouse unless it is there, and say how long shards took."""
    if root.exists():
        return
    with nullcontext() if scale == 1 else patch("os.fsync"):
        took = np.array(write(root, FOREGROUNDS * scale)) * 1e3
    print(f"{scale}x: a shard of 1,536 trajectories is committed in {took.min():.1f} ms (best), ")
    print(f"{np.median(took):.1f} (median)")


def loads() -> str:
    """Processes that wanted a core in the last 1, 5 and 15 minutes."""
    return ", ".join(f"{load:.1f}" for load in os.getloadavg())


def main(folder: Path, names: list[str]) -> None:
    """Print commits and planning, and a table of views at both sizes."""
    cpu = platform.processor() or platform.machine()
    print(f"{cpu}, {CORES} cores; Python {platform.python_version()}, ", end="")
    print(f"DuckDB {duckdb.__version__}, pyarrow {pa.__version__}; load average {loads()}\n")
    roots = {scale: folder / f"warehouse-{scale}x" for scale in SCALES}
    for scale, root in roots.items():
        write_or_keep(root, scale)
        size = sum(path.stat().st_size for path in root.rglob("*.parquet")) / MB
        shards, seconds, whole, has_torch = in_process("plan", str(root))
        print(f"{scale}x: {size:,.0f} MB; {shards:,} shards planned in {seconds:.2f} s, ")
        print(f"{whole:.2f} s with the imports; torch: {has_torch}\n")
    print("| view | 1x, s | 10x, s | growth | CPU 1x, s | 10x, s | growth | 1x, peak MB | 10x |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names or measured():
        _, one, used, small = best(roots[1], name, ROUNDS)
        _, ten, used_ten, large = best(roots[10], name, 1)
        print(
            f"| `{name}` | {one:.2f} | {ten:.2f} | {ten / one:.1f} | {used:.2f} | {used_ten:.2f} "
            f"| {used_ten / used:.1f} | {small / MB:.0f} | {large / MB:.0f} |",
            flush=True,
        )
    connects = [best(root, "core_current_runs", ROUNDS)[0] for root in roots.values()]
    print(f"\nconnecting: {connects[0]:.2f} s and {connects[1]:.2f} s; load average {loads()}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["read", root, name]:
            print(json.dumps(read(Path(root), name)))
        case ["plan", root]:
            print(json.dumps(plan(Path(root))))
        case [folder, *names]:
            main(Path(folder), names)
        case _:
            sys.exit(__doc__)
