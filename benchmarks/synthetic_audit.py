"""Write a made-up audit through the real writer, as large as that of the paper and larger.

Every foreground of ImageNet-9 in two pair types under three paths at nine stages.
"""

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from decaf.foundation.digests import json_sha256, short
from decaf.plan.units import Unit
from tasks.units.rows import profile_rows
from warehouse.commits.writer import commit, open_root
from warehouse.storage import Storage
from warehouse.tables.columns import STAGES
from warehouse.tables.declarations import TABLES

EPSILON = 0.02
STUDY, MODELS, FOREGROUNDS = "imagenet9", 72, 1644
TYPES = ("same_rand", "same_next")
VARIANTS = ("mixed_same", "mixed_rand", "mixed_next")
GRID = np.linspace(0, 1, 9)
SOURCES_PER_BLOCK = 256  # x 2 types x 3 paths = 1,536 trajectories
CLASSES = 9
RUN = "run"
FAMILIES = 6
PATHS = {
    "blend": ("blend", "{}"),
    "patch_a": ("patches", '{"ranking": "energy", "order": "A"}'),
    "patch_b": ("patches", '{"ranking": "energy", "order": "B"}'),
}
"""Kind and identity of every path."""


def write(root: Path, scale: int) -> list[float]:
    """Commit a whole run; returns the seconds that each full block took to commit."""
    store = open_root(root)
    sources = [f"source-{number:06}" for number in range(FOREGROUNDS * scale)]
    blocks = [
        sources[first : first + SOURCES_PER_BLOCK]
        for first in range(0, len(sources), SOURCES_PER_BLOCK)
    ]
    pairs = pa.Table.from_pylist([_pair(source, kind) for source in sources for kind in TYPES])
    images = [
        {"pairs_digest": "pairs", "image_id": f"{source}/{variant}", "variant": variant}
        | {"digest": "0" * 64}
        for source in sources
        for variant in VARIANTS
    ]
    commit(store, "pairs", STUDY, "pairs", {"pairs": pairs, "images": _table("images", images)})
    models = [f"net_{number:02}" for number in range(MODELS)]
    scans = [_scan(*place) for place in itertools.product(models, enumerate(blocks))]
    commit(store, "runs", STUDY, RUN, _manifest(scans))
    rng = np.random.default_rng(0)
    return [
        seconds
        for scan in scans
        for seconds in [_commit_block(store, rng, scan, blocks[scan[0].block])]
        if len(blocks[scan[0].block]) == SOURCES_PER_BLOCK
    ]


def _scan(model: str, block: tuple[int, list[str]]) -> list[Unit]:
    """Units of one block: predictions, then trajectories and profiles of each path."""
    number, sources = block
    shared = {"model": model, "weights": "0" * 64, "preprocessing": "0" * 64, "score": "0" * 64}
    shared |= {"pairs": short(json_sha256([STUDY, number])), "code": "1"}
    units = [Unit("predict", "", model, number, shared)]
    for path in PATHS:
        parts = shared | {"path": path, "reveal": "0" * 64, "stages": "0" * 64}
        row_count = len(sources) * len(TYPES)
        scored = Unit("score", path, model, number, parts, row_count=row_count)
        routed = {"epsilon": repr(EPSILON), "code": "1"}
        units += [scored, Unit("route", path, model, number, routed, (scored,))]
    return units


def _manifest(scans: list[list[Unit]]) -> dict[str, pa.Table]:
    units = [unit for scan in scans for unit in scan]
    config = {"data": {"adapter": "imagenet9", "split": "score"}}
    run = {"run_id": RUN, "started_at": datetime.now(UTC), "epsilon": EPSILON}
    run |= {"pairs_digest": "pairs", "unit_count": len(units), "config": json.dumps(config)}
    run |= dict.fromkeys(("score", "software"), "{}")
    cards = [
        {"run_id": RUN, "model_id": model, "position": number}
        | {"family": f"family_{number % FAMILIES}", "architecture": "net", "weights_sha256": "0"}
        | {"card": "{}", "training": None}
        for number, model in enumerate(dict.fromkeys(scan[0].model_id for scan in scans))
    ]
    paths = [
        {"run_id": RUN, "path": path, "position": position, "t": GRID.tolist()}
        | {"kind": PATHS[path][0], "identity": PATHS[path][1]}
        | {"repetition_count": 1, "has_common_start": True}
        for position, path in enumerate(PATHS)
    ]
    planned = [
        {"run_id": RUN, "unit_key": unit.key, "kind": unit.kind, "name": unit.name}
        | {"model_id": unit.model_id, "block": unit.block, "row_count": unit.row_count}
        for unit in units
    ]
    parts = [
        {"run_id": RUN, "unit_key": unit.key, "part": part, "value": value}
        for unit in units
        for part, value in unit.parts.items()
    ]
    rows = {"runs": [run], "run_units": planned, "unit_parts": parts}
    rows |= {"models": cards, "paths": paths}
    return {name: _table(name, table) for name, table in rows.items()}


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, TABLES[name].schema)


def _pair(source: str, kind: str) -> dict[str, Any]:
    minus = VARIANTS[1 + TYPES.index(kind)]
    return {
        "pairs_digest": "pairs",
        "pair_id": f"{source}/{kind}",
        "source_id": source,
        "pair_type": kind,
        "class_id": int(source[-6:]) % CLASSES,
        "split": "score",
        "weight": 1.0,
        "plus_image": f"{source}/{VARIANTS[0]}",
        "minus_image": f"{source}/{minus}",
        "plus_variant": VARIANTS[0],
        "minus_variant": minus,
    }


def _commit_block(
    store: Storage, rng: np.random.Generator, scan: list[Unit], sources: list[str]
) -> float:
    predicted, scored, routed = scan[0], scan[1::2], scan[2::2]
    pair_count = len(sources) * len(TYPES)
    trajectories = _trajectories(rng, [(unit.key, unit.name) for unit in scored], sources)
    profiles = [
        profile_rows(unit.key, trajectories.slice(place * pair_count, pair_count), EPSILON)
        for place, unit in enumerate(routed)
    ]
    images = [f"{source}/{variant}" for source in sources for variant in VARIANTS]
    classes = rng.dirichlet(np.ones(CLASSES), len(images))
    predictions = pa.table(
        {
            "unit_key": pa.repeat(predicted.key, len(images)),
            "image_id": images,
            "class_scores": _lists(classes),
            "predicted_class": classes.argmax(axis=1),
        }
    )
    key = short(json_sha256([unit.key for unit in scan]))
    counted = {"item_count": pair_count, "forward_rows": 61 * len(sources), "backward_rows": 0}
    tables = {
        "trajectories": trajectories,
        "profiles": pa.concat_tables(profiles),
        "predictions": predictions,
        "quarantine": TABLES["quarantine"].schema.empty_table(),
        "costs": _cost(key, predicted, counted | {"naive_rows": 108 * len(sources)}),
    }
    units = tuple(unit.key for unit in scan)
    started = perf_counter()
    commit(store, "units", STUDY, key, tables, model_id=predicted.model_id, units=units)
    return perf_counter() - started


def _cost(key: str, first: Unit, counted: dict[str, int]) -> pa.Table:
    """Costs of a commit, under its first unit."""
    cost = counted | {"commit_key": key, "kind": first.kind, "name": first.name}
    cost |= {"block": first.block, "batch_size": 64, "requested_batch_size": 64}
    cost |= {f"{step}_seconds": 1.0 for step in ("load", "prepare", "forward", "wall", "cpu")}
    cost |= {"peak_memory_bytes": 10**9, "device": "cpu", "worker": "w"}
    return _table("costs", [cost | {"started_at": datetime.now(UTC)}])


def _trajectories(
    rng: np.random.Generator, units: list[tuple[str, str]], sources: list[str]
) -> pa.Table:
    """Trajectories of units, each given by its key and its path, one after the other."""
    pairs = [f"{source}/{kind}" for source in sources for kind in TYPES]
    keys, paths = zip(*units, strict=True)
    rows = len(pairs) * len(units)
    # float32, as networks give them.
    q = rng.random((2, rows, GRID.size), np.float32).astype(np.float64)
    q[1, :, 0] = q[0, :, 0]
    q[1, ::12, -1] = q[0, ::12, -1]  # one pair in twelve is endpoint-null
    columns = {
        "unit_key": np.repeat(keys, len(pairs)),
        "pair_id": pairs * len(units),
        "path": np.repeat(paths, len(pairs)),
        "repetition": np.zeros(rows, np.int64),
        "t": _lists(np.broadcast_to(GRID, (rows, GRID.size))),
        "q_plus": _lists(q[0]),
        "q_minus": _lists(q[1]),
    }
    return pa.table(columns, schema=TABLES["trajectories"].schema)


def _lists(values: np.ndarray[Any, Any]) -> pa.ListArray:
    offsets = pa.array(np.arange(len(values) + 1, dtype=np.int32) * values.shape[1])
    return pa.ListArray.from_arrays(offsets, pa.array(values.ravel()), type=STAGES)
