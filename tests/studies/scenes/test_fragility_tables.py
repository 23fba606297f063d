"""Fragility and held-out behaviour of the variants against loops over stages."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from random_audit import near, rows_of

EPSILON, GRID, SEEDS = 0.02, [0.0, 0.25, 0.75, 1.0], 4
VARIANTS = ("robust", "neutral", "fragile")


@pytest.fixture(scope="module")
def scores():
    """Scores by model, pair type, scene and noise seed, (branch, stage)."""
    rng = np.random.default_rng(8)
    found = {}
    for variant in VARIANTS:
        for pair_type in ("floor_hue_1", "floor_hue_2", "shape"):
            for scene in range(9):
                q = rng.integers(0, 100, (SEEDS, 2, len(GRID))) / 100
                if scene % 3:
                    q[:, 1, -1] = q[:, 0, -1]  # endpoint-null
                found |= {(variant, pair_type, scene, seed): q[seed] for seed in range(SEEDS)}
    return found


@pytest.fixture
def connection(catalogue, scores):
    where = {"study": "s", "run_id": "r"}
    trained = [
        {"recipe": {"recipe": "scene_variant", "variant": variant, "seed": 5301}, "outcome": {}}
        for variant in VARIANTS
    ]
    units = [
        where | {"model_id": variant, "unit_key": f"{variant} {kind}", "kind": kind, "name": "cmmr"}
        for variant in VARIANTS
        for kind in ("score", "route")
    ]
    trajectories, profiles = [], []
    for (variant, pair_type, scene, seed), (plus, minus) in scores.items():
        of = {"study": "s", "model_id": variant, "pair_id": f"{scene} {pair_type}"}
        of |= {"path": "cmmr", "repetition": seed}
        scored = {"t": GRID, "q_plus": plus.tolist(), "q_minus": minus.tolist()}
        trajectories.append(of | {"unit_key": f"{variant} score"} | scored)
        fragility = fragility_of(plus, minus)
        profiles.append(of | {"unit_key": f"{variant} route", "fragility": fragility})
    return catalogue(
        {
            "stg_runs": [
                where
                | {"started_at": datetime(2026, 3, 1, tzinfo=UTC), "epsilon": EPSILON}
                | {"pairs_digest": "d", "config": '{"data": {"adapter": "shapes3d"}}'}
            ],
            "stg_models": [
                where | {"model_id": variant, "position": place, "training": json.dumps(training)}
                for place, (variant, training) in enumerate(zip(VARIANTS, trained, strict=True))
            ],
            "stg_paths": [
                where
                | {"path": "cmmr", "kind": "gaussian", "position": 0, "repetition_count": SEEDS}
                | {"identity": '{"geometry": "cmmr"}'}
            ],
            "stg_run_units": units,
            "stg_pairs": [
                {"study": "s", "pairs_digest": "d", "pair_type": pair_type}
                | {"pair_id": f"{scene} {pair_type}", "source_id": f"{scene}"}
                for scene in range(9)
                for pair_type in ("floor_hue_1", "floor_hue_2", "shape")
            ],
            "stg_trajectories": trajectories,
            "stg_profiles": profiles,
        }
    )


def is_null(plus, minus):
    return abs(plus[-1] - minus[-1]) < EPSILON


def integral(values):
    """The trapezoid rule, interval by interval."""
    steps = zip(GRID, GRID[1:], values, values[1:], strict=False)
    return sum((end - start) * (one + other) / 2 for start, end, one, other in steps)


def fragility_of(plus, minus):
    return integral(np.abs(plus - minus).tolist()) if is_null(plus, minus) else 0.0


def test_behaviour_is_of_another_map_and_other_noise_than_fragility(connection, scores):
    found = {row["variant"]: row for row in rows_of(connection.sql("FROM core_scene_fragility"))}
    assert found.keys() == set(VARIANTS)
    for variant, row in found.items():
        own = {key[1:]: q for key, q in scores.items() if key[0] == variant}
        first = [
            fragility_of(*own["floor_hue_1", scene, seed]) for scene in range(9) for seed in (0, 1)
        ]
        held_out = [own["floor_hue_2", scene, seed] for scene in range(9) for seed in (2, 3)]
        null = [q for q in held_out if is_null(*q)]
        flips = [integral([(a >= 0.5) != (b >= 0.5) for a, b in q.T.tolist()]) for q in null]
        changes = [integral([abs(a - b) for a, b in q.T.tolist()]) for q in null]
        assert 0 < row["null_count"] == len(null) < len(held_out)
        assert row["fragility"] == near(np.mean(first))
        assert row["null_prediction_change_rate"] == near(np.mean(flips))
        assert row["confidence_fragility"] == near(np.mean(changes))
        assert not row["passes_gates"], "neither accuracy nor activity is known"
