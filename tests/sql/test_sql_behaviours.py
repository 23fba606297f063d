"""Behaviours of ImageNet-9 in SQL, against the library on random predictions."""

import numpy as np
import pytest
from random_audit import EPSILON, rows_of

from decaf.studies.imagenet9.behaviours import (
    needs_corruptions,
    shows_contradiction,
    shows_evidence,
    shows_fragility,
)

CLASSES, SOURCES = 3, 60


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
