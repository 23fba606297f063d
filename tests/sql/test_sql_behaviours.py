"""Behaviours of ImageNet-9 in SQL: by hand, and against their definition on random predictions."""

import numpy as np
import pytest
from behaviours import behaviours
from random_audit import rows_of

CLASSES, SOURCES = 3, 60
EPSILON, CHANGE = 0.02, 0.2
NAMES = ("y_evidence", "y_contradiction", "y_fragility")
HALF = [0.625, 0.25, 0.0]
BY_HAND = {
    "nothing changes": ("rand", [0.6, 0.3, 0.1], [0.6, 0.3, 0.1], 0, False),
    "another class, hardly lower": ("rand", [0.5, 0.4, 0.1], [0.45, 0.5, 0.05], 0, True),
    "the same class, much lower": ("rand", [0.9, 0.1, 0.0], [0.6, 0.4, 0.0], 0, True),
    "much higher is no evidence": ("rand", [0.5, 0.4, 0.1], [0.9, 0.1, 0.0], 0, False),
    "wrong from the start": ("rand", [0.1, 0.8, 0.1], [0.0, 0.1, 0.9], 0, False),
    "wrong from the start, then right": ("rand", [0.3, 0.4, 0.3], [0.9, 0.1, 0.0], 0, False),
    "lower by exactly the change": ("rand", [0.2, 0.1, 0.0], [0.0, 0.0, 0.0], 0, True),
    "lower by just less": ("rand", [0.2, 0.1, 0.0], [1e-9, 0.0, 0.0], 0, False),
    "a tie goes to the first class": ("rand", [0.4, 0.4, 0.2], [0.4, 0.4, 0.2], 0, False),
    "a tie that is wrong from the start": ("rand", [0.4, 0.4, 0.2], [0.0, 0.1, 0.9], 1, False),
    "a tie that the true class loses": ("rand", [0.3, 0.4, 0.3], [0.4, 0.4, 0.2], 1, True),
    "to the class of the background": ("next", [0.8, 0.1, 0.1], [0.2, 0.7, 0.1], 0, True),
    "to another class": ("next", [0.8, 0.1, 0.1], [0.2, 0.1, 0.7], 0, False),
    "nowhere": ("next", [0.8, 0.1, 0.1], [0.8, 0.1, 0.1], 0, False),
    "after the last class comes the first": ("next", [0.1, 0.1, 0.8], [0.7, 0.2, 0.1], 2, True),
    "as the background from the start": ("next", [0.1, 0.8, 0.1], [0.2, 0.7, 0.1], 0, False),
    "a tie of both classes": ("next", [0.8, 0.1, 0.1], [0.5, 0.5, 0.0], 0, False),
    "no corruption matters": ("corrupted", HALF, [[0.6, 0.3, 0], [0.5, 0.4, 0]], 0, False),
    "one switches the class": ("corrupted", HALF, [[0.6, 0.3, 0], [0.45, 0.5, 0]], 0, True),
    "one lowers the score": ("corrupted", HALF, [[0.6, 0.3, 0], [0.425, 0.1, 0]], 0, True),
    "one raises the score": ("corrupted", HALF, [[0.6, 0.3, 0], [0.875, 0.1, 0]], 0, True),
    "one moves another class alone": ("corrupted", HALF, [[0.6, 0.3, 0], [0.6, 0, 0]], 0, False),
    "a wrong prediction": ("corrupted", [0.2, 0.8, 0], [[0.6, 0.4, 0]], 0, True),
    "moved by exactly the change": ("corrupted", [0, 0, 0], [[0.2, 0, 0]], 0, True),
    "moved by just less": ("corrupted", [0, 0, 0], [[np.nextafter(0.2, 0), 0, 0]], 0, False),
    "active at exactly the threshold": ("rand", [0.52, 0.5, 0], [0.5, 0.5, 0], 0, False),
}
"""Changed image, clean and changed scores, true class, and the behaviour that the change shows."""


def prediction(image, scores, **unit):
    scores = np.asarray(scores, float)
    row = {"study": "s", "model_id": "m", "unit_key": "m", "image_id": image}
    row |= {"class_scores": scores.tolist(), "predicted_class": int(scores.argmax())}
    return row | unit


def audit(units):
    """Staging tables of units, which are scores by image and a true class, by source."""
    key = {"run_id": "r", "model_id": "m"}
    return {
        "stg_runs": [{"study": "s", "run_id": "r", "pairs_digest": "pairs", "epsilon": EPSILON}],
        "stg_run_units": [
            {"study": "s", "unit_key": unit, "kind": kind, "block": 0} | key
            for unit, kind in (("m", "predict"), ("k", "corrupt"))
        ],
        "stg_pairs": [
            {"study": "s", "pairs_digest": "pairs", "pair_id": f"{source}-{kind}"}
            | {"source_id": source, "pair_type": f"same_{kind}", "class_id": int(class_id)}
            | {"plus_image": f"{source}/same", "minus_image": f"{source}/{kind}"}
            for source, (_, class_id) in units.items()
            for kind in ("rand", "next")
        ],
        "stg_predictions": [
            prediction(f"{source}/{image}", scores[image])
            for source, (scores, _) in units.items()
            for image in scores
            if image != "corrupted"
        ],
        "stg_corruptions": [
            prediction(f"{source}/same", corrupted, unit_key="k", corruption=f"fog {number}")
            for source, (scores, _) in units.items()
            for number, corrupted in enumerate(scores.get("corrupted", ()))
        ],
    }


def labels_in_sql(catalogue, units):
    connection = catalogue(audit(units))
    parameters = {"gate": EPSILON, "change": CHANGE}
    rows = rows_of(connection.sql("FROM behaviours($gate, $change)", params=parameters))
    return {row["source_id"]: tuple(row[name] for name in NAMES) for row in rows}


def test_behaviours_by_hand(catalogue):
    units = {}
    for source, (image, same, changed, class_id, _) in BY_HAND.items():
        scores = {"same": same, "rand": same, image: changed}
        units[source] = {name: np.array(values, float) for name, values in scores.items()}, class_id
    labels = labels_in_sql(catalogue, units)
    images = ("rand", "next", "corrupted")
    assert {source: labels[source][images.index(BY_HAND[source][0])] for source in labels} == {
        source: expected for source, (*_, expected) in BY_HAND.items()
    }
    assert labels["active at exactly the threshold"][2] is False
    assert labels["nothing changes"][2] is None, "no corruption is scored"


@pytest.mark.parametrize("seed", [0, 1])
def test_behaviours_of_random_scores(seed, catalogue):
    """Scores in tenths: ties, changes of exactly 0.2, and contrasts on the gate."""
    rng = np.random.default_rng(seed)
    same, rand, following, *corrupted = rng.integers(0, 11, (5, SOURCES, CLASSES)) / 10
    rand[::4] = same[::4]
    units = {}
    for source, class_id in enumerate(rng.integers(0, CLASSES, SOURCES)):
        scores = {"same": same[source], "rand": rand[source]}
        scores |= {"next": following[source]} if source % 7 else {}
        if abs(same[source, class_id] - rand[source, class_id]) < EPSILON:
            scores["corrupted"] = np.stack([scored[source] for scored in corrupted])
        units[f"{source}"] = scores, class_id
    expected = {name: behaviours(*unit, EPSILON, CHANGE) for name, unit in units.items()}
    assert labels_in_sql(catalogue, units) == expected
    for shown in zip(*expected.values(), strict=True):
        assert {True, False} <= set(shown)
