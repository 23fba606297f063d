"""A study named as the demo, with its models, changes and paths, and four made-up scenes.

An earlier run of it had a higher epsilon.
"""

import json
from datetime import timedelta

import numpy as np
from planned_units import (
    STARTED,
    block_units,
    commit_outcome,
    commit_pairs,
    commit_profiles,
    commit_run,
    commit_scores,
    cost_row,
    pair_row,
)

from warehouse.commits.writer import open_root

STUDY, EPSILON = "demo", 0.02
EARLIER = 0.3
"""Epsilon of the earlier run, which turns some pairs null."""
GRID = [0.0, 0.25, 0.5, 1.0]
MODELS = ("small_cnn.wall50", "small_cnn.wall99")
SCENES = tuple(f"scene-{number}" for number in range(4))
CHANGES = ("wall_hue", "shape")
PATHS = ("blend", "patch")


def scenes_warehouse(root, scenes=SCENES):
    """Commit its runs; some responses oppose their endpoint, one ends at the gate."""
    store = open_root(root)
    pairs = [_pair(scene, change) for scene in scenes for change in CHANGES]
    commit_pairs(store, STUDY, pairs)
    _commit_run(store, "earlier", EARLIER, STARTED - timedelta(days=1), len(pairs))
    _commit_run(store, "r", EPSILON, STARTED, len(pairs))
    for model in MODELS:
        _commit_scores(store, model, pairs)
    return store


def _commit_run(store, run_id, epsilon, started, pair_count):
    counts = dict.fromkeys(PATHS, pair_count)
    units = [unit for model in MODELS for unit in block_units(model, model, epsilon, counts)]
    config = {"models": [], "score": {}, "paths": {}, "stages": 9, "epsilon": epsilon}
    run = {"run_id": run_id, "epsilon": epsilon, "started_at": started}
    run["config"] = json.dumps(config)
    models = [{"model_id": model, "family": "small_cnn"} for model in MODELS]
    commit_run(store, STUDY, run, units, models, [{"path": path, "t": GRID} for path in PATHS])
    commit_outcome(store, STUDY, run_id, started)


def _commit_scores(store, model, pairs):
    rng = np.random.default_rng(MODELS.index(model))
    keys = [
        {"unit_key": f"{model}-{path}", "pair_id": pair["pair_id"], "path": path, "repetition": 0}
        for pair in pairs
        for path in PATHS
    ]
    q = rng.random((2, len(keys), len(GRID)))
    q[1, :, 0] = q[0, :, 0]
    q[1, 0] = q[0, 0] - [0, -0.5, -0.5, 0.0205]  # against its end all the way, and at the gate
    images = sorted({pair[side] for pair in pairs for side in ("plus_image", "minus_image")})
    predictions = [
        {"unit_key": f"{model}-clean", "image_id": image, "class_scores": [0.75, 0.25]}
        | {"predicted_class": 0}
        for image in images
    ]
    key = f"{model}-scores"
    more = {"predictions": predictions, "costs": [cost_row(key, len(pairs), 90, 128)]}
    commit_scores(store, STUDY, key, model, keys, GRID, q, more, [f"{model}-clean"])
    for epsilon in (EARLIER, EPSILON):
        commit_profiles(store, STUDY, f"{model}-at-{epsilon}", model, keys, GRID, q, epsilon)


def _pair(scene, change):
    factual, changed = (f"{scene}/factual", "factual"), (f"{scene}/{change}", f"{change}_changed")
    return pair_row(f"{scene}__{change}", scene, change, factual, changed)
