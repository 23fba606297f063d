"""Drift between versions: against numpy and scipy from the same draws, on random audits."""

from collections import defaultdict
from datetime import UTC, datetime

import numpy as np
import pytest
from random_audit import GRIDS, model_draws, near, rows_of
from scipy.stats import false_discovery_control
from test_run_diff import role, routed, two_runs

from warehouse.query.views import query

REPLICATES, SEED = 100, 4
EARLIER = ("previous_reaudit_id", "passed_reaudit_id")
ENTRIES = {"first": ("m0", "m0"), "second": ("m2", "m3"), "same": ("m1", "m1")}
RATIOS = {
    "evidence": ("evidence", None),
    "abs_response": ("abs_response", None),
    "endpoint_magnitude": ("endpoint_magnitude", None),
    "active_frac": ("is_endpoint_active", None),
    "contradiction_frac": ("contradiction", "abs_response"),
    "fragility_frac": ("fragility", "abs_response"),
}


def registered(study="s"):
    """Two runs as two re-audits: two entries are another version, one is the same."""
    audit = two_runs(study)
    for run in audit["stg_runs"]:
        run["score"] = "{}"
    audit["stg_paths"] = [
        {"study": run["study"], "run_id": run["run_id"], "path": path, "identity": "i", "t": grid}
        for run in audit["stg_runs"]
        for path, grid in GRIDS.items()
    ]
    audit["stg_registry_entries"] = [
        {"study": "s", "reaudit_id": f"day {side}", "run_id": run, "entry": entry, "name": entry}
        | {"resolved_at": datetime(2026, 3, 1 + side, tzinfo=UTC), "state": "audited"}
        | {"version": str(side), "alias": "", "model_id": models[side]}
        | {"change": "new" if side == 0 else "none" if entry == "same" else "weights"}
        | {"judged_reaudit_id": f"day {side if entry != 'same' else 0}"}
        | dict.fromkeys(EARLIER, "day 0" if side else None)
        for side, run in enumerate(("r", "later"))
        for entry, models in ENTRIES.items()
    ]
    return audit


def cells(audit):
    """Trajectories of both versions, by entry, pair type and path."""
    a, b = routed(audit, "r"), routed(audit, "later")
    pairs = {pair["pair_id"]: pair for pair in audit["stg_pairs"]}
    found = defaultdict(list)
    for entry, (before, now) in ENTRIES.items():
        if entry == "same":
            continue
        for model, *rest in a:
            if model == before and (now, *rest) in b:
                pair = pairs[rest[0]]
                sides = (pair["source_id"], b[now, *rest], a[model, *rest])
                found[entry, pair["pair_type"], rest[1]].append(sides)
    return found


def ratios(rows, metric, draws):
    """Value now and before, in the sample and in every replicate."""
    over, under = RATIOS[metric]
    sources = sorted({source for source, *_ in rows})
    sums = np.zeros((len(sources), 4))
    for source, *sides in rows:
        for place, side in enumerate(sides):
            sums[sources.index(source), 2 * place : 2 * place + 2] += (
                side[over],
                1 if under is None else side[under],
            )
    drawn = np.concatenate([sums.sum(0)[None], sums[draws].sum(axis=1)])
    with np.errstate(invalid="ignore"):
        return drawn[:, 0] / drawn[:, 1], drawn[:, 2] / drawn[:, 3]


@pytest.fixture
def audit():
    return registered()


ASKED = "WITH asked AS (FROM core_entry_versions WHERE is_newest AND is_changed AND NOT is_another"
ASKED += " AND against = 'last_passed')"


def test_changes_have_intervals_and_p_values(audit, catalogue):
    connection = catalogue(audit)
    question = f"{ASKED} FROM drift_of('asked', {REPLICATES}, {SEED}, [0.9, 0.95])"
    rows = rows_of(connection.sql(question))
    expected = cells(audit)
    assert len(rows) == 2 * 9 * len(expected)
    checked = 0
    for row in rows:
        g = row["g"]
        if g["metric"] not in RATIOS:
            continue
        own = expected[g["entry"], g["pair_type"], g["path"]]
        count = len({source for source, *_ in own})
        assert row["source_count"] == count
        if count == 1:
            assert row["change_lower"] is row["p_value"] is None
            continue
        now, before = ratios(own, g["metric"], model_draws(connection, count, REPLICATES, SEED))
        change = (now - before)[1:]
        level = row["level"]
        ends = [(1 - level) / 2, 1 - (1 - level) / 2]
        assert (row["value"], row["value_before"]) == (near(now[0]), near(before[0]))
        assert row["change"] == near(now[0] - before[0])
        assert [row["change_lower"], row["change_upper"]] == near(np.quantile(change, ends))
        assert [row["lower_limit"], row["upper_limit"]] == near(np.quantile(now[1:], ends))
        step = change.round(12)
        tail = min((step <= 0).sum(), (step >= 0).sum())
        assert row["p_value"] == near(min(1, 2 * (1 + tail) / (REPLICATES + 1)))
        checked += 1
    assert checked > 60
    tested = [row for row in rows if row["p_value"] is not None and row["level"] == 0.9]
    adjusted = false_discovery_control([row["p_value"] for row in tested])
    assert [row["p_adjusted"] for row in tested] == near(adjusted)


def numbers(row):
    return {name: value for name, value in row.items() if isinstance(value, float)}


def test_what_stopped_early_has_no_interval(audit, catalogue):
    audit["stg_run_stops"] = [{"study": "s", "run_id": "later", "model_id": "m0"}]
    question = f"{ASKED} FROM drift_of('asked', 20, {SEED}, [0.95]) WHERE source_count > 1"
    before = {str(row["g"]): row for row in rows_of(catalogue(audit).sql(question))}
    audit["stg_run_stops"].append({"study": "s", "run_id": "later", "model_id": "m3"})
    limits = ("lower_limit", "upper_limit", "change_lower", "change_upper", "p_value", "p_adjusted")
    for row in rows_of(catalogue(audit).sql(question)):
        whole = before[str(row["g"])]
        if row["g"]["entry"] == "first":
            assert numbers(row) == pytest.approx(numbers(whole), abs=1e-12)
        else:
            assert {row[name] for name in limits} == {None}
            assert row["value"] == near(whole["value"])
    assert any(row["lower_limit"] is not None for row in before.values())


def test_roles_of_both_versions_are_listed(audit, catalogue):
    expected = defaultdict(set)
    for (entry, pair_type, path), rows in cells(audit).items():
        for _, now, before in rows:
            if role(before) != role(now):
                expected[entry, pair_type, path, role(before), role(now)].add(now["pair_id"])
    names = ("entry", "pair_type", "path", "role_before", "role_now")
    rows = rows_of(catalogue(audit).sql("FROM out_role_changes"))
    assert {tuple(row[name] for name in names): set(row["pair_ids"]) for row in rows} == expected


def test_paths_and_scores_that_are_others_are_not_compared(audit, catalogue):
    for path in audit["stg_paths"]:
        if (path["run_id"], path["path"]) == ("later", "patch"):
            path["identity"] = "another"
    rows = rows_of(catalogue(audit).sql("FROM out_drift"))
    moved = [row for row in rows if row["entry"] != "same"]
    assert {row["path"] for row in moved if row["change"] is None} == {"patch"}
    assert all(row["value"] is not None for row in rows if row["metric"] == "evidence")
    audit["stg_runs"][1]["score"] = "another"
    rows = rows_of(catalogue(audit).sql("FROM out_drift"))
    assert {(row["change"], row["reason"]) for row in rows if row["entry"] != "same"} == {
        (None, "the score differs")
    }


@pytest.mark.slow
def test_both_comparisons_are_shown_where_they_differ(audit, catalogue):
    """Nothing passed before: the change is that from the version before, and there is no other."""
    alike = rows_of(catalogue(audit).sql("FROM out_drift WHERE entry <> 'same'"))
    for row in audit["stg_registry_entries"]:
        row["passed_reaudit_id"] = None
    rows = rows_of(catalogue(audit).sql("FROM out_drift"))
    assert {row["against"] for row in alike} == {"last_passed"}
    previous = [row for row in rows if row["against"] == "previous"]
    for name in ("change", "p_value", "p_adjusted"):
        found, expected = ([row[name] or 0 for row in side] for side in (previous, alike))
        assert found == near(expected)
    passed = [row for row in rows if row["against"] == "last_passed"]
    assert {(row["entry"] == "same", row["change"], row["reason"]) for row in passed} == {
        (False, None, "no version before it has passed"),
        (True, None, "there is no version before it"),
    }
    assert {row["against"] for row in rows_of(catalogue(audit).sql("FROM out_role_changes"))} == {
        "previous"
    }


def test_drift_stays_as_it_was_when_another_entry_moves_later(audit, catalogue):
    """Its adjusted p-values too, though of what changed with it one entry is another by now."""
    first = "FROM out_drift WHERE entry = 'first'"
    then = rows_of(catalogue(audit).sql(first))
    assert {row["resolved_at"] for row in then} == {datetime(2026, 3, 2, tzinfo=UTC)}
    audit["stg_registry_entries"] += [
        row
        | {"reaudit_id": "day 2", "resolved_at": datetime(2026, 3, 3, tzinfo=UTC)}
        | dict.fromkeys(EARLIER, "day 1")
        | ({"change": "weights", "judged_reaudit_id": "day 2"} if row["entry"] == "second" else {})
        for row in audit["stg_registry_entries"][len(ENTRIES) :]
    ]
    connection = catalogue(audit)
    for row, before in zip(rows_of(connection.sql(first)), then, strict=True):
        assert row == {name: near(v) if isinstance(v, float) else v for name, v in before.items()}
    dates = "SELECT DISTINCT entry, resolved_at::DATE::VARCHAR FROM out_drift ORDER BY entry"
    assert connection.sql(dates).fetchall() == [
        ("first", "2026-03-02"),
        ("same", "2026-03-01"),
        ("second", "2026-03-03"),
    ]


def test_history_has_every_version(audit, catalogue):
    rows = rows_of(catalogue(audit).sql("FROM out_history WHERE metric = 'evidence'"))
    found = {(row["entry"], row["version"]) for row in rows}
    assert found == {
        ("first", "0"),
        ("first", "1"),
        ("second", "0"),
        ("second", "1"),
        ("same", "0"),
    }
    assert {row["since_before"] is None for row in rows if row["version"] == "0"} == {True}


def test_the_view_shows_the_responses_of_the_history(audit, catalogue):
    connection = catalogue(audit)
    first = "FROM out_history WHERE entry = 'first' AND version = '0' AND metric = 'abs_response'"
    history = {(row["pair_type"], row["path"]): row for row in rows_of(connection.sql(first))}
    of_entry = connection.sql(query("view/history"), params={"study": "s", "entry": "first"})
    shown = rows_of(of_entry)
    assert list(dict.fromkeys(row["version"] for row in shown)) == ["1", "0"]
    of_first = [row for row in shown if row["version"] == "0"]
    assert {(row["pair_type"], row["path"]) for row in of_first} == history.keys()
    for row in of_first:
        expected = history[row["pair_type"], row["path"]]
        assert row["abs_response"] == near(expected["value"])
        assert row["lower_95"] == near(expected["lower_limit"])
        assert row["upper_95"] == near(expected["upper_limit"])
