"""A study named as the demo, with its models, changes and paths, and four made-up scenes.

An earlier run of it had a higher epsilon.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from decaf.routing.profiles import profile
from warehouse.commits.writer import commit, open_root
from warehouse.tables.declarations import TABLES

STUDY, EPSILON = "demo", 0.02
EARLIER = 0.3
"""Epsilon of the earlier run, which turns some pairs null."""
GRID = [0.0, 0.25, 0.5, 1.0]
MODELS = ("small_cnn.wall50", "small_cnn.wall99")
SCENES = tuple(f"scene-{number}" for number in range(4))
CHANGES = ("wall_hue", "shape")
PATHS = ("blend", "patch")
STARTED = datetime(2026, 3, 1, tzinfo=UTC)


def scenes_warehouse(root):
    """Commit its runs; some responses oppose their endpoint, one ends at the gate."""
    root = open_root(root)
    pairs = [_pair(scene, change) for scene in SCENES for change in CHANGES]
    _commit(root, "pairs", "pairs", {"pairs": pairs})
    _commit_run(root, "earlier", EARLIER, STARTED - timedelta(days=1), len(pairs))
    _commit_run(root, "r", EPSILON, STARTED, len(pairs))
    for model in MODELS:
        _commit_scores(root, model, pairs)
    return root


def _commit_run(root, run_id, epsilon, started, pair_count):
    run = {"run_id": run_id, "started_at": started, "epsilon": epsilon, "pairs_digest": "pairs"}
    run |= {"shard_count": len(MODELS), "score": "{}", "config": "{}", "software": "{}"}
    count = pair_count * len(PATHS)
    shards = [
        {"run_id": run_id, "shard_key": f"{model}-scores", "model_id": model, "block": 0}
        | {"profile_key": f"{model}-at-{epsilon}"}
        | {"pair_count": pair_count, "trajectory_count": count}
        for model in MODELS
    ]
    models = [
        {"run_id": run_id, "model_id": model, "position": position, "family": "small_cnn"}
        | {"architecture": "net", "weights_sha256": "0", "card": "{}", "training": None}
        for position, model in enumerate(MODELS)
    ]
    paths = [
        {"run_id": run_id, "path": path, "position": position, "kind": path, "identity": "{}"}
        | {"t": GRID, "repetition_count": 1, "has_common_start": True}
        for position, path in enumerate(PATHS)
    ]
    tables = {"runs": [run], "run_shards": shards, "models": models, "paths": paths}
    _commit(root, "runs", run_id, tables)
    outcome = {"run_id": run_id, "finished_at": started, "forward_rows": 9}
    _commit(root, "outcomes", run_id, {"run_outcomes": [outcome | {"quarantined_count": 0}]})


def _commit_scores(root, model, pairs):
    rng = np.random.default_rng(MODELS.index(model))
    keys = [
        {"shard_key": f"{model}-scores", "pair_id": pair["pair_id"], "path": path, "repetition": 0}
        for pair in pairs
        for path in PATHS
    ]
    q = rng.random((2, len(keys), len(GRID)))
    q[1, :, 0] = q[0, :, 0]
    q[1, 0] = q[0, 0] - [0, -0.5, -0.5, 0.0205]  # against its end all the way, and at the gate
    trajectories = [
        key | {"t": GRID, "q_plus": list(plus), "q_minus": list(minus)}
        for key, plus, minus in zip(keys, *q, strict=True)
    ]
    images = sorted({pair[side] for pair in pairs for side in ("plus_image", "minus_image")})
    predictions = [
        {"shard_key": f"{model}-scores", "image_id": image, "class_scores": [0.75, 0.25]}
        | {"predicted_class": 0}
        for image in images
    ]
    cost = {"shard_key": f"{model}-scores", "pair_count": len(pairs), "forward_rows": 90}
    cost |= {"trajectory_count": len(keys), "naive_rows": 128, "batch_size": 8}
    cost |= {f"{step}_seconds": 1.0 for step in ("load", "build", "forward", "wall")}
    cost |= {"requested_batch_size": 8, "peak_memory_bytes": 1, "device": "cpu", "worker": "w"}
    tables = {"trajectories": trajectories, "predictions": predictions}
    tables["costs"] = [cost | {"started_at": STARTED}]
    _commit(root, "shards", f"{model}-scores", tables, model)
    for epsilon in (EARLIER, EPSILON):
        profile_key = f"{model}-at-{epsilon}"
        columns = profile(q[0] - q[1], GRID, epsilon).columns()
        columns["sign_flip_frac"] = pa.array(columns["sign_flip_frac"], from_pandas=True)
        columns |= {name: [key[name] for key in keys] for name in keys[0]}
        columns["profile_key"] = [profile_key] * len(keys)
        columns["epsilon"] = [epsilon] * len(keys)
        profiles = {"profiles": pa.table(columns)}
        commit(root, "profiles", STUDY, profile_key, profiles, model_id=model)


def _pair(scene, change):
    pair = {"pairs_digest": "pairs", "pair_id": f"{scene}__{change}", "source_id": scene}
    pair |= {"pair_type": change, "class_id": 0, "split": "all"}
    pair |= {"plus_image": f"{scene}/factual", "minus_image": f"{scene}/{change}"}
    return pair | {"plus_variant": "factual", "minus_variant": f"{change}_changed"}


def _commit(root, kind, key, tables, model=None):
    tables = {
        name: pa.Table.from_pylist(rows, TABLES[name].schema) for name, rows in tables.items()
    }
    commit(root, kind, STUDY, key, tables, model_id=model)
