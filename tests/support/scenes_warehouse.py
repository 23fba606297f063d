"""A study named as the demo, with its models, changes and paths, and four made-up scenes.

An earlier run of it had a higher epsilon.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
from planned_units import block_units, cost_row, manifest

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
    images = [
        {"pairs_digest": "pairs", "image_id": pair[f"{side}_image"], "digest": "0"}
        | {"variant": pair[f"{side}_variant"]}
        for pair in pairs
        for side in ("plus", "minus")
        if side == "minus" or pair["pair_type"] == CHANGES[0]
    ]
    _commit(root, "pairs", "pairs", {"pairs": pairs, "images": images})
    _commit_run(root, "earlier", EARLIER, STARTED - timedelta(days=1), len(pairs))
    _commit_run(root, "r", EPSILON, STARTED, len(pairs))
    for model in MODELS:
        _commit_scores(root, model, pairs)
    return root


def _commit_run(root, run_id, epsilon, started, pair_count):
    run = {"run_id": run_id, "started_at": started, "epsilon": epsilon, "pairs_digest": "pairs"}
    counts = dict.fromkeys(PATHS, pair_count)
    units = [unit for model in MODELS for unit in block_units(model, model, epsilon, counts)]
    run |= {"unit_count": len(units), "score": "{}", "config": "{}", "software": "{}"}
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
    tables = {"runs": [run], "models": models, "paths": paths} | manifest(run_id, units)
    _commit(root, "runs", run_id, tables)
    outcome = {"run_id": run_id, "finished_at": started, "forward_rows": 9}
    _commit(root, "outcomes", run_id, {"run_outcomes": [outcome | {"quarantined_count": 0}]})


def _commit_scores(root, model, pairs):
    rng = np.random.default_rng(MODELS.index(model))
    keys = [
        {"unit_key": f"{model}-{path}", "pair_id": pair["pair_id"], "path": path, "repetition": 0}
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
        {"unit_key": f"{model}-clean", "image_id": image, "class_scores": [0.75, 0.25]}
        | {"predicted_class": 0}
        for image in images
    ]
    cost = cost_row(f"{model}-scores", len(pairs), 90, 128)
    tables = {"trajectories": trajectories, "predictions": predictions, "costs": [cost]}
    units = (f"{model}-clean", *(f"{model}-{path}" for path in PATHS))
    _commit(root, "units", f"{model}-scores", tables, model, units)
    for epsilon in (EARLIER, EPSILON):
        columns = profile(q[0] - q[1], GRID, epsilon).columns()
        columns["sign_flip_frac"] = pa.array(columns["sign_flip_frac"], from_pandas=True)
        columns |= {name: [key[name] for key in keys] for name in keys[0]}
        columns["unit_key"] = [f"{key['unit_key']}-at-{epsilon}" for key in keys]
        columns["epsilon"] = [epsilon] * len(keys)
        tables = {"profiles": pa.table(columns)}
        units = tuple(f"{model}-{path}-at-{epsilon}" for path in PATHS)
        commit(root, "units", STUDY, f"{model}-at-{epsilon}", tables, model_id=model, units=units)


def _pair(scene, change):
    pair = {"pairs_digest": "pairs", "pair_id": f"{scene}__{change}", "source_id": scene}
    pair |= {"pair_type": change, "class_id": 0, "split": "all"}
    pair |= {"plus_image": f"{scene}/factual", "minus_image": f"{scene}/{change}"}
    return pair | {"plus_variant": "factual", "minus_variant": f"{change}_changed"}


def _commit(root, kind, key, tables, model=None, units=()):
    tables = {
        name: pa.Table.from_pylist(rows, TABLES[name].schema) for name, rows in tables.items()
    }
    commit(root, kind, STUDY, key, tables, model_id=model, units=units)
