"""Progress, costs and warnings against plain counting, on random studies that are half done."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy.stats import binomtest

EPSILON, CLASSES = 0.1, 4
MODELS, SOURCES, BLOCKS = ("m0", "m1", "m2", "m3"), 12, 3
START = datetime(2026, 3, 1, tzinfo=UTC)
SIDES = ("plus_image", "minus_image")
PARTS = ("evidence", "contradiction", "fragility")
SECONDS = ("forward_seconds", "load_seconds", "wall_seconds")
SUMMED = ("forward_rows", "naive_rows", *SECONDS)


def study_rows(rng, study):
    """Staging rows of a study whose second run took over the units of its first in part."""
    rows = defaultdict(list)
    pairs = [
        {"study": study, "pairs_digest": "d", "pair_id": f"{kind}/{source}"}
        | {"source_id": f"s{source}", "pair_type": kind, "class_id": source % CLASSES}
        | {"plus_image": f"same/{source}", "minus_image": f"{kind}/{source}"}
        | {"plus_variant": "same", "minus_variant": kind, "split": "all"}
        for kind in ("rand", "next")
        for source in range(SOURCES)
    ]
    rows["stg_pairs"] = pairs
    for number, run_id in enumerate(("r1", "r2")):
        run = {"study": study, "run_id": run_id, "pairs_digest": "d", "epsilon": EPSILON}
        rows["stg_runs"].append(run | {"started_at": START + timedelta(days=number)})
        remarks = [f"remark {rng.integers(9)} of {run_id}" for _ in range(rng.integers(3))]
        rows["stg_run_remarks"] += [
            {"study": study, "run_id": run_id, "position": position, "remark": remark}
            for position, remark in enumerate(remarks)
        ]
    if rng.random() < 0.5:
        outcome = {"study": study, "run_id": "r2", "finished_at": START + timedelta(days=2)}
        rows["stg_run_outcomes"].append(outcome)
    for model in MODELS:
        for block in range(BLOCKS):
            own = pairs[block::BLOCKS]
            old, new = f"{model}-{block}-r1", f"{model}-{block}-{rng.choice(['r1', 'r2'])}"
            for run_id, key in (("r1", old), ("r2", new)):
                of = {"study": study, "run_id": run_id, "model_id": model, "block": block}
                scored = {"kind": "score", "name": "blend", "row_count": len(own)}
                rows["stg_run_units"] += [
                    of | {"unit_key": f"{key}-clean", "kind": "predict", "name": ""},
                    of | {"unit_key": f"{key}-blend"} | scored,
                    of | {"unit_key": f"{key}-profiles", "kind": "route", "name": "blend"},
                ]
            for key in {old, new}:
                add_block(rng, rows, study, model, block, key, own)
    return rows


def add_block(rng, rows, study, model, block, key, pairs):
    """What the units of a block left behind: nothing, its scores, or its scores and profiles."""
    of, commit = {"study": study, "model_id": model}, {"study": study, "commit_key": key}
    clean, scored, routed = (f"{key}-{unit}" for unit in ("clean", "blend", "profiles"))
    stage = 2 if model == MODELS[-1] else rng.integers(3)
    if stage == 0:
        return
    rows["committed_units"] += [commit | {"unit_key": unit} for unit in (clean, scored)]
    cost = {name: int(rng.integers(0, 50)) for name in ("item_count", "naive_rows", "batch_size")}
    cost |= {"forward_rows": int(rng.integers(0, 1 + cost["naive_rows"]))}
    cost |= {name: float(rng.choice([0.0, 0.25, 1.5])) for name in SECONDS}
    cost |= {"device": str(rng.choice(["cpu", "cuda"])), "peak_memory_bytes": int(rng.integers(99))}
    rows["stg_costs"].append(of | cost | {"commit_key": key, "block": block})
    withheld = [pair for pair in pairs if rng.random() < 0.2]
    rows["stg_quarantine"] += [
        of | {"unit_key": scored, "pair_id": pair["pair_id"], "path": "blend", "repetition": 0}
        for pair in withheld
    ]
    images = {pair[side]: pair["class_id"] for pair in pairs for side in SIDES}
    for image, class_id in images.items():
        # The first model is never right, so that it is below chance.
        right = model != MODELS[0] and rng.random() < 0.6
        predicted = class_id if right else (class_id + 1) % CLASSES
        scores = np.eye(CLASSES)[predicted].tolist()
        rows["stg_predictions"].append(
            of
            | {"unit_key": clean, "image_id": image}
            | {"predicted_class": predicted, "class_scores": scores}
        )
    if stage == 1:
        return
    rows["committed_units"].append(commit | {"unit_key": routed})
    for pair in pairs:
        if pair not in withheld:
            # The last model never reaches the gate; others lie on it, or within the noise of it.
            most = EPSILON / 2 if model == MODELS[-1] else 1
            size = most * float(rng.choice([EPSILON, EPSILON + 5e-7, EPSILON - 1e-3, 0.0, 1.0]))
            parts = dict(zip(PARTS, rng.integers(0, 9, 3) / 8, strict=True))
            row = {"pair_id": pair["pair_id"], "path": "blend", "repetition": 0}
            row |= {"unit_key": routed, "epsilon": EPSILON}
            row |= {"endpoint_magnitude": size, "is_endpoint_active": size >= EPSILON}
            rows["stg_profiles"].append(of | row | parts | {"abs_response": sum(parts.values())})


@pytest.fixture(params=range(4))
def given(request):
    rng = np.random.default_rng(request.param)
    tables = defaultdict(list)
    for study in ("s", "t"):
        for name, rows in study_rows(rng, study).items():
            tables[name] += rows
    return tables


def current(given, table):
    """Rows of the units of the second runs, by study and model; costs are those of commits."""
    keys, column = {(row["study"], row["unit_key"]) for row in planned(given)}, "unit_key"
    if table == "stg_costs":
        rows, column = given["committed_units"], "commit_key"
        keys = {
            (row["study"], row[column]) for row in rows if (row["study"], row["unit_key"]) in keys
        }
    found = defaultdict(list)
    for row in given[table]:
        if (row["study"], row[column]) in keys:
            found[row["study"], row["model_id"]].append(row)
    return found


def planned(given):
    return [row for row in given["stg_run_units"] if row["run_id"] == "r2"]


def blocks_of(given):
    """Blocks of the second runs by study and model, and those with a unit that is not committed."""
    committed = {(row["study"], row["unit_key"]) for row in given["committed_units"]}
    blocks, missing = defaultdict(set), defaultdict(set)
    for row in planned(given):
        blocks[row["study"], row["model_id"]].add(row["block"])
        if (row["study"], row["unit_key"]) not in committed:
            missing[row["study"], row["model_id"]].add(row["block"])
    return blocks, missing


def read(connection, view):
    return connection.sql(f"FROM {view}").to_arrow_table().to_pylist()


def near(value):
    return None if value is None else pytest.approx(value, abs=1e-12)


def test_progress(given, catalogue):
    blocks, missing = blocks_of(given)
    costs, profiles = current(given, "stg_costs"), current(given, "stg_profiles")
    finished = {row["study"] for row in given["stg_run_outcomes"]}
    found = {(row["study"], row["model_id"]): row for row in read(catalogue(given), "out_progress")}
    assert found.keys() == {(study, model) for study in ("s", "t") for model in MODELS}
    for (study, model), row in found.items():
        own = blocks[study, model]
        done = own - missing[study, model]
        spent = costs[study, model]
        assert (row["done_count"], row["block_count"]) == (len(done), len(own))
        assert (row["run_id"], row["is_finished"]) == ("r2", study in finished)
        assert row["forward_rows"] == sum(cost["forward_rows"] for cost in spent)
        seconds = [cost["wall_seconds"] for cost in spent]
        assert row["seconds_per_block"] == near(np.mean(seconds) if seconds else None)
        for part in PARTS:
            values = [one[part] for one in profiles[study, model]]
            assert row[part] == near(np.mean(values) if values else None)


def test_costs(given, catalogue):
    costs = current(given, "stg_costs")
    rows = read(catalogue(given), "out_costs")
    assert [(row["study"], row["model_id"]) for row in rows] == sorted(costs)
    for row in rows:
        own = costs[row["study"], row["model_id"]]
        total = {name: sum(cost[name] for cost in own) for name in SUMMED}
        total["pair_count"] = sum(cost["item_count"] for cost in own)
        assert row["block_count"] == len(own)
        for name in total:
            assert row[name] == near(total[name])
        naive, seconds = total["naive_rows"], total["wall_seconds"]
        saved = 1 - total["forward_rows"] / naive if naive else None
        assert row["rows_saved_frac"] == near(saved)
        assert row["rows_per_second"] == near(total["forward_rows"] / seconds if seconds else None)
        assert row["batch_size"] == max(cost["batch_size"] for cost in own)
        assert row["peak_memory_bytes"] == max(cost["peak_memory_bytes"] for cost in own)
        assert row["device"] == ", ".join(sorted({cost["device"] for cost in own}))


def at_the_gate(profiles):
    """Warnings of trajectories within the noise of the gate, and of cells that never reach it."""
    for (study, model), rows in profiles.items():
        near_gate = [one for one in rows if abs(one["endpoint_magnitude"] - EPSILON) <= 1e-6]
        if near_gate:
            yield study, model, "near_gate", len(near_gate)
        cells = defaultdict(bool)
        for one in rows:
            cells[one["pair_id"].split("/")[0]] |= one["is_endpoint_active"]
        if not all(cells.values()):
            yield study, model, "no_active_pair", None


def still_missing(given):
    """Warnings of models with blocks that are not committed whole."""
    _, missing = blocks_of(given)
    return {(*of, "missing_blocks", len(blocks)) for of, blocks in missing.items()}


def below_chance(given):
    """Warnings of models that are right on factual images no more often than a guess."""
    classes = {pair["plus_image"]: pair["class_id"] for pair in given["stg_pairs"]}
    for (study, model), rows in current(given, "stg_predictions").items():
        # Blocks of a model share images; the first one counts.
        said = {}
        for one in sorted(rows, key=lambda one: one["unit_key"]):
            said.setdefault(one["image_id"], one["predicted_class"])
        right = [said[image] == classes[image] for image in said if image in classes]
        labels = {classes[image] for image in said if image in classes}
        chance = 1 / (len(labels) if len(labels) > 1 else CLASSES)
        interval = right and binomtest(sum(right), len(right)).proportion_ci(0.95, "wilsoncc")
        if right and interval.low <= chance and interval.high < (1 + chance) / 2:
            yield study, model, "below_chance", None


def test_warnings(given, catalogue):
    withheld = current(given, "stg_quarantine")
    expected = {(*of, "quarantined", len(rows)) for of, rows in withheld.items()}
    expected |= {*at_the_gate(current(given, "stg_profiles")), *below_chance(given)}
    expected |= still_missing(given)
    assert {warning for _, _, warning, _ in expected} == {
        *("quarantined", "near_gate", "missing_blocks", "below_chance", "no_active_pair")
    }
    remarks = [row for row in given["stg_run_remarks"] if row["run_id"] == "r2"]
    found = read(catalogue(given), "out_warnings")
    remarked = [(row["study"], row["detail"]) for row in found if row["warning"] == "remark"]
    assert sorted(remarked) == sorted((row["study"], row["remark"]) for row in remarks)
    assert expected == {
        (row["study"], row["model_id"], row["warning"], row["affected_count"])
        for row in found
        if row["warning"] != "remark"
    }
