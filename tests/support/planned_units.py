"""Warehouses written by hand, through the real writer: manifests, scores and profiles of units."""

from datetime import UTC, datetime
from typing import NamedTuple

import pyarrow as pa

from decaf.routing.profiles import profile
from warehouse.commits.writer import commit
from warehouse.tables.declarations import TABLES

BRANCHES = ("plus", "minus")
STARTED = datetime(2026, 3, 1, tzinfo=UTC)


class Planned(NamedTuple):
    """A unit of work as a run plans it; it is known by its parts as well as by its key."""

    unit_key: str
    kind: str
    name: str = ""
    model_id: str | None = None
    block: int | None = 0
    row_count: int | None = None
    parts: tuple[tuple[str, str], ...] = ()


def block_units(model, key, epsilon, paths, block=0, digest="pairs"):
    """Predictions, trajectories and profiles of a block; ``paths`` has its trajectories by path."""
    scored, routed = (("pairs", digest), ("weights", "0")), (("epsilon", repr(epsilon)),)
    yield Planned(f"{key}-clean", "predict", "", model, block, None, scored)
    for path, row_count in paths.items():
        yield Planned(f"{key}-{path}", "score", path, model, block, row_count, scored)
        yield Planned(f"{key}-{path}-at-{epsilon}", "route", path, model, block, None, routed)


def manifest(run_id, units):
    """Rows of the tables of a run's manifest that tell its units."""
    fields = ("unit_key", "kind", "name", "model_id", "block", "row_count")
    return {
        "run_units": [
            {"run_id": run_id} | {field: getattr(unit, field) for field in fields} for unit in units
        ],
        "unit_parts": [
            {"run_id": run_id, "unit_key": unit.unit_key, "part": part, "value": value}
            for unit in units
            for part, value in unit.parts
        ],
    }


def cost_row(commit_key, item_count, forward_rows, naive_rows, **more):
    """Row of the costs of a block's scan."""
    cost = {"commit_key": commit_key, "kind": "predict", "name": "", "block": 0}
    cost |= {"item_count": item_count, "forward_rows": forward_rows, "backward_rows": 0}
    cost |= {"naive_rows": naive_rows, "batch_size": 8, "requested_batch_size": 8}
    cost |= {f"{step}_seconds": 1.0 for step in ("load", "prepare", "forward", "wall", "cpu")}
    cost |= {"peak_memory_bytes": 1, "device": "cpu", "worker": "w"}
    return cost | {"started_at": STARTED} | more


def commit_rows(store, kind, study, key, tables, model=None, units=()):
    """Commit tables that are given as lists of rows."""
    tables = {
        name: pa.Table.from_pylist(rows, TABLES[name].schema) for name, rows in tables.items()
    }
    commit(store, kind, study, key, tables, model_id=model, units=units)


def pair_row(pair_id, source_id, pair_type, plus, minus, class_id=0):
    """A pair of two inputs, each of them a name and a variant."""
    pair = {"pair_id": pair_id, "source_id": source_id, "pair_type": pair_type}
    pair |= {"class_id": class_id, "split": "test", "weight": 1.0}
    pair |= dict(zip(("plus_image", "plus_variant"), plus, strict=True))
    return pair | dict(zip(("minus_image", "minus_variant"), minus, strict=True))


def commit_pairs(store, study, pairs, digest="pairs"):
    """Commit pairs and their inputs."""
    variants = {
        pair[f"{side}_image"]: pair[f"{side}_variant"] for pair in pairs for side in BRANCHES
    }
    images = [
        {"image_id": image, "variant": variant, "digest": f"digest of {image}"}
        for image, variant in variants.items()
    ]
    tables = {"pairs": pairs, "images": images}
    named = {
        name: [{"pairs_digest": digest} | row for row in rows] for name, rows in tables.items()
    }
    commit_rows(store, "pairs", study, digest, named)


def commit_run(store, study, run, units, models, paths):
    """Commit a run, its units, its models and its paths; missing columns get defaults."""
    run = {"started_at": STARTED, "pairs_digest": "pairs", "unit_count": len(units)} | run
    run = {"score": "{}", "config": "{}", "software": "{}"} | run
    models = [
        {"run_id": run["run_id"], "position": position, "family": "net", "architecture": "net"}
        | {"weights_sha256": "0", "card": "{}", "training": None}
        | model
        for position, model in enumerate(models)
    ]
    paths = [
        {"run_id": run["run_id"], "position": position, "kind": path["path"], "identity": "{}"}
        | {"repetition_count": 1, "has_common_start": True}
        | path
        for position, path in enumerate(paths)
    ]
    tables = {"runs": [run], "models": models, "paths": paths} | manifest(run["run_id"], units)
    commit_rows(store, "runs", study, run["run_id"], tables)


def commit_outcome(store, study, run_id, finished=STARTED, forward_rows=30):
    """Commit that a run is finished."""
    outcome = {"run_id": run_id, "finished_at": finished, "quarantined_count": 0}
    outcome |= {"forward_rows": forward_rows}
    commit_rows(store, "outcomes", study, run_id, {"run_outcomes": [outcome]})


def commit_scores(store, study, key, model, keys, grid, q, more, units=()):
    """Commit trajectories of a model, with the tables ``more`` and their ``units``.

    Parameters
    ----------
    keys
        Unit, pair, path and repetition of each trajectory.
    q
        (2, n_trajectories, n_stages) scores of both branches.
    """
    trajectories = [
        of | {"t": grid, "q_plus": list(plus), "q_minus": list(minus)}
        for of, plus, minus in zip(keys, *q, strict=True)
    ]
    units = tuple(dict.fromkeys([*units, *(of["unit_key"] for of in keys)]))
    commit_rows(store, "units", study, key, {"trajectories": trajectories} | more, model, units)


def commit_profiles(store, study, key, model, keys, grid, q, epsilon):
    """Commit the profiles of the same trajectories at ``epsilon``, as units ``…-at-<epsilon>``."""
    columns = profile(q[0] - q[1], grid, epsilon).columns()
    columns["sign_flip_frac"] = pa.array(columns["sign_flip_frac"], from_pandas=True)
    columns |= {name: [of[name] for of in keys] for name in keys[0]}
    columns["unit_key"] = [f"{of['unit_key']}-at-{epsilon}" for of in keys]
    columns["epsilon"] = [epsilon] * len(keys)
    units = tuple(dict.fromkeys(columns["unit_key"]))
    commit(store, "units", study, key, {"profiles": pa.table(columns)}, model_id=model, units=units)
