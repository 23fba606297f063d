"""The 135 classifiers of Covertype with made-up scores, committed through the real writer.

Families realise treatments differently, as in the paper: an inverted effect collapses in some, and
a linear model makes ordinary evidence of a fragile one.
"""

import json
from itertools import product
from typing import NamedTuple

import numpy as np
from planned_units import (
    Planned,
    block_units,
    commit_outcome,
    commit_pairs,
    commit_profiles,
    commit_rows,
    commit_run,
    commit_scores,
    cost_row,
    pair_row,
)
from scipy.integrate import trapezoid

from decaf.routing.profiles import profile
from warehouse.commits.writer import open_root

STUDY, RUN, EPSILON = "covertype", "r", 0.02
T = np.linspace(0, 1, 11)
FAMILIES = ("hist_gradient_boosting", "logistic_regression", "mlp", "random_forest", "xgboost")
SEEDS = (7701, 7702, 7703)
INVERTED = (0.1, 0.0, 0.8, 0.9, 0.15)
"""Share of the effect that each family turns round."""


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


def behaviour(alternate, endpoint, contexts):
    """Behaviour of a model by the definitions of the protocol, from its four scores.

    Parameters
    ----------
    alternate, endpoint
        (n,) scores with the factor +1 and -1, in either context.
    contexts
        (n,) own contexts of the rows.
    """
    (a_plus, a_minus), (plus, minus) = alternate, endpoint
    a, d = a_plus - a_minus, plus - minus
    v, active = np.sign(d) * a, np.abs(d) >= EPSILON
    changed = (a_plus >= 0.5) != (a_minus >= 0.5)
    own = contexts == -1
    null = own & ~active
    routed = profile(np.outer(a, 1 - T) + np.outer(d, T), T, EPSILON)
    return {
        "row_count": len(d),
        "endpoint_magnitude": np.abs(d).mean(),
        "evidence": routed.evidence.mean(),
        "contradiction": routed.contradiction.mean(),
        "fragility": routed.fragility.mean(),
        "abs_response": routed.abs_response.mean(),
        "net_response": (routed.evidence - routed.contradiction).mean(),
        "opposed_mass": _opposed(a, d).mean(),
        "sign_flip_rate": (v[active] < 0).mean() if active.any() else None,
        "active_frac": active.mean(),
        "preserve_rate": (v > EPSILON).mean(),
        "collapse_rate": (np.abs(a) <= EPSILON).mean(),
        "invert_rate": (v < -EPSILON).mean(),
        "other_rate": ((d == 0) & (np.abs(a) > EPSILON)).mean(),
        "alternate_count": own.sum(),
        "null_count": null.sum(),
        "change_rate": changed[own].mean(),
        "null_change_rate": changed[null].mean() if null.any() else None,
        "null_effect": np.abs(a)[null].mean() if null.any() else None,
    }


def _opposed(a, d):
    """Ungated mass of the response against d."""
    against = np.maximum(-np.sign(d)[:, None] * (np.outer(a, 1 - T) + np.outer(d, T)), 0)
    return trapezoid(against, T, axis=1)


def covertype_warehouse(root, rows=40, models=MODELS):
    """Commit pairs, a run, its units with costs, its own contexts and its outcome."""
    store = open_root(root)
    sources = [f"row-{12 * row:06d}" for row in range(rows)]
    variants = ("endpoint_plus", "endpoint_minus")
    pairs = [
        pair_row(f"{source}__factor", source, "factor", *inputs, class_id=row % 2)
        for row, source in enumerate(sources)
        for inputs in [[(f"{source}/{variant}", variant) for variant in variants]]
    ]
    commit_pairs(store, STUDY, pairs)
    _commit_run(store, rows, models)
    for model in models:
        _commit_block(store, model, [pair["pair_id"] for pair in pairs])
    contexts = [
        {"unit_key": "contexts", "module": module, "seed": seed}
        | {"source_id": source, "context": context}
        for module, seed in sorted({(model.module, model.seed) for model in models})
        for source, context in zip(sources, contexts_of(module, seed, rows), strict=True)
    ]
    commit_rows(
        store, "units", STUDY, "contexts", {"factual_contexts": contexts}, None, ("contexts",)
    )
    commit_outcome(store, STUDY, RUN, forward_rows=4 * rows * len(models))
    return store


def _commit_run(store, rows, models):
    config = {"data": {"adapter": "covertype", "table": {"drawn_per_class": rows * 5 // 2}}}
    units = [
        unit
        for model in models
        for unit in block_units(model.name, model.name, EPSILON, {"context": rows})
    ]
    parts = (("definition", "{}"),)
    units.append(Planned("contexts", "analyse", "factual_contexts", block=None, parts=parts))
    run = {"run_id": RUN, "epsilon": EPSILON, "config": json.dumps(config)}
    cards = [
        {"model_id": model.name, "family": model.family, "architecture": "estimator"}
        | {"training": json.dumps({"recipe": _recipe(model), "outcome": {}})}
        for model in models
    ]
    path = {"path": "context", "t": T, "has_common_start": False}
    commit_run(store, STUDY, run, units, cards, [path])


def _recipe(model):
    fields = model._asdict() | {"classifier": model.family, "fitted_per_class": None}
    return fields | {"recipe": "covertype_classifier"}


def _commit_block(store, model, pair_ids):
    rows, key = len(pair_ids), f"{model.name}-scores"
    alternate, endpoint = four_scores(model, rows)[..., None]
    q = alternate * (1 - T) + endpoint * T
    keys = [
        {"unit_key": f"{model.name}-context", "pair_id": pair, "path": "context", "repetition": 0}
        for pair in pair_ids
    ]
    seconds = {f"{step}_seconds": 0.25 for step in ("load", "prepare", "forward", "wall", "cpu")}
    cost = cost_row(key, rows, 4 * rows, 22 * rows, **seconds, peak_memory_bytes=1000)
    cost |= {"batch_size": 1024, "requested_batch_size": 1024}
    clean = [f"{model.name}-clean"]
    commit_scores(store, STUDY, key, model.name, keys, T, q, {"costs": [cost]}, clean)
    profiles = f"{model.name}-at-{EPSILON}"
    commit_profiles(store, STUDY, profiles, model.name, keys, T, q, EPSILON)
