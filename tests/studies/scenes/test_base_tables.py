"""The base suite's tables against the profiles of random trajectories, unit by unit in Python."""

import itertools
import json
from datetime import UTC, datetime

import numpy as np
import pytest

from decaf.routing.profiles import profile

EPSILON = 0.05
STAGES = [0.0, 0.25, 0.75, 1.0]
WEIGHTS = [0.25, 0.5, 0.25, 0.0]
PATHS = {
    "cmmr": {"geometry": "cmmr", "chain": "fixed"},
    "pixel": {"geometry": "pixel", "chain": "fixed"},
    "half": {"geometry": "linear", "share": 0.5, "chain": "fixed"},
    "diagonal": {"geometry": "diagonal", "chain": "fixed"},
}
CHANGES = {"shape": "shape", "floor_hue_7": "floor_hue", "floor_hue_8": "floor_hue"}
CHANGES |= {"size_7": "size", "size_8": "size"}
FACTORS = ("floor_hue", "shape", "size")
ACTIVE = {"shape": 1.0, "floor_hue": 0.0, "size": 0.5}
"""How often a change of the factor moves the score: supported, null, and one or the other."""
MODELS = [
    (f"{task}__{family}__seed_{seed}", task, family, seed)
    for task, family, seed in itertools.product(
        ("object_shape", "object_color"), ("resnet18", "small_vit"), (1, 2)
    )
]
SOURCES, DYNAMIC, SEEDS = 8, 5, 2
COMPONENTS = ("evidence", "contradiction", "fragility", "abs_response")
WHERE = {"study": "s", "run_id": "r"}


@pytest.fixture(scope="module")
def scores():
    """Scores of clean inputs and responses along the paths; small models respond to size too."""
    rng = np.random.default_rng(23)
    clean, revealed = {}, {}
    for model, _, family, _ in MODELS:
        for source in range(SOURCES):
            clean[model, f"factual/{source}"] = q = rng.integers(20, 80) / 100
            for change, factor in CHANGES.items():
                is_moved = rng.random() < ACTIVE[factor] and (
                    factor != "size" or family == "small_vit"
                )
                clean[model, f"{change}/{source}"] = q + 0.125 * rng.choice([-1, 1]) * is_moved
        for source, change, path, seed in itertools.product(
            range(DYNAMIC), CHANGES, PATHS, range(SEEDS)
        ):
            ends = clean[model, f"factual/{source}"], clean[model, f"{change}/{source}"]
            middle = np.column_stack([[0.5, 0.5], rng.integers(0, 100, (2, 2)) / 100, ends])
            revealed[model, source, change, path, seed] = middle
    return clean, revealed


@pytest.fixture
def connection(catalogue, scores):
    clean, revealed = scores
    config = {"data": {"adapter": "shapes3d", "images": "rendered"}}
    moment = datetime(2026, 11, 23, tzinfo=UTC)
    run = WHERE | {"started_at": moment, "epsilon": EPSILON, "pairs_digest": "d"}
    run |= {"unit_count": 1, "score": '{"target": 1}', "config": json.dumps(config)}
    recipes = {
        model: {"recipe": "scene_task", "task": task, "seed": seed}
        for model, task, _, seed in MODELS
    }
    units = [("predict", "", "predict"), *(("score", path, f"q {path}") for path in PATHS)]
    units += [("route", path, f"E {path}") for path in PATHS]
    weights = json.dumps({"information_weights": WEIGHTS})
    trajectories = [
        {
            "study": "s", "model_id": model, "unit_key": f"q {path}{model}", "path": path,
            "pair_id": f"{source} {change}", "repetition": seed, "t": STAGES,
            "q_plus": q[0].tolist(), "q_minus": q[1].tolist(),
        }
        for (model, source, change, path, seed), q in revealed.items()
    ]  # fmt: skip
    profiles = _profiles(revealed, grid=STAGES)
    return catalogue(
        {
            "stg_runs": [run],
            "stg_models": [
                WHERE
                | {"model_id": model, "position": position, "family": family, "card": "{}"}
                | {"training": json.dumps({"recipe": recipes[model], "outcome": {}})}
                for position, (model, _, family, _) in enumerate(MODELS)
            ],
            "stg_paths": [
                WHERE | {"path": path, "position": place, "kind": "gaussian"}
                | {"identity": json.dumps(identity)}
                for place, (path, identity) in enumerate(PATHS.items())
            ],
            "stg_pairs": [
                {
                    "study": "s", "pairs_digest": "d", "pair_id": f"{source} {change}",
                    "source_id": str(source), "class_id": 0,
                    "pair_type": change if source < DYNAMIC else f"{change}_endpoint",
                    "plus_image": f"factual/{source}", "minus_image": f"{change}/{source}",
                }
                for source in range(SOURCES)
                for change in CHANGES
            ],
            "stg_run_units": [
                WHERE | {"unit_key": f"{key}{model}", "kind": kind, "name": name}
                | {"model_id": model, "block": 0}
                for model, *_ in MODELS
                for kind, name, key in units
            ]
            + [WHERE | {"unit_key": path, "kind": "fit", "name": path} for path in PATHS],
            "stg_made_files": [
                {"study": "s", "unit_key": path, "file": path, "outcome": weights}
                for path in PATHS
            ],
            "stg_predictions": [
                {
                    "study": "s", "model_id": model, "unit_key": f"predict{model}",
                    "image_id": image, "class_scores": [1 - q, q], "predicted_class": 0,
                }
                for (model, image), q in clean.items()
            ],
            "stg_trajectories": trajectories,
            "stg_profiles": [
                {name: row[name] for name in ("study", "model_id", "pair_id", "path", "repetition")}
                | {"unit_key": f"E {row['path']}{row['model_id']}"}
                | {name: column[place].item() for name, column in profiles.items()}
                for place, row in enumerate(trajectories)
            ],
        }
    )  # fmt: skip


def _profiles(revealed, **measured):
    """Columns of the profiles of all trajectories, in their order."""
    scores = np.stack([*revealed.values()])
    return profile(scores[:, 0] - scores[:, 1], epsilon=EPSILON, **measured).columns()


@pytest.fixture(scope="module")
def units(scores):
    """Means by model, factor, path and measure, and the share of active pairs."""
    clean, revealed = scores
    measures = {
        "alpha": _profiles(revealed, grid=STAGES),
        "information": _profiles(revealed, measure=WEIGHTS),
    }
    places = {}
    for place, (model, _, change, path, _) in enumerate(revealed):
        places.setdefault((model, CHANGES[change], path), []).append(place)
    moves = {}
    for (model, image), q in clean.items():
        change, _, source = image.partition("/")
        if change in CHANGES:
            is_active = abs(clean[model, f"factual/{source}"] - q) >= EPSILON
            moves.setdefault((model, CHANGES[change]), []).append(is_active)
    return {
        (model, factor, path, measure): {
            name: columns[name][own].mean() for name in ("endpoint_magnitude", *COMPONENTS)
        }
        | {"active_frac": np.mean(moves[model, factor]), "trajectory_count": len(own)}
        for (model, factor, path), own in places.items()
        for measure, columns in measures.items()
    }


def test_units_are_means_of_profiles_under_both_measures(connection, units):
    names = [*next(iter(units.values()))]
    found = connection.sql(
        f"SELECT model_id, factor, path, measure, {', '.join(names)} FROM core_scene_units"
    ).fetchall()
    assert {row[:4] for row in found} == units.keys()
    for *of, numbers in ((*row[:4], row[4:]) for row in found):
        expected = [units[tuple(of)][name] for name in names]
        assert numbers == pytest.approx(expected, abs=1e-12), of


def _classes(units):
    shares = {
        (model, factor): unit["active_frac"]
        for (model, factor, path, measure), unit in units.items()
        if (path, measure) == ("cmmr", "alpha")
    }
    return {
        of: "null" if share < 0.01 else "supported" if share > 0.1 else "intermediate"
        for of, share in shares.items()
    }


def test_compositions_are_means_over_the_units_of_a_class(connection, units):
    classes = _classes(units)
    found = connection.sql(
        "SELECT class, statistic, estimate FROM paper_base_composition"
    ).fetchall()
    assert {row[0] for row in found} == {"null", "supported"}
    for name, statistic, estimate in found:
        own = [units[*of, "cmmr", "alpha"] for of, of_class in classes.items() if of_class == name]
        part = statistic.removesuffix("_share")
        expected = (
            len(own)
            if statistic == "units"
            else np.mean([unit[part] / unit["abs_response"] for unit in own])
        )
        assert estimate == pytest.approx(expected, abs=1e-12), (name, statistic)


def test_false_null_rates_are_means_over_pairs_then_models(connection, units):
    classes, family = _classes(units), ("cmmr", "half", "pixel")
    methods = {"Endpoint M": ("endpoint_magnitude", ("cmmr",), min)}
    for name, metric in (("Abs", "abs_response"), ("Align", "evidence")):
        methods |= {
            f"{name}-CMMR": (metric, ("cmmr",), min),
            f"{name}-Pixel": (metric, ("pixel",), min),
            f"{name}-min": (metric, family, min),
            f"{name}-mean": (metric, family, np.mean),
        }
    found = connection.sql("SELECT method, estimate, pair_count FROM paper_base_false_null")
    rates = {method: (estimate, pairs) for method, estimate, pairs in found.fetchall()}
    assert rates.keys() == methods.keys()
    for method, (metric, paths, over) in methods.items():
        by_model = []
        for model, *_ in MODELS:
            score = {
                factor: over([units[model, factor, path, "alpha"][metric] for path in paths])
                for factor in FACTORS
            }
            pairs = [
                score[b] > score[a]
                for a, b in itertools.permutations(FACTORS, 2)
                if (classes[model, a], classes[model, b]) == ("supported", "null")
            ]
            by_model.append(pairs)
        expected = np.mean([np.mean(pairs) for pairs in by_model])
        assert rates[method] == (pytest.approx(expected), sum(map(len, by_model))), method
    assert rates["Align-CMMR"][0] == 0 < rates["Abs-CMMR"][0]
