"""Write made-up audits through the real writer, as large as those of the paper and larger.

The scan: every foreground in two pair types under three paths at nine stages. The deep audit: the
blend alone, with behaviours, six attributions, matched units and probes. The registry: the blend
and one patch order of models that were audited twice, a few of them in another version.
"""

import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from decaf.foundation.digests import json_sha256, short
from decaf.studies.imagenet9.corruptions import CORRUPTIONS
from tasks.rows import attribution_rows, corruption_rows, profile_rows
from warehouse.commits.writer import commit, open_root
from warehouse.tables.declarations import STAGES, TABLES

EPSILON = 0.02
TYPES = ("same_rand", "same_next")
VARIANTS = ("mixed_same", "mixed_rand", "mixed_next")
GRID = np.linspace(0, 1, 9)
SOURCES_PER_SHARD = 256  # of the scan: x 2 types x 3 paths = 1,536 trajectories
CLASSES = 9
RUN, RUN_BEFORE = "run", "run-before"
FAMILIES = 6
MATCHED_PAIRS = 8289  # at 1x, as many as in the paper


class Audit(NamedTuple):
    """One made-up study of ImageNet-9."""

    study: str
    split: str
    models: int
    foregrounds: int
    paths: tuple[str, ...]
    methods: tuple[str, ...] = ()
    """Attributions; none means no behaviours either."""
    changed: int = 0
    """Models that were another version in the run before, if there was one."""


SCAN = Audit("imagenet9", "score", 72, 1644, ("blend", "patch_a", "patch_b"))
SPATIAL = (
    "input_x_gradient",
    "integrated_gradients",
    "smooth_grad",
    "blur_integrated_gradients",
    "occlusion",
    "rise",
)
DEEP = Audit("imagenet9_deep", "deep", 32, 768, ("blend",), SPATIAL)
REGISTRY = Audit("imagenet9_registry", "score", 72, 1644, ("blend", "patch_a"), changed=6)
PATHS = {
    "blend": ("blend", "{}"),
    "patch_a": ("patches", '{"ranking": "energy", "order": "A"}'),
    "patch_b": ("patches", '{"ranking": "energy", "order": "B"}'),
}
"""Kind and identity of every path."""
ANALYSES = ("matched_pairs", "probe_scores")
REGISTERED = "registry_entries"


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
    now = datetime.now(UTC)
    models = _models(audit)
    shards = [_shard(audit, *place) for place in itertools.product(models, enumerate(blocks))]
    commit(root, "runs", audit.study, RUN, _manifest(audit, RUN, now, shards))
    rng = np.random.default_rng(0)
    if audit.changed:
        before = [version_before(name) for name in models[: audit.changed]]
        earlier = [_shard(audit, *place) for place in itertools.product(before, enumerate(blocks))]
        shared = [shard for shard in shards if shard["model_id"] in models[audit.changed :]]
        manifest = _manifest(audit, RUN_BEFORE, now - timedelta(days=1), earlier + shared)
        commit(root, "runs", audit.study, RUN_BEFORE, manifest)
        for shard in earlier:
            _commit_shard(root, audit, rng, shard, blocks[shard["block"]])
        _commit_reaudits(root, audit, now)
    seconds = [
        seconds
        for shard in shards
        for seconds in [_commit_shard(root, audit, rng, shard, blocks[shard["block"]])]
        if len(blocks[shard["block"]]) == SOURCES_PER_SHARD
    ]
    if audit.methods:
        _commit_analyses(root, audit, sources, MATCHED_PAIRS * scale)
    return seconds


def version_before(model: str) -> str:
    """Name of a changed model in the run before."""
    return f"{model}-before"


def _models(audit: Audit) -> list[str]:
    return [f"net_{number:02}" for number in range(audit.models)]


def _shard(audit: Audit, model: str, block: tuple[int, list[str]]) -> dict[str, Any]:
    number, sources = block
    key = short(json_sha256([audit.study, model, number]))
    pair_count = len(sources) * len(TYPES)
    return {
        "shard_key": key,
        "profile_key": short(json_sha256([key, EPSILON])),
        "model_id": model,
        "block": number,
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


def _manifest(
    audit: Audit, run_id: str, started_at: datetime, shards: list[dict[str, Any]]
) -> dict[str, pa.Table]:
    config = {"data": {"adapter": "imagenet9", "split": audit.split}}
    run = {"run_id": run_id, "started_at": started_at, "epsilon": EPSILON}
    run |= {"pairs_digest": "pairs", "shard_count": len(shards), "config": json.dumps(config)}
    run |= dict.fromkeys(("score", "software"), "{}")
    cards = [
        {"run_id": run_id, "model_id": model, "position": number}
        | {"family": _family(number), "architecture": "net", "weights_sha256": "0"}
        | {"card": "{}", "training": None}
        for number, model in enumerate(dict.fromkeys(shard["model_id"] for shard in shards))
    ]
    paths = [
        {"run_id": run_id, "path": path, "position": position, "t": GRID.tolist()}
        | {"kind": PATHS[path][0], "identity": PATHS[path][1]}
        | {"repetition_count": 1, "has_common_start": True}
        for position, path in enumerate(audit.paths)
    ]
    planned = [{"run_id": run_id} | shard for shard in shards]
    rows = {"runs": [run], "run_shards": planned, "models": cards, "paths": paths}
    if audit.methods:
        rows["run_measurements"] = [one for shard in shards for one in _measurements(audit, shard)]
        rows["run_analyses"] = [
            {"run_id": run_id, "analysis_key": kind, "kind": kind, "definition": "{}"}
            for kind in ANALYSES
        ]
    return {name: _table(name, table) for name, table in rows.items()}


def _family(number: int) -> str:
    return f"family_{number % FAMILIES}"


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, TABLES[name].schema)


def _commit_reaudits(root: Path, audit: Audit, now: datetime) -> None:
    """Two re-audits of a registry, a day apart."""
    for day, run_id in enumerate((RUN_BEFORE, RUN)):
        key = f"day-{day}"
        entry = {"reaudit_id": key, "run_id": run_id, "state": "audited", "alias": ""}
        entry |= {"resolved_at": now + timedelta(days=day - 1), "digest": "0"}
        entry |= dict.fromkeys(("weights_sha256", "feeding_sha256", "problem"))
        entry |= {"previous_reaudit_id": f"day-{day - 1}" if day else None}
        rows = []
        for number, model in enumerate(_models(audit)):
            is_other = number < audit.changed
            change = "new" if day == 0 else "weights" if is_other else "none"
            model_id = version_before(model) if is_other and day == 0 else model
            named = {"entry": model, "name": model, "version": str(1 + day * is_other)}
            rows.append(entry | named | {"change": change, "model_id": model_id})
        commit(root, "reaudits", audit.study, key, {REGISTERED: _table(REGISTERED, rows)})


def _commit_analyses(root: Path, audit: Audit, sources: list[str], pair_count: int) -> None:
    """Units that are matched at random, and scores of probes."""
    rng = np.random.default_rng(1)
    units = rng.choice(audit.models * len(sources), (2, pair_count), replace=False)
    models = _models(audit)
    matched = {"position": np.arange(pair_count)}
    for side, of_side in zip(("left", "right"), units, strict=True):
        matched[f"{side}_model_id"] = [models[unit // len(sources)] for unit in of_side]
        matched[f"{side}_source_id"] = [sources[unit % len(sources)] for unit in of_side]
        matched[f"{side}_abs_response"] = np.zeros(pair_count)
    scores = [
        {"representation": representation, "probe": "logistic_regression", "label": label}
        | {"family": _family(family), "auroc": rng.random(), "reason": None}
        | dict.fromkeys(("train_count", "train_positives", "test_count", "test_positives"), 1)
        for representation in ("decaf", "response", "spatial", "decaf_spatial", "full")
        for label in ("evidence", "contradiction", "fragility")
        for family in range(FAMILIES)
    ]
    for kind, rows in zip(ANALYSES, (pa.table(matched), pa.Table.from_pylist(scores)), strict=True):
        for name, value in (("run_id", RUN), ("analysis_key", kind)):
            rows = rows.append_column(name, pa.repeat(value, len(rows)))
        commit(root, "analyses", audit.study, kind, {kind: rows})


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
        ("preprocessing", "grid", "model_id", "numerics", "pairs", "paths", "score", "weights"),
        "0" * 64,
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
