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
from decaf.plan.units import Unit
from decaf.studies.imagenet9.corruptions import CORRUPTIONS
from tasks.units.rows import attribution_rows, corruption_rows, profile_rows
from warehouse.commits.writer import commit, open_root
from warehouse.tables.columns import STAGES
from warehouse.tables.declarations import TABLES

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
    """Commit a whole run; returns the seconds that each full block took to commit."""
    open_root(root)
    sources = [f"source-{number:06}" for number in range(audit.foregrounds * scale)]
    blocks = [
        sources[first : first + SOURCES_PER_SHARD]
        for first in range(0, len(sources), SOURCES_PER_SHARD)
    ]
    pairs = pa.Table.from_pylist([_pair(source, kind) for source in sources for kind in TYPES])
    images = [
        {"pairs_digest": "pairs", "image_id": f"{source}/{variant}", "variant": variant}
        | {"digest": "0" * 64}
        for source in sources
        for variant in VARIANTS
    ]
    commit(
        root, "pairs", audit.study, "pairs", {"pairs": pairs, "images": _table("images", images)}
    )
    now = datetime.now(UTC)
    models = _models(audit)
    scans = [_scan(audit, *place) for place in itertools.product(models, enumerate(blocks))]
    commit(root, "runs", audit.study, RUN, _manifest(audit, RUN, now, scans))
    rng = np.random.default_rng(0)
    if audit.changed:
        before = [version_before(name) for name in models[: audit.changed]]
        earlier = [_scan(audit, *place) for place in itertools.product(before, enumerate(blocks))]
        shared = [scan for scan in scans if scan[0].model_id in models[audit.changed :]]
        manifest = _manifest(audit, RUN_BEFORE, now - timedelta(days=1), earlier + shared)
        commit(root, "runs", audit.study, RUN_BEFORE, manifest)
        for scan in earlier:
            _commit_block(root, audit, rng, scan, blocks[scan[0].block])
        _commit_reaudits(root, audit, now)
    seconds = [
        seconds
        for scan in scans
        for seconds in [_commit_block(root, audit, rng, scan, blocks[scan[0].block])]
        if len(blocks[scan[0].block]) == SOURCES_PER_SHARD
    ]
    if audit.methods:
        _commit_analyses(root, audit, sources, MATCHED_PAIRS * scale)
    return seconds


def version_before(model: str) -> str:
    """Name of a changed model in the run before."""
    return f"{model}-before"


def _models(audit: Audit) -> list[str]:
    return [f"net_{number:02}" for number in range(audit.models)]


def _scan(audit: Audit, model: str, block: tuple[int, list[str]]) -> list[Unit]:
    """What is computed of a block together: predictions, then trajectories and profiles by path."""
    number, sources = block
    shared = {"model": model, "weights": "0" * 64, "preprocessing": "0" * 64, "score": "0" * 64}
    shared |= {"pairs": short(json_sha256([audit.study, number])), "code": "1"}
    units = [Unit("predict", "", model, number, shared)]
    for path in audit.paths:
        parts = shared | {"path": path, "reveal": "0" * 64, "stages": "0" * 64}
        row_count = len(sources) * len(TYPES)
        scored = Unit("score", path, model, number, parts, row_count=row_count)
        routed = {"epsilon": repr(EPSILON), "code": "1"}
        units += [scored, Unit("route", path, model, number, routed, (scored,))]
    return units


def _measurements(audit: Audit, scan: list[Unit]) -> list[Unit]:
    """What is measured beside a scan."""
    if not audit.methods:
        return []
    predicted, named = scan[0], [("corrupt", ""), *(("attribute", name) for name in audit.methods)]
    return [
        Unit(kind, name, predicted.model_id, predicted.block, predicted.parts | {"method": name})
        for kind, name in named
    ]


def _manifest(
    audit: Audit, run_id: str, started_at: datetime, scans: list[list[Unit]]
) -> dict[str, pa.Table]:
    units = [unit for scan in scans for unit in (*scan, *_measurements(audit, scan))]
    if audit.methods:
        units += map(_analysis, ANALYSES)
    config = {"data": {"adapter": "imagenet9", "split": audit.split}}
    run = {"run_id": run_id, "started_at": started_at, "epsilon": EPSILON}
    run |= {"pairs_digest": "pairs", "unit_count": len(units), "config": json.dumps(config)}
    run |= dict.fromkeys(("score", "software"), "{}")
    cards = [
        {"run_id": run_id, "model_id": model, "position": number}
        | {"family": _family(number), "architecture": "net", "weights_sha256": "0"}
        | {"card": "{}", "training": None}
        for number, model in enumerate(dict.fromkeys(scan[0].model_id for scan in scans))
    ]
    paths = [
        {"run_id": run_id, "path": path, "position": position, "t": GRID.tolist()}
        | {"kind": PATHS[path][0], "identity": PATHS[path][1]}
        | {"repetition_count": 1, "has_common_start": True}
        for position, path in enumerate(audit.paths)
    ]
    planned = [
        {"run_id": run_id, "unit_key": unit.key, "kind": unit.kind, "name": unit.name}
        | {"model_id": unit.model_id, "block": unit.block, "row_count": unit.row_count}
        for unit in units
    ]
    parts = [
        {"run_id": run_id, "unit_key": unit.key, "part": part, "value": value}
        for unit in units
        for part, value in unit.parts.items()
    ]
    rows = {"runs": [run], "run_units": planned, "unit_parts": parts}
    rows |= {"models": cards, "paths": paths}
    return {name: _table(name, table) for name, table in rows.items()}


def _analysis(table: str) -> Unit:
    return Unit("analyse", table, None, None, {"definition": "{}", "code": "1"} | {"table": table})


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
        entry |= dict.fromkeys(("weights_sha256", "preprocessing_sha256", "problem"))
        earlier = f"day-{day - 1}" if day else None
        entry |= {"previous_reaudit_id": earlier, "passed_reaudit_id": earlier}
        entry |= {"judged_reaudit_id": f"day-{day}"}
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
        key = _analysis(kind).key
        rows = rows.append_column("unit_key", pa.repeat(key, len(rows)))
        commit(root, "units", audit.study, kind, {kind: rows}, units=(key,))


def _pair(source: str, kind: str) -> dict[str, Any]:
    minus = VARIANTS[1 + TYPES.index(kind)]
    return {
        "pairs_digest": "pairs",
        "pair_id": f"{source}/{kind}",
        "source_id": source,
        "pair_type": kind,
        "class_id": class_of(source),
        "split": "score",
        "weight": 1.0,
        "plus_image": f"{source}/{VARIANTS[0]}",
        "minus_image": f"{source}/{minus}",
        "plus_variant": VARIANTS[0],
        "minus_variant": minus,
    }


def class_of(source: str) -> int:
    """Class of a foreground, from 0."""
    return int(source[-6:]) % CLASSES


def _commit_block(
    root: Path, audit: Audit, rng: np.random.Generator, scan: list[Unit], sources: list[str]
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
    commit(root, "units", audit.study, key, tables, model_id=predicted.model_id, units=units)
    seconds = perf_counter() - started
    for unit in _measurements(audit, scan):
        made = _measured(rng, unit, sources, classes)
        commit(
            root, "units", audit.study, unit.key, made, model_id=unit.model_id, units=(unit.key,)
        )
    return seconds


def _cost(key: str, first: Unit, counted: dict[str, int | None]) -> pa.Table:
    """What a commit took, by its first unit."""
    cost = counted | {"commit_key": key, "kind": first.kind, "name": first.name}
    cost |= {"block": first.block, "batch_size": 64, "requested_batch_size": 64}
    cost |= {f"{step}_seconds": 1.0 for step in ("load", "prepare", "forward", "wall", "cpu")}
    cost |= {"peak_memory_bytes": 10**9, "device": "cpu", "worker": "w"}
    return _table("costs", [cost | {"started_at": datetime.now(UTC)}])


def _measured(
    rng: np.random.Generator, unit: Unit, sources: list[str], classes: np.ndarray[Any, Any]
) -> dict[str, pa.Table]:
    """Rows of a unit that is measured beside a scan, and what it cost."""
    count = len(sources)
    if unit.kind == "corrupt":
        true = [class_of(source) for source in sources]
        same, rand = (classes[variant :: len(VARIANTS)][range(count), true] for variant in (0, 1))
        null = np.flatnonzero(np.abs(same - rand) < EPSILON)
        images = np.array([f"{sources[row]}/{VARIANTS[0]}" for row in null])
        names = [one.name for one in CORRUPTIONS]
        scored = rng.dirichlet(np.ones(CLASSES), (len(null), len(names)))
        table, rows = "corruptions", corruption_rows(unit.key, images, names, scored)
    else:
        pairs = [f"{source}/{kind}" for source in sources for kind in TYPES]
        pixels = np.full(len(pairs), 1000)
        scores = rng.random(len(pairs))
        table, rows = "attributions", attribution_rows(unit.key, pairs, unit.name, scores, pixels)
    counted = dict.fromkeys(("item_count", "forward_rows", "backward_rows"), count)
    return {table: rows, "costs": _cost(unit.key, unit, counted | {"naive_rows": None})}


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
