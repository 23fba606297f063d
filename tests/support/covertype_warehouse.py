"""The 135 classifiers of Covertype with made-up scores, committed through the real writer.

Families realise treatments differently, as in the paper: an inverted effect collapses in some, and
a linear model makes ordinary evidence of a fragile one.
"""

import json
from datetime import UTC, datetime
from itertools import product
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from planned_units import Planned, block_units, cost_row, manifest

from decaf.routing.profiles import profile
from warehouse.commits.writer import commit, open_root
from warehouse.tables.declarations import TABLES

STUDY, RUN, EPSILON = "covertype", "r", 0.02
T = np.linspace(0, 1, 11)
FAMILIES = ("hist_gradient_boosting", "logistic_regression", "mlp", "random_forest", "xgboost")
SEEDS = (7701, 7702, 7703)
INVERTED = (0.1, 0.0, 0.8, 0.9, 0.15)
"""Share of the effect that each family turns round."""
STARTED = datetime(2026, 3, 1, tzinfo=UTC)


class Model(NamedTuple):
    """One classifier: family, mechanism, strength (None in the fragility module) and seed."""

    family: str
    mechanism: str
    strength: float | None
    seed: int

    @property
    def name(self):
        strength = "" if self.strength is None else f"_p{100 * self.strength:.0f}"
        return f"{self.family}_{self.mechanism}{strength}_s{self.seed}"

    @property
    def module(self):
        return "fragility" if self.strength is None else "direction"


MODELS = [
    *(Model(*of) for of in product(FAMILIES, ("direct", "gate", "invert"), (0.75, 0.95), SEEDS)),
    *(Model(*of) for of in product(FAMILIES, ("robust", "mild", "fragile"), (None,), SEEDS)),
]


def four_scores(model, rows):
    """(2, 2, rows) scores by context (alternate first) and factor (+1 first)."""
    rng = np.random.default_rng(MODELS.index(model))
    place = FAMILIES.index(model.family)
    base, spread = rng.uniform(0.3, 0.7, rows), rng.gamma(4.0, 0.25, rows)
    jitter = 0.01 * rng.normal(size=(2, rows))
    if model.module == "direction":
        endpoint = (model.strength - 0.5) * spread
        kept = {"direct": 0.9, "gate": 0.02, "invert": -INVERTED[place]}[model.mechanism]
        alternate = kept * endpoint
    else:
        alternate = {"robust": 0.01, "mild": 0.15, "fragile": 0.4}[model.mechanism] * spread
        endpoint = alternate if model.family == "logistic_regression" else 0.03 * alternate
    effect = np.stack([alternate, endpoint]) + jitter
    both = base + np.stack([effect, -effect], axis=1) / 2
    return np.clip(both, 0.0, 1.0)


def contexts_of(module, seed, rows):
    """(rows,) own contexts, -1 and 1."""
    rng = np.random.default_rng([seed, len(module)])
    return np.where(rng.random(rows) < 0.5, -1, 1)


def covertype_warehouse(root, rows=40, models=MODELS):
    """Commit pairs, a run, its units with costs, its own contexts and its outcome."""
    root = open_root(root)
    sources = [f"row-{12 * row:06d}" for row in range(rows)]
    pairs = pa.table(
        {
            "pairs_digest": pa.repeat("digest", rows),
            "pair_id": [f"{source}__factor" for source in sources],
            "source_id": sources,
            "pair_type": pa.repeat("factor", rows),
            "class_id": np.arange(rows) % 2,
            "split": pa.repeat("test", rows),
            "plus_image": [f"{source}/endpoint_plus" for source in sources],
            "minus_image": [f"{source}/endpoint_minus" for source in sources],
            "plus_variant": pa.repeat("endpoint_plus", rows),
            "minus_variant": pa.repeat("endpoint_minus", rows),
        }
    )
    images = [
        {"pairs_digest": "digest", "image_id": f"{source}/{variant}", "variant": variant}
        | {"digest": "0"}
        for source in sources
        for variant in ("endpoint_plus", "endpoint_minus")
    ]
    commit(root, "pairs", STUDY, "pairs", {"pairs": pairs, "images": _rows("images", images)})
    commit(root, "runs", STUDY, RUN, {name: _rows(name, r) for name, r in _run(rows, models)})
    for model in models:
        _commit_block(root, model, pairs["pair_id"])
    streams = sorted({(model.module, model.seed) for model in models})
    parts = [
        pa.table(
            {
                "unit_key": pa.repeat("contexts", rows),
                "module": pa.repeat(module, rows),
                "seed": pa.repeat(seed, rows),
                "source_id": sources,
                "context": contexts_of(module, seed, rows),
            }
        )
        for module, seed in streams
    ]
    table = {"factual_contexts": pa.concat_tables(parts)}
    commit(root, "units", STUDY, "contexts", table, units=("contexts",))
    outcome = {"run_id": RUN, "finished_at": STARTED, "quarantined_count": 0}
    outcome |= {"forward_rows": 4 * rows * len(models)}
    commit(root, "outcomes", STUDY, RUN, {"run_outcomes": _rows("run_outcomes", [outcome])})
    return root


def _run(rows, models):
    config = {"data": {"adapter": "covertype", "table": {"drawn_per_class": rows * 5 // 2}}}
    run = {"run_id": RUN, "started_at": STARTED, "epsilon": EPSILON, "pairs_digest": "digest"}
    units = [
        unit
        for model in models
        for unit in block_units(model.name, model.name, EPSILON, {"context": rows}, digest="digest")
    ]
    parts = (("definition", "{}"),)
    units.append(Planned("contexts", "analyse", "factual_contexts", block=None, parts=parts))
    run |= {"unit_count": len(units), "score": "{}", "software": "{}"}
    yield "runs", [run | {"config": json.dumps(config)}]
    yield from manifest(RUN, units).items()
    yield (
        "models",
        [
            {"run_id": RUN, "model_id": model.name, "position": position, "family": model.family}
            | {"architecture": "estimator", "weights_sha256": "0", "card": "{}"}
            | {"training": json.dumps({"recipe": _recipe(model), "outcome": {}})}
            for position, model in enumerate(models)
        ],
    )
    path = {"run_id": RUN, "path": "context", "position": 0, "kind": "context", "identity": "{}"}
    yield "paths", [path | {"t": T, "repetition_count": 1, "has_common_start": False}]


def _recipe(model):
    fields = model._asdict() | {"classifier": model.family, "fitted_per_class": None}
    return fields | {"recipe": "covertype_classifier"}


def _commit_block(root, model, pair_ids):
    rows, key = len(pair_ids), f"{model.name}-scores"
    unit = f"{model.name}-context"
    (alternate_plus, alternate_minus), (plus, minus) = four_scores(model, rows)
    q_plus = np.outer(alternate_plus, 1 - T) + np.outer(plus, T)
    q_minus = np.outer(alternate_minus, 1 - T) + np.outer(minus, T)
    names = {
        "unit_key": pa.repeat(unit, rows),
        "pair_id": pair_ids,
        "path": pa.repeat("context", rows),
        "repetition": np.zeros(rows, np.int64),
    }
    trajectories = pa.table(
        names
        | {
            "t": _lists(np.broadcast_to(T, q_plus.shape)),
            "q_plus": _lists(q_plus),
            "q_minus": _lists(q_minus),
        }
    )
    seconds = {f"{step}_seconds": 0.25 for step in ("load", "prepare", "forward", "wall", "cpu")}
    cost = cost_row(key, rows, 4 * rows, 22 * rows, **seconds, peak_memory_bytes=1000)
    cost |= {"batch_size": 1024, "requested_batch_size": 1024}
    columns = profile(q_plus - q_minus, T, EPSILON).columns()
    columns["sign_flip_frac"] = pa.array(columns["sign_flip_frac"], from_pandas=True)
    units = (f"{model.name}-clean", unit, f"{unit}-at-{EPSILON}")
    routed = {"unit_key": pa.repeat(units[-1], rows), "epsilon": np.full(rows, EPSILON)}
    tables = {"trajectories": trajectories, "costs": _rows("costs", [cost])}
    tables |= {"profiles": pa.table(names | routed | columns)}
    commit(root, "units", STUDY, key, tables, model_id=model.name, units=units)


def _lists(values):
    offsets = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.ravel()))


def _rows(table, rows):
    return pa.Table.from_pylist(rows, TABLES[table].schema)
