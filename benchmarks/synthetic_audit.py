"""Write made-up audits through the real writer, as large as those of the paper and larger.

The scan: every foreground in two pair types under three paths at nine stages. The deep audit: the
blend alone, with behaviours and six attributions for a table of units.
"""

from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from decaf.corruptions import CORRUPTIONS
from decaf.digests import json_sha256, short
from tasks.rows import attribution_rows, corruption_rows, profile_rows
from warehouse.schemas import STAGES, TABLES
from warehouse.writer import commit, open_root

EPSILON = 0.02
TYPES = ("same_rand", "same_next")
VARIANTS = ("mixed_same", "mixed_rand", "mixed_next")
GRID = np.linspace(0, 1, 9)
SOURCES_PER_SHARD = 256  # of the scan: x 2 types x 3 paths = 1,536 trajectories
CLASSES = 9
RUN = "run"


class Audit(NamedTuple):
    """One made-up study; ``methods`` are attributions, and none means no behaviours either."""

    study: str
    models: int
    foregrounds: int
    paths: tuple[str, ...]
    methods: tuple[str, ...] = ()


SCAN = Audit("imagenet9", 72, 1644, ("blend", "patch_a", "patch_b"))
SPATIAL = (
    "input_x_gradient",
    "integrated_gradients",
    "smooth_grad",
    "blur_integrated_gradients",
    "occlusion",
    "rise",
)
DEEP = Audit("imagenet9_deep", 32, 768, ("blend",), SPATIAL)
PATHS = {
    "blend": ("blend", "{}"),
    "patch_a": ("patches", '{"ranking": "energy", "order": "A"}'),
    "patch_b": ("patches", '{"ranking": "energy", "order": "B"}'),
}
"""Kind and identity of every path."""


def write(root: Path, audit: Audit, scale: int) -> list[float]:
    """Commit a whole run; returns the seconds that each full shard's scores took to commit."""
    open_root(root)
    sources = [f"source-{number:06}" for number in range(audit.foregrounds * scale)]
    blocks = [
        sources[first : first + SOURCES_PER_SHARD]
        for first in range(0, len(sources), SOURCES_PER_SHARD)
    ]
    pairs = pa.Table.from_pylist([_pair(source, kind) for source in sources for kind in TYPES])
    commit(root, "pairs", audit.study, "pairs", {"pairs": pairs})
    shards = [
        _shard(audit, f"net_{model:02}", number, block)
        for model in range(audit.models)
        for number, block in enumerate(blocks)
    ]
    commit(root, "runs", audit.study, RUN, _manifest(audit, shards))
    rng = np.random.default_rng(0)
    return [
        seconds
        for shard in shards
        for seconds in [_commit_shard(root, audit, rng, shard, blocks[shard["block"]])]
        if len(blocks[shard["block"]]) == SOURCES_PER_SHARD
    ]


def _shard(audit: Audit, model: str, block: int, sources: list[str]) -> dict[str, Any]:
    key = short(json_sha256([audit.study, model, block]))
    pair_count = len(sources) * len(TYPES)
    return {
        "run_id": RUN,
        "shard_key": key,
        "profile_key": short(json_sha256([key, EPSILON])),
        "model_id": model,
        "block": block,
        "pair_count": pair_count,
        "trajectory_count": pair_count * len(audit.paths),
    }


def _measurements(audit: Audit, shard: dict[str, Any]) -> list[dict[str, Any]]:
    """What is measured beside a shard."""
    if not audit.methods:
        return []
    named = [("corruptions", ""), *(("attributions", method) for method in audit.methods)]
    return [
        {
            "run_id": RUN,
            "measurement_key": short(json_sha256([shard["shard_key"], kind, name])),
            "kind": kind,
            "name": name,
            "model_id": shard["model_id"],
            "block": shard["block"],
        }
        for kind, name in named
    ]


def _manifest(audit: Audit, shards: list[dict[str, Any]]) -> dict[str, pa.Table]:
    run = {"run_id": RUN, "started_at": datetime.now(UTC), "epsilon": EPSILON}
    run |= {"pairs_digest": "pairs", "shard_count": len(shards)}
    run |= dict.fromkeys(("score", "config", "software"), "{}")
    cards = [
        {"run_id": RUN, "model_id": f"net_{number:02}", "position": number}
        | {"family": f"family_{number % 6}", "architecture": "net", "weights_sha256": "0"}
        | {"card": "{}", "training": None}
        for number in range(audit.models)
    ]
    paths = [
        {"run_id": RUN, "path": path, "position": position, "t": GRID.tolist()}
        | {"kind": PATHS[path][0], "identity": PATHS[path][1]}
        | {"repetition_count": 1, "has_common_start": True}
        for position, path in enumerate(audit.paths)
    ]
    rows = {"runs": [run], "run_shards": shards, "models": cards, "paths": paths}
    if audit.methods:
        rows["run_measurements"] = [one for shard in shards for one in _measurements(audit, shard)]
    return {name: pa.Table.from_pylist(table, TABLES[name].schema) for name, table in rows.items()}


def _pair(source: str, kind: str) -> dict[str, Any]:
    minus = VARIANTS[1 + TYPES.index(kind)]
    return {
        "pairs_digest": "pairs",
        "pair_id": f"{source}/{kind}",
        "source_id": source,
        "pair_type": kind,
        "class_id": class_of(source),
        "split": "score",
        "plus_image": f"{source}/{VARIANTS[0]}",
        "minus_image": f"{source}/{minus}",
        "plus_variant": VARIANTS[0],
        "minus_variant": minus,
    }


def class_of(source: str) -> int:
    """Class of a foreground, from 0."""
    return int(source[-6:]) % CLASSES


def _commit_shard(
    root: Path, audit: Audit, rng: np.random.Generator, shard: dict[str, Any], sources: list[str]
) -> float:
    trajectories = _trajectories(rng, audit, shard["shard_key"], sources)
    images = [f"{source}/{variant}" for source in sources for variant in VARIANTS]
    classes = rng.dirichlet(np.ones(CLASSES), len(images))
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
    named = {"model_id": shard["model_id"], "inputs": inputs}
    started = perf_counter()
    commit(root, "shards", audit.study, shard["shard_key"], tables, **named)
    seconds = perf_counter() - started
    profiles = {"profiles": profile_rows(shard["profile_key"], trajectories, EPSILON)}
    commit(root, "profiles", audit.study, shard["profile_key"], profiles, **named)
    for measurement in _measurements(audit, shard):
        made = _measured(rng, measurement, sources, classes)
        commit(root, "measurements", audit.study, measurement["measurement_key"], made, **named)
    return seconds


def _measured(
    rng: np.random.Generator,
    measurement: dict[str, Any],
    sources: list[str],
    classes: np.ndarray[Any, Any],
) -> dict[str, pa.Table]:
    """Rows of one measurement, and what it cost."""
    key, count = measurement["measurement_key"], len(sources)
    if measurement["kind"] == "corruptions":
        true = [class_of(source) for source in sources]
        same, rand = (classes[variant :: len(VARIANTS)][range(count), true] for variant in (0, 1))
        null = np.flatnonzero(np.abs(same - rand) < EPSILON)
        images = np.array([f"{sources[row]}/{VARIANTS[0]}" for row in null])
        names = [one.name for one in CORRUPTIONS]
        scored = rng.dirichlet(np.ones(CLASSES), (len(null), len(names)))
        rows = corruption_rows(key, images, names, scored)
    else:
        pairs = [f"{source}/{kind}" for source in sources for kind in TYPES]
        pixels = np.full(len(pairs), 1000)
        rows = attribution_rows(key, pairs, measurement["name"], rng.random(len(pairs)), pixels)
    cost = dict.fromkeys(("image_count", "forward_rows", "backward_rows", "batch_size"), count)
    cost |= {"measurement_key": key, "load_seconds": 0.0, "wall_seconds": 1.0}
    cost |= {"peak_memory_bytes": 10**9, "device": "cpu", "worker": "w"}
    cost |= {"started_at": datetime.now(UTC)}
    costs = pa.Table.from_pylist([cost], TABLES["measurement_costs"].schema)
    return {measurement["kind"]: rows, "measurement_costs": costs}


def _trajectories(rng: np.random.Generator, audit: Audit, key: str, sources: list[str]) -> pa.Table:
    pairs = [f"{source}/{kind}" for source in sources for kind in TYPES]
    rows = len(pairs) * len(audit.paths)
    # float32, as networks give them.
    q = rng.random((2, rows, GRID.size), np.float32).astype(np.float64)
    q[1, :, 0] = q[0, :, 0]
    q[1, ::12, -1] = q[0, ::12, -1]  # one pair in twelve is endpoint-null
    columns = {
        "shard_key": pa.repeat(key, rows),
        "pair_id": pairs * len(audit.paths),
        "path": np.repeat(audit.paths, len(pairs)),
        "repetition": np.zeros(rows, np.int64),
        "t": _lists(np.broadcast_to(GRID, (rows, GRID.size))),
        "q_plus": _lists(q[0]),
        "q_minus": _lists(q[1]),
    }
    return pa.table(columns, schema=TABLES["trajectories"].schema)


def _lists(values: np.ndarray[Any, Any]) -> pa.ListArray:
    offsets = pa.array(np.arange(len(values) + 1, dtype=np.int32) * values.shape[1])
    return pa.ListArray.from_arrays(offsets, pa.array(values.ravel()), type=STAGES)
