"""A study of two models committed through the writer, complete enough to pass every check."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from planned_units import block_units, cost_row, manifest

from decaf.routing.profiles import profile
from warehouse.commits.writer import commit, open_root
from warehouse.tables.declarations import TABLES

GRID = [0.0, 0.25, 1.0]
MODELS = ("m", "007")
PAIRS = ("p0", "p1", "p2")


def small_warehouse(root, study="s", run_id="r", epsilon=0.02, day=1):
    """Commit the pairs, a run at ``epsilon``, its units and its outcome; return the root."""
    root = open_root(root)
    commit_pairs(root, study)
    commit_run(root, study, run_id, MODELS, epsilon, day)
    for number, model in enumerate(MODELS):
        commit_block(root, study, model, epsilon, seed=number)
    commit_outcome(root, study, run_id, day)
    return root


def commit_run(root, study, run_id, model_ids, epsilon, day, pairs_digest="pairs", more=()):
    """Commit the manifest of a run of one block for each model, and of ``more`` units."""
    started = datetime(2026, 3, day, tzinfo=UTC)
    run = {"run_id": run_id, "started_at": started, "epsilon": epsilon}
    units = [
        unit
        for model in model_ids
        for unit in block_units(model, model, epsilon, {"blend": 3}, digest=pairs_digest)
    ]
    units += more
    run |= {"pairs_digest": pairs_digest, "unit_count": len(units)}
    run |= {"score": "{}", "config": "{}", "software": "{}"}
    models = [
        {"run_id": run_id, "model_id": model, "position": position, "family": "net"}
        | {"architecture": "net", "weights_sha256": "0", "card": "{}", "training": None}
        for position, model in enumerate(model_ids)
    ]
    path = {"run_id": run_id, "path": "blend", "position": 0, "kind": "blend", "identity": "{}"}
    path |= {"t": GRID, "repetition_count": 1, "has_common_start": True}
    tables = {"runs": [run], "models": models, "paths": [path]} | manifest(run_id, units)
    tables = {name: _rows(name, rows) for name, rows in tables.items()}
    commit(root, "runs", study, run_id, tables)


def commit_outcome(root, study, run_id, day):
    """Commit that a run is finished."""
    outcome = {"run_id": run_id, "finished_at": datetime(2026, 3, day, tzinfo=UTC)}
    outcome |= {"forward_rows": 30, "quarantined_count": 0}
    commit(root, "outcomes", study, run_id, {"run_outcomes": _rows("run_outcomes", [outcome])})


def commit_block(root, study, model, epsilon, seed=0):
    """Commit the scores and profiles of the one block of a model."""
    commit_scores(root, study, model, seed)
    commit_profiles(root, study, model, epsilon, seed)


def commit_scores(root, study, model, seed=0):
    """Commit the scores of the one block of a model: the units ``-clean`` and ``-blend``."""
    keys, q = _scored(model, seed)
    trajectories = [
        key | {"t": GRID, "q_plus": list(plus), "q_minus": list(minus)}
        for key, plus, minus in zip(keys, *q, strict=True)
    ]
    predictions = [
        {"unit_key": f"{model}-clean", "image_id": f"{pair}/{side}", "predicted_class": 0}
        | {"class_scores": [0.75, 0.25]}
        for pair in PAIRS
        for side in ("same", "rand")
    ]
    cost = cost_row(f"{model}-scores", 3, 15, 18)
    tables = {"trajectories": trajectories, "predictions": predictions, "costs": [cost]}
    tables = {name: _rows(name, rows) for name, rows in tables.items()}
    units = (f"{model}-clean", f"{model}-blend")
    commit(root, "units", study, f"{model}-scores", tables, model_id=model, units=units)


def commit_profiles(root, study, model, epsilon, seed=0):
    """Commit the profiles of the one block of a model, from the same scores."""
    keys, q = _scored(model, seed)
    columns = profile(q[0] - q[1], GRID, epsilon).columns()
    columns["sign_flip_frac"] = pa.array(columns["sign_flip_frac"], from_pandas=True)
    unit = f"{model}-blend-at-{epsilon}"
    routed = {"unit_key": [unit] * len(PAIRS), "epsilon": [epsilon] * len(PAIRS)}
    tables = {
        "profiles": pa.table(
            {name: [key[name] for key in keys] for name in keys[0]} | routed | columns
        )
    }
    commit(root, "units", study, f"{model}-at-{epsilon}", tables, model_id=model, units=(unit,))


def _scored(model, seed):
    """Keys of the trajectories of a model, and the scores of both branches."""
    q = np.random.default_rng(seed).random((2, len(PAIRS), len(GRID)))
    q[1, :, 0] = q[0, :, 0]
    keys = [
        {"unit_key": f"{model}-blend", "pair_id": pair, "path": "blend", "repetition": 0}
        for pair in PAIRS
    ]
    return keys, q


def commit_pairs(root, study, digest="pairs"):
    """Commit the set of pairs and its inputs."""
    rows = [_pair(pair) | {"pairs_digest": digest} for pair in PAIRS]
    images = [
        {"pairs_digest": digest, "image_id": f"{pair}/{variant}", "variant": variant}
        | {"digest": f"digest of {pair}/{variant}"}
        for pair in PAIRS
        for variant in ("same", "rand")
    ]
    tables = {"pairs": _rows("pairs", rows), "images": _rows("images", images)}
    commit(root, "pairs", study, digest, tables)


def _pair(pair):
    return {
        "pair_id": pair,
        "source_id": f"source of {pair}",
        "pair_type": "rand",
        "class_id": 0,
        "split": "test",
        "plus_image": f"{pair}/same",
        "minus_image": f"{pair}/rand",
        "plus_variant": "same",
        "minus_variant": "rand",
    }


def _rows(table, rows):
    return pa.Table.from_pylist(rows, TABLES[table].schema)
