"""What is computed over all models at the end: planned by the run, probes on made-up units."""

from types import SimpleNamespace

import numpy as np
import pytest

from decaf.errors import DataError
from decaf.evaluation.matching import match_units
from decaf.evaluation.probes import PROBES, leave_one_group_out
from decaf.plan.analyses import RESPONSE, Analysis, definitions, plan_analyses
from tasks import analyse
from warehouse.commits import layout, receipts
from warehouse.commits.writer import open_root

LABELS = ("evidence", "contradiction", "fragility")
PROBE = "logistic_regression"


def study(attributions=(), behaviours=True):
    return SimpleNamespace(
        study="s",
        data=SimpleNamespace(adapter="imagenet9"),
        behaviours=behaviours,
        attributions=dict.fromkeys(attributions),
    )


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


def test_a_study_without_behaviours_has_no_analyses():
    assert definitions(study(behaviours=False)) == {}
    assert plan_analyses(study(behaviours=False), "run") == []


def test_keys_follow_the_run_and_the_parameters():
    keys = {
        tuple(one.key for one in plan_analyses(study(names), run))
        for run in ("run", "other")
        for names in ((), ("rise",))
    }
    assert len({pairs for pairs, _ in keys}) == 2
    assert len({probes for _, probes in keys}) == 4
    features = definitions(study(("rise", "ixg")))["probe_scores"]["features"]
    assert features["full"] == [*RESPONSE, "ixg", "rise"]
    assert features["spatial"] == ["ixg", "rise"]


def test_a_study_without_attributions_has_no_features_with_spatial_scores():
    features = definitions(study())["probe_scores"]["features"]
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
        definitions(study((name,)))


def test_probes_are_those_of_the_library(units):
    features = {"one": ["endpoint_magnitude", "rise", "is_active"], "none": []}
    analysis = Analysis("probe_scores", "k", {"features": features, "probes": [PROBE]})
    tables = analyse._probe_scores(units, analysis)
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
    for number in range(36):
        name = (units["model_id"][number], units["source_id"][number])
        for position, label in enumerate(LABELS):
            is_shown, probability = known[*name, label]
            assert is_shown == units["labels"][number, position]
            said = expected.probability[number, position]
            assert probability == (None if np.isnan(said) else said)


def test_one_family_has_nothing_to_learn_from(units):
    units["family"] = np.full(36, "vit", object)
    analysis = Analysis("probe_scores", "k", {"features": {"one": ["rise"]}, "probes": [PROBE]})
    tables = analyse._probe_scores(units, analysis)
    rows = tables["probe_scores"].to_pylist()
    assert [(row["label"], row["auroc"], row["reason"]) for row in rows] == [
        (label, None, "no other family") for label in LABELS
    ]


def test_pairs_are_those_of_the_library(units):
    analysis = Analysis("matched_pairs", "k", {"tolerance": 0.05})
    rows = analyse._matched_pairs(units, analysis)["matched_pairs"].to_pylist()
    expected = match_units(
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
    analysis = Analysis("matched_pairs", "k", {"tolerance": 0.05})
    assert analyse._matched_pairs(units, analysis)["matched_pairs"].num_rows == 0


def test_what_is_committed_stays_and_what_is_missing_is_made(tmp_path):
    root = open_root(tmp_path)
    plan = SimpleNamespace(
        root=root,
        run_id="run",
        study=study(),
        analyses=plan_analyses(study(), "run"),
    )
    analyse.make_analyses(plan)
    pairs, probes = (one.key for one in plan.analyses)
    made = receipts.read_one(root, "analyses", "s", probes)
    assert made.inputs["kind"] == "probe_scores"
    assert made.files == (), "there is no unit"
    (tmp_path / layout.receipt("analyses", "s", pairs)).unlink()
    analyse.make_analyses(plan)
    assert receipts.keys(root, "analyses", "s") == {pairs, probes}
    assert receipts.read_one(root, "analyses", "s", probes) == made
