"""Two runs compared: by hand, and against the kernel's paired bootstrap from the same draws."""

from collections import defaultdict
from datetime import UTC, datetime

import duckdb
import numpy as np
import pytest
from random_audit import GRIDS, METRICS, MODELS, model_draws, near, random_audit, rows_of
from test_comparisons import check_limits

from decaf.statistics.bootstrap import bootstrap_mean
from warehouse.query.views import query

SHARED = ("m1", "m1 again")
"""Models whose units the second run took from the first."""


def two_runs(study="s"):
    """An audit, and a later run that scored some models again; in a study of its own, all."""
    audit, later = random_audit(0), random_audit(1)
    shared = SHARED if study == "s" else ()
    for rows in later.values():
        for row in rows:
            row["study"] = study
    later["stg_runs"][0] |= {"run_id": "later", "started_at": datetime(2026, 3, 2, tzinfo=UTC)}
    for row in later["stg_run_units"]:
        row["run_id"] = "later"
    for table in ("stg_trajectories", "stg_profiles", "stg_run_units"):
        for row in later[table]:
            _rename(row, shared)
    if study == "s":
        later["stg_pairs"] = []
        for table in ("stg_trajectories", "stg_profiles"):
            later[table] = [row for row in later[table] if row["model_id"] not in shared]
    return {table: audit[table] + later[table] for table in audit}


def _rename(row, shared):
    """Key of a new unit; m2 is not there any more, and m3 is."""
    if row["model_id"] not in shared:
        row["unit_key"] = f"later {row['unit_key']}"
    if row["model_id"] == "m2":
        row["model_id"] = "m3"


def routed(audit, prefix):
    """Profiles that one run sees, by trajectory."""
    keys = {
        (row["study"], row["unit_key"]) for row in audit["stg_run_units"] if row["run_id"] == prefix
    }
    return {
        (row["model_id"], row["pair_id"], row["path"], row["repetition"]): row
        for row in audit["stg_profiles"]
        if (row["study"], row["unit_key"]) in keys
    }


def role(row):
    if row["abs_response"] == 0:
        return "none"
    if not row["is_endpoint_active"]:
        return "fragility"
    return "evidence" if row["evidence"] >= row["contradiction"] else "contradiction"


@pytest.mark.parametrize("study", ["s", "t"])
def test_means_move(catalogue, study):
    audit = two_runs(study)
    connection = catalogue(audit)
    a, b = routed(audit, "r"), routed(audit, "later")
    pairs = {pair["pair_id"]: pair for pair in audit["stg_pairs"]}
    cells = defaultdict(list)
    for key in a.keys() & b.keys():
        model, pair, path, _ = key
        cells[model, pairs[pair]["pair_type"], path].append(key)
    assert {model for model, _, _ in cells} == set(MODELS) - {"m2"}
    rows = rows_of(connection.sql("FROM run_diff('r', 'lat', 100, 4, [0.9, 0.95])"))
    metrics = ("endpoint_delta", *METRICS)
    assert len(rows) == 2 * len(cells) * len(metrics)
    for row in rows:
        keys = cells[row["model_id"], row["pair_type"], row["path"]]
        x, y = ([side[key][row["metric"]] for key in keys] for side in (b, a))
        clusters = [pairs[key[1]]["source_id"] for key in keys]
        count = len(set(clusters))
        draws = model_draws(connection, count, 100, 4)
        reference = bootstrap_mean(np.subtract(x, y), clusters, draws)
        assert row["change"] == near(reference.estimate)
        assert row["mean_b"] - row["mean_a"] == near(reference.estimate)
        assert (row["source_count"], row["trajectory_count"]) == (count, len(keys))
        check_limits(row, reference)
        if study == "s" and row["model_id"] in SHARED:
            assert row["change"] == row["lower_limit"] == row["upper_limit"] == 0


def test_by_hand(catalogue):
    """One pair turns from evidence to fragility, one is new; d falls from 0.4 to 0.01."""
    run = {"study": "s", "pairs_digest": "d", "epsilon": 0.02}
    names = ("unit_key", "pair_id", "endpoint_delta", *METRICS)
    rows = [
        ("a", "p", 0.4, 0.4, 0.2, 0.1, 0.0, 0.3),
        ("b", "p", 0.01, 0.01, 0.0, 0.0, 0.05, 0.05),
        ("b", "q", 0.3, 0.3, 0.1, 0.1, 0.0, 0.2),
    ]
    of_model = {"study": "s", "model_id": "m", "path": "blend", "repetition": 0}
    profiles = [of_model | dict(zip(names, row, strict=True)) for row in rows]
    for row in profiles:
        row["is_endpoint_active"] = row["endpoint_magnitude"] >= 0.02
    unit = {"study": "s", "model_id": "m", "kind": "route", "name": "blend", "block": 0}
    tables = {
        "stg_runs": [run | {"run_id": "x1"}, run | {"run_id": "x2"}],
        "stg_run_units": [
            unit | {"run_id": "x1", "unit_key": "a", "row_count": 1},
            unit | {"run_id": "x2", "unit_key": "b", "row_count": 2},
        ],
        "stg_pairs": [
            {"study": "s", "pairs_digest": "d", "pair_id": p, "source_id": p, "pair_type": "rand"}
            for p in "pq"
        ],
        "stg_profiles": profiles,
    }
    connection = catalogue(tables)
    found = connection.sql(
        "SELECT metric, mean_a, mean_b, change, lower_limit, reason FROM run_diff('x1', 'x2') "
        "WHERE metric IN ('endpoint_delta', 'fragility') ORDER BY metric"
    ).fetchall()
    assert found == [
        ("endpoint_delta", 0.4, 0.01, -0.39, None, "a single cluster"),
        ("fragility", 0, 0.05, 0.05, None, "a single cluster"),
    ]
    assert connection.sql("FROM run_diff_roles('x1', 'x2')").fetchall() == [
        ("m", "rand", "blend", "evidence", "fragility", 1, 1, True)
    ]
    units = "SELECT unit_key, change, row_count FROM run_diff_units('x1', 'x2') ORDER BY ALL"
    assert connection.sql(units).fetchall() == [("a", "gone", 1), ("b", "new", 2)]


def test_units(catalogue):
    """The second run has m1 again at another epsilon: its trajectories are shared."""
    audit = two_runs()
    routed_again = [
        row
        for row in audit["stg_run_units"]
        if (row["model_id"], row["run_id"], row["kind"]) == ("m1 again", "later", "route")
    ]
    for row in routed_again:
        row["unit_key"] += " at another epsilon"
    committed = ("m1-blend", "m1-blend-profiles", "later m0-blend")
    units = [{"study": "s", "unit_key": unit, "commit_key": "one"} for unit in committed]
    connection = catalogue(audit | {"committed_units": units})
    found = connection.sql(
        "SELECT model_id, kind, unit_key, change, is_made FROM run_diff_units('r', 'later') "
        "WHERE name = 'blend' ORDER BY ALL"
    ).fetchall()
    assert found == [
        ("m0", "route", "later m0-blend-profiles", "new", False),
        ("m0", "route", "m0-blend-profiles", "gone", False),
        ("m0", "score", "later m0-blend", "new", True),
        ("m0", "score", "m0-blend", "gone", False),
        ("m1", "route", "m1-blend-profiles", "shared", True),
        ("m1", "score", "m1-blend", "shared", True),
        ("m1 again", "route", "m1 again-blend-profiles", "gone", False),
        ("m1 again", "route", "m1 again-blend-profiles at another epsilon", "new", False),
        ("m1 again", "score", "m1 again-blend", "shared", False),
        ("m2", "route", "m2-blend-profiles", "gone", False),
        ("m2", "score", "m2-blend", "gone", False),
        ("m3", "route", "later m2-blend-profiles", "new", False),
        ("m3", "score", "later m2-blend", "new", False),
    ]
    counted = connection.sql("SELECT count(*) FROM run_diff_units('r', 'later')").fetchall()
    assert counted == [(len(found) * len(GRIDS),)]


@pytest.mark.parametrize("macro", ["run_diff", "run_diff_units", "run_diff_roles"])
def test_runs_must_be_one_each(catalogue, macro):
    connection = catalogue(two_runs())
    for start, count in (("nowhere", 0), ("", 2), (None, 0)):
        with pytest.raises(duckdb.Error, match=f"{count} runs"):
            connection.sql(f"FROM {macro}('r', $b)", params={"b": start}).fetchall()


def test_a_run_against_itself(catalogue):
    rows = rows_of(catalogue(two_runs()).sql("FROM run_diff('r', 'r')"))
    assert rows
    assert all(row["change"] == 0 for row in rows)


def test_pairs_that_moved_most_have_the_stages_of_both_runs(catalogue):
    audit = two_runs()
    first = audit["stg_paths"][: len(GRIDS)]
    later = [row | {"run_id": "later"} for row in first]
    longer, *others = later
    tables = audit | {"stg_paths": [*first, longer | {"t": [0.0, 1.0]}, *others]}
    runs = {"run_a": "r", "run_b": "later"}
    rows = rows_of(catalogue(tables).sql(query("comparison/pairs"), params=runs))
    assert {row["path"] for row in rows} == {row["path"] for row in others}
    before, now = (
        {
            (row["model_id"], row["pair_id"], row["path"], row["repetition"]): row
            for row in audit["stg_trajectories"]
            if row["unit_key"].startswith("later") == is_later
        }
        for is_later in (False, True)
    )
    for row in rows:
        key = tuple(row[name] for name in ("entry", "pair_id", "path", "repetition"))
        assert row["q_plus_before"] == before[key]["q_plus"]
        assert row["q_plus"] == now[key]["q_plus"]
        parts = ("evidence", "contradiction", "fragility")
        size = sum(abs(row[part] - row[f"{part}_before"]) for part in parts)
        assert row["change_size"] == near(size)
        assert row["rank"] <= 3
    assert not {row["entry"] for row in rows} & set(SHARED), "they did not move"
