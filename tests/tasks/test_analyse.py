"""Analyses over all models: the plan of a run, and probes on invented units."""

import json
from pathlib import Path

import numpy as np
import pytest
from small_studies import network_card, of_scenes

from decaf.errors import DataError
from decaf.evaluation.labels.base import StudyParts
from decaf.evaluation.matching import match_cases
from decaf.evaluation.probes import PROBES, leave_one_group_out
from decaf.plan.study import Study
from decaf.plan.units import Unit
from decaf.studies.imagenet9.labels import Behaviours
from tasks.units.analyses import matched_pairs, probe_scores
from tasks.units.bench import BlockPart, Destination, InputFiles, StoredUnits, Task
from tasks.units.run_task import UNITS, commit_key, run_task
from warehouse.commits import layout, receipts
from warehouse.commits.writer import open_root

LABELS = ("evidence", "contradiction", "fragility")
PROBE = "logistic_regression"


def analyses(attributions=()):
    return Behaviours(kind="behaviours").analyses(StudyParts(None, (), attributions, {}))


@pytest.fixture
def units():
    """Twelve units of each of three families; no unit of the first one is fragile."""
    rng = np.random.default_rng(4)
    family = np.repeat(np.array(["cnn", "hybrid", "vit"], object), 12)
    labels = rng.random((36, 3)) < 0.5
    labels[:12, 2] = False
    return {
        "labels": labels,
        "family": family,
        "model_id": family,
        "pair_id": np.array([f"p{number % 12:02d}" for number in range(36)], object),
        "source_id": np.array([f"s{number % 12:02d}" for number in range(36)], object),
        "abs_response": rng.random(36),
        "endpoint_magnitude": rng.random(36),
        "is_active": rng.random(36) < 0.5,
        "rise": rng.random(36) + labels[:, 0],
    }


def test_a_study_without_attributions_has_no_features_with_spatial_scores():
    features = analyses()["probe_scores"]["features"]
    assert {name: bool(columns) for name, columns in features.items()} == {
        "decaf": True,
        "response": True,
        "spatial": False,
        "decaf_spatial": False,
        "full": False,
    }


@pytest.mark.parametrize("name", ["DECAF", "Abs", "evidence"])
def test_a_method_must_not_have_the_name_of_another(name):
    with pytest.raises(DataError, match=name):
        analyses((name,))


def test_probes_are_those_of_the_library(units):
    features = {"one": ["endpoint_magnitude", "rise", "is_active"], "none": []}
    tables = probe_scores(units, {"features": features, "probes": [PROBE]})
    rows = tables["probe_scores"].to_pylist()
    columns = [units[name].astype(float) for name in features["one"]]
    expected = leave_one_group_out(
        np.stack(columns, axis=1), units["labels"], units["family"], PROBES[PROBE]
    )
    fitted = [row for row in rows if row["representation"] == "one"]
    assert [row["auroc"] or np.nan for row in fitted] == pytest.approx(
        expected.auroc.ravel().tolist(), nan_ok=True
    )
    missing = [row for row in fitted if row["auroc"] is None]
    assert [(row["family"], row["label"], row["reason"]) for row in missing] == [
        ("cnn", "fragility", "no held-out unit carries the label")
    ]
    assert (missing[0]["test_count"], missing[0]["test_positives"]) == (12, 0)
    assert (missing[0]["train_count"], missing[0]["train_positives"]) == (
        24,
        units["labels"][:, 2].sum(),
    )
    assert {row["reason"] for row in rows if row["representation"] == "none"} == {
        "the study has no such features"
    }
    kept = tables["probe_units"].to_pylist()
    assert len(kept) == 2 * 36 * 3
    assert all(row["probability"] is None for row in kept if row["representation"] == "none")
    known = {
        (row["model_id"], row["source_id"], row["label"]): (row["is_shown"], row["probability"])
        for row in kept
        if row["representation"] == "one"
    }
    assert known == {
        (units["model_id"][number], units["source_id"][number], label): (
            units["labels"][number, place],
            None if np.isnan(probability) else probability,
        )
        for number, probabilities in enumerate(expected.probability)
        for place, (label, probability) in enumerate(zip(LABELS, probabilities, strict=True))
    }


def test_one_family_has_nothing_to_learn_from(units):
    units["family"] = np.full(36, "vit", object)
    tables = probe_scores(units, {"features": {"one": ["rise"]}, "probes": [PROBE]})
    rows = tables["probe_scores"].to_pylist()
    assert [(row["label"], row["auroc"], row["reason"]) for row in rows] == [
        (label, None, "no other family") for label in LABELS
    ]


def test_pairs_are_those_of_the_library(units):
    rows = matched_pairs(units, {"tolerance": 0.05})["matched_pairs"].to_pylist()
    expected = match_cases(
        units["abs_response"], units["labels"], [units["model_id"], units["pair_id"]], 0.05
    )
    assert 0 < len(rows) == len(expected)
    for position, (row, (left, right)) in enumerate(zip(rows, expected, strict=True)):
        assert row["position"] == position
        for side, unit in (("left", left), ("right", right)):
            assert row[f"{side}_model_id"] == units["model_id"][unit]
            assert row[f"{side}_source_id"] == units["source_id"][unit]
            assert row[f"{side}_abs_response"] == units["abs_response"][unit]


def test_without_a_behaviour_there_is_no_pair(units):
    units["labels"][:] = False
    assert matched_pairs(units, {"tolerance": 0.05})["matched_pairs"].num_rows == 0


def test_what_is_committed_stays_and_what_is_missing_is_made(tmp_path):
    store = open_root(tmp_path)
    labels = {"kind": "behaviours"}
    settings = of_scenes(tmp_path, [network_card("m", weights="none.safetensors")], labels=labels)
    study = Study(**settings | {"study": "s", "warehouse": str(tmp_path)})
    units = [
        Unit("analyse", name, None, None, {"definition": json.dumps(definition)})
        for name, definition in analyses().items()
    ]
    tasks = [task(store, study, unit) for unit in units]
    for one in tasks:
        run_task(one)
    assert receipts.read_one(store, UNITS, "s", tasks[1].destination.key).files == (), (
        "there is no unit"
    )
    made = receipts.read_one(store, UNITS, "s", tasks[1].destination.key)
    (tmp_path / layout.receipt(UNITS, "s", tasks[0].destination.key)).unlink()
    for one in tasks:
        run_task(one)
    assert receipts.keys(store, UNITS, "s") == {one.destination.key for one in tasks}
    assert receipts.read_one(store, UNITS, "s", tasks[1].destination.key) == made


def task(store, study, unit):
    destination = Destination(store, study.study, commit_key((unit,)), {})
    part, files = BlockPart(None, np.empty(0, np.int64)), InputFiles(Path("none"))
    return Task((unit,), None, study, None, (part,), files, StoredUnits(), destination, 64)
