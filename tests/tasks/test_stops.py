"""Where models stopped is recorded, and versions that others are compared with are found again."""

import json

import pytest
from registry_folder import CARD, put
from small_studies import LINEAR, of_scenes, untrained

from decaf.errors import BadInput
from decaf.plan.resolution import list_entries, recorded_card, resolve
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.plan import plan_audit
from tasks.stops import commit_stops, is_scored, stops_of
from warehouse.commits.writer import open_root

STOP = {"model_id": "a", "block_count": 2, "planned_block_count": 9, "source_count": 4}
STOP |= {"planned_source_count": 18, "is_decided": True}


def test_stops_are_found_by_the_run_that_would_score_all(tmp_path):
    store = open_root(str(tmp_path / "warehouse"))
    assert stops_of(store, "s", "whole") is None
    commit_stops(store, "s", "stopped", "whole", [STOP], [])
    commit_stops(store, "s", "to_the_end", "other", [], [])
    assert stops_of(store, "s", "whole") == {"a": 2}
    assert stops_of(store, "s", "other") == {}
    assert stops_of(store, "s", "stopped") is None


@pytest.mark.parametrize(
    ("model", "block", "is_it"),
    [
        ("a", 1, True),
        ("a", 2, False),
        ("b", 8, True),  # it was scored to the end
        ("a", None, True),  # its training
        (None, 8, True),
    ],
)
def test_blocks_before_the_stop_are_scored(model, block, is_it):
    assert is_scored(Unit("score", "blend", model, block, {}), {"a": 2}) is is_it


def test_a_version_is_what_the_run_has_recorded_of_it(opened, tmp_path):
    folder = put(tmp_path / "zoo" / "net" / "1", seed=0)
    study, _ = opened()
    (found,) = resolve(study, list_entries(study.registry))
    text = found.card.model_dump_json()
    assert recorded_card(study, "net", text, found.weights) == found.card

    refused(study, text, "0" * 64, "its files have changed since that run")
    refused(study, json.dumps({"source": "network"}), found.weights, "cannot be used")
    registry = study.registry.model_copy(update={"trusted": ()})
    distrusting = study.model_copy(update={"registry": registry})
    refused(distrusting, text, found.weights, "leaning")
    own = registry.model_copy(update={"cards": {"net": CARD}})
    owning = study.model_copy(update={"registry": own})
    assert recorded_card(owning, "net", text, found.weights) == found.card
    other_code = text.replace("leaning:build", "other:build")
    refused(owning, other_code, found.weights, "other:build")
    (folder / "leaning.safetensors").unlink()
    refused(study, text, found.weights, "leaning.safetensors")


def refused(study, text, weights, words):
    with pytest.raises(BadInput, match=words):
        recorded_card(study, "net", text, weights)


def test_other_rules_make_another_run_of_the_same_units(tmp_path):
    card = untrained(tmp_path, "one", **LINEAR)
    stop = {"when": "interval", "metric": "evidence", "half_width": 0.1}

    def planned(**changed):
        study = Study(**of_scenes(tmp_path, [card], 8, stop=stop | changed, sources_per_block=2))
        return plan_audit(study, study.pair_set())

    one = planned()
    for changed in ({"error": 0.1}, {"half_width": 0.2}, {"at_most": "3 blocks"}, {"every": 2}):
        other = planned(**changed)
        assert other.run_id != one.run_id
        assert {unit.key for unit in other.work.units} == {unit.key for unit in one.work.units}
    # Other blocks have other pairs.
    assert {unit.key for unit in planned(seed=1).work.units} != {
        unit.key for unit in one.work.units
    }
    assert planned().run_id == one.run_id
