"""The paper's protocol tables against the kernel, on random audits and from the same draws."""

import json

import numpy as np
import pytest
from random_audit import MODELS, by_cell, model_draws, near, rows_of
from resampling import bootstrap_ratio, bootstrap_spearman

KINDS = {
    "shuffle": ("patches", {"ranking": "random"}),
    "patch": ("patches", {"ranking": "energy"}),
    "blend": ("blend", {}),
}
LIMITS = ("lower_90", "upper_90", "lower_95", "upper_95")


@pytest.fixture
def audit(audit):
    """Random trajectories as those of ImageNet-9 on a blend, an order and a random order."""
    rows = audit
    rows["stg_runs"][0]["config"] = json.dumps({"data": {"adapter": "imagenet9"}})
    for path in rows["stg_paths"]:
        kind, identity = KINDS[path["path"]]
        path |= {"kind": kind, "identity": json.dumps(identity)}
    where = {"study": "s", "run_id": "r"}
    rows["stg_models"] = [where | {"model_id": model} for model in MODELS]
    return rows


def means_on_paths(audit, row):
    """Models that were scored on both paths, and their means there."""
    models = ["m0"] if row["pair_type"] == "solo" else MODELS
    cells = by_cell(audit, "stg_profiles")
    return [
        [
            np.mean([each[row["metric"]] for each in cells[model, row["pair_type"], row[side]]])
            for model in models
        ]
        for side in ("path_a", "path_b")
    ]


def check(row, reference):
    assert row["estimate"] == near(reference.estimate)
    for name in LIMITS:
        assert row[name] == near(getattr(reference, name)), (name, row)


def test_protocol(audit, catalogue):
    connection = catalogue(audit)
    rows = rows_of(connection.sql("FROM paper_imagenet9_protocol"))
    assert len(rows) == 3 * 2 * 5
    for row in rows:
        assert row["path_a"] == "blend"
        blend, patch = means_on_paths(audit, row)
        if not any(blend):
            assert "path_a" in row["reason"]
        elif len(blend) == 1:
            assert row["reason"] == "a single model"
        else:
            draws = model_draws(connection, len(blend), 500, 91702)
            check(row, bootstrap_ratio(patch, blend, draws=draws))


def test_rank_transfer(audit, catalogue):
    connection = catalogue(audit)
    rows = rows_of(connection.sql("FROM paper_imagenet9_rank_transfer"))
    rows += [
        row
        for row in rows_of(connection.sql("FROM paper_imagenet9_order_stability"))
        if row["statistic"] == "rank correlation"
    ]
    assert {row["path_a"] for row in rows} == {"blend", "patch"}
    checked = 0
    for row in rows:
        if row["estimate"] is None:
            assert row["reason"]
            continue
        sides = np.round(means_on_paths(audit, row), 12)
        draws = model_draws(connection, sides.shape[1], 500, 91702)
        check(row, bootstrap_spearman(*sides, draws))
        checked += 1
    assert checked > 10


BENCHMARK, SCAN = {"kind": "behaviours"}, None


@pytest.mark.parametrize(
    ("labels", "split", "foregrounds", "models", "is_official"),
    [
        (BENCHMARK, "deep", 768, 32, True),
        (BENCHMARK, "deep", 767, 32, False),
        (BENCHMARK, "deep", 768, 31, False),
        (BENCHMARK, "score", 768, 32, True),
        (BENCHMARK, "score", 1644, 72, False),
        (SCAN, "score", 1644, 72, True),
        (SCAN, "score", 1496, 72, True),
        (SCAN, "score", 1495, 72, False),
        (SCAN, "score", 1745, 72, False),
        (SCAN, "score", 1644, 32, False),
        (SCAN, "deep", 768, 32, False),
        (SCAN, None, 4050, 72, False),
    ],
)
def test_counts_tell_official_data(catalogue, labels, split, foregrounds, models, is_official):
    data = {"adapter": "imagenet9", "split": split}
    config = json.dumps({"data": data, "labels": labels})
    pairs = [
        {"study": "s", "pairs_digest": "d", "pair_id": f"{k}{kind}", "source_id": str(k)}
        | {"pair_type": kind, "class_id": k % 9}
        for k in range(foregrounds)
        for kind in ("same_rand", "same_next")
    ]
    run = {"study": "s", "run_id": "r", "pairs_digest": "d"}
    given = {
        "stg_runs": [run | {"config": config}],
        "stg_pairs": pairs,
        "stg_models": [{"study": "s", "run_id": "r", "model_id": str(k)} for k in range(models)],
    }
    (row,) = rows_of(catalogue(given).sql("FROM paper_imagenet9_data"))
    assert (row["is_official"], row["foreground_count"]) == (is_official, foregrounds)
    assert ("contents are not compared" in row["why"]) == is_official
