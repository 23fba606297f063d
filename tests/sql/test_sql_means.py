"""Means and counts of the views, and behaviours, against the library on random audits."""

from collections import Counter

import numpy as np
import pytest
from random_audit import EPSILON, METRICS, by_cell, cell_of, near, rows_of

from decaf.routing.population import summarise
from decaf.routing.profiles import profile
from decaf.routing.route import is_active, route
from decaf.studies.imagenet9.behaviours import (
    needs_corruptions,
    shows_contradiction,
    shows_evidence,
    shows_fragility,
)

CLASSES, SOURCES = 3, 60


def responses_of(rows):
    return [np.subtract(each["q_plus"], each["q_minus"]) for each in rows]


def test_model_profiles(audit, catalogue):
    cells = by_cell(audit, "stg_trajectories")
    found = rows_of(catalogue(audit).sql("FROM out_model_profiles"))
    assert {cell_of(row) for row in found} == cells.keys()
    for row in found:
        rows = cells[cell_of(row)]
        reference = summarise(profile(responses_of(rows), rows[0]["t"], EPSILON))
        assert row["pair_count"] == len({each["pair_id"] for each in rows})
        assert row["active_frac"] == near(reference.active_rate)
        for name in ("endpoint_magnitude", "net_response", "abs_response"):
            assert row[name] == near(getattr(reference, name))
        for name in ("evidence", "contradiction", "fragility"):
            assert row[name] == near(getattr(reference, name))
            assert row[f"{name}_frac"] == near(row[name] / row["abs_response"])


def test_mean_trajectories(audit, catalogue):
    cells = by_cell(audit, "stg_trajectories")
    found = rows_of(catalogue(audit).sql("FROM out_mean_trajectories"))
    assert len(found) == sum(len(rows[0]["t"]) for rows in cells.values())
    for row in found:
        rows = cells[cell_of(row)]
        response = np.array(responses_of(rows))
        parts = dict(zip(METRICS[1:4], route(response, epsilon=EPSILON), strict=True))
        active = is_active(response[:, -1], EPSILON)
        oriented = (np.sign(response[:, -1:]) * response)[active]
        stage = row["stage"]
        assert row["t"] == rows[0]["t"][stage]
        assert row["trajectory_count"] == len(rows)
        if oriented.size:
            assert row["mean_response"] == near(oriented[:, stage].mean())
        else:
            assert row["mean_response"] is None
        for name, part in parts.items():
            assert row[name] == near(part[:, stage].mean())


def test_role_counts(audit, catalogue):
    for trajectory, stored in zip(
        audit["stg_trajectories"][::9], audit["stg_profiles"][::9], strict=True
    ):
        trajectory["q_minus"] = trajectory["q_plus"]
        stored |= dict.fromkeys((*METRICS, "endpoint_delta"), 0.0) | {"is_endpoint_active": False}
    cells = by_cell(audit, "stg_trajectories")
    found = rows_of(catalogue(audit).sql("FROM out_role_counts"))
    assert len(found) == 4 * len(cells)
    seen = Counter()
    for row in found:
        rows = cells[cell_of(row)]
        routed = profile(responses_of(rows), rows[0]["t"], EPSILON)
        of_role = {
            "none": routed.abs_response == 0,
            "fragility": routed.fragility > 0,
            "evidence": (routed.evidence > 0) & (routed.evidence >= routed.contradiction),
            "contradiction": routed.contradiction > routed.evidence,
        }[row["role"]]
        assert row["trajectory_count"] == of_role.sum()
        assert row["frac"] == near(of_role.mean())
        seen[row["role"]] += row["trajectory_count"]
    assert min(seen.values()) > 0
    assert seen.total() == len(audit["stg_trajectories"])


def predictions(seed):
    """Scores of one model in tenths: ties, changes of exactly 0.2, and contrasts on the gate."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 11, (4, SOURCES, CLASSES)) / 10
    scores[1, ::4] = scores[0, ::4]
    return scores, rng.integers(0, CLASSES, SOURCES)


def prediction(image, scores):
    return {
        "study": "s",
        "model_id": "m",
        "unit_key": "m",
        "image_id": image,
        "class_scores": scores.tolist(),
        "predicted_class": int(scores.argmax()),
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_behaviours(seed, catalogue):
    (same, rand, next_, corrupted), truth = predictions(seed)
    images = {"mixed_same": same, "mixed_rand": rand, "mixed_next": next_}
    pairs = [
        {"study": "s", "pairs_digest": "pairs", "pair_id": f"{source}-{kind}"}
        | {"source_id": f"{source}", "pair_type": f"same_{kind}", "class_id": int(truth[source])}
        | {"plus_image": f"{source}/mixed_same", "minus_image": f"{source}/mixed_{kind}"}
        for source in range(SOURCES)
        for kind in ("rand", "next")
    ]
    key = {"run_id": "r", "model_id": "m"}
    measured = {"unit_key": "k", "study": "s", "model_id": "m", "corruption": "fog"}
    needed = needs_corruptions(same, rand, truth, EPSILON)
    audit = {
        "stg_runs": [{"study": "s", "run_id": "r", "pairs_digest": "pairs", "epsilon": EPSILON}],
        "stg_run_units": [
            {"study": "s", "unit_key": unit, "kind": kind, "block": 0} | key
            for unit, kind in (("m", "predict"), ("k", "corrupt"))
        ],
        "stg_pairs": pairs,
        "stg_predictions": [
            prediction(f"{source}/{variant}", scores[source])
            for variant, scores in images.items()
            for source in range(SOURCES)
            if variant != "mixed_next" or source % 7
        ],
        "stg_corruptions": [
            prediction(f"{source}/mixed_same", corrupted[source]) | measured
            for source in np.flatnonzero(needed)
        ],
    }
    expected = {
        "y_evidence": shows_evidence(same, rand, truth),
        "y_contradiction": shows_contradiction(same, next_, truth),
        "y_fragility": shows_fragility(same, corrupted[needed][:, None], truth, needed),
    }
    connection = catalogue(audit)
    found = rows_of(connection.sql("FROM behaviours($gate, 0.2)", params={"gate": EPSILON}))
    assert len(found) == SOURCES
    for row in found:
        source = int(row["source_id"])
        assert row["is_active"] == (not needed[source])
        for name, shown in expected.items():
            is_known = name != "y_contradiction" or source % 7
            assert row[name] == (shown[source] if is_known else None)
    assert all(0 < shown.sum() < SOURCES for shown in expected.values())
