"""Weights of pairs in every mean over pairs: three pairs of the weights 1, 2 and 5, by hand."""

from datetime import UTC, datetime

import numpy as np
import pytest
from random_audit import METRICS, near, rows_of, source_draws
from test_drift import registered
from view_tables import VIEWS

from decaf.routing.profiles import profile

T = [0.0, 0.5, 1.0]
WEIGHTS = {"p1": 1.0, "p2": 2.0, "p3": 5.0}
STILL = [0, 0, 0]
RESPONSES = {
    # E 0.4; E 0.1 and C 0.2; F 0.1
    ("m", "blend"): ([0, 0.4, 0.8], [0, -0.4, 0.4], [0, 0.2, 0]),
    ("m", "patch"): ([0, 0.4, 0.8], STILL, STILL),
    ("n", "blend"): (STILL, STILL, [0, 0.2, 0.4]),  # E 0.2
    ("n", "patch"): (STILL, [0, 0, 0.04], STILL),  # E 0.01
    ("n before", "blend"): (STILL, STILL, STILL),
}


def weighed(**of_pairs):
    """Two runs, of which the later has another model n, as two re-audits of one entry."""
    of_run = {"study": "s", "pairs_digest": "d", "epsilon": 0.02, "score": "{}"}
    days = {"r": datetime(2026, 3, 1, tzinfo=UTC), "later": datetime(2026, 3, 2, tzinfo=UTC)}
    units = {"later": [("m", "m"), ("n", "n")], "r": [("m", "m"), ("n", "n before")]}
    rows = [_rows(name, path, number) for name, path in RESPONSES for number in range(3)]
    return {
        "stg_runs": [of_run | {"run_id": run, "started_at": day} for run, day in days.items()],
        "stg_run_units": [
            {"study": "s", "run_id": run, "unit_key": f"{key}-{path}{part}", "kind": kind}
            | {"name": path, "model_id": model, "block": 0, "row_count": 3}
            for run, own in units.items()
            for model, key in own
            for path in ("blend", "patch")
            for kind, part in (("score", ""), ("route", "-routed"))
        ],
        "stg_paths": [
            {"study": "s", "run_id": run, "path": path, "identity": "i", "t": T}
            for run in days
            for path in ("blend", "patch")
        ],
        "stg_pairs": [
            {"study": "s", "pairs_digest": "d", "pair_id": name, "source_id": f"of {name}"}
            | {"pair_type": "a", "weight": weight}
            for name, weight in (WEIGHTS | of_pairs).items()
        ],
        "stg_trajectories": [trajectory for trajectory, _ in rows],
        "stg_profiles": [routed for _, routed in rows],
        "stg_registry_entries": [
            {"study": "s", "reaudit_id": run, "run_id": run, "entry": "e", "name": "e"}
            | {"resolved_at": days[run], "state": "audited", "version": run, "alias": ""}
            | {"model_id": model, "change": change, "judged_reaudit_id": run}
            | dict.fromkeys(("previous_reaudit_id", "passed_reaudit_id"), before)
            for run, model, change, before in (
                ("r", "m", "new", None),
                ("later", "n", "weights", "r"),
            )
        ],
    }


def _rows(name, path, number):
    response = np.array([RESPONSES[name, path][number]], float)
    key = {"study": "s", "model_id": name.split()[0], "path": path, "repetition": 0}
    key |= {"pair_id": f"p{number + 1}"}
    routed = profile(response, T, 0.02).columns()
    trajectory = {"unit_key": f"{name}-{path}", "t": T, "q_minus": STILL}
    return key | trajectory | {"q_plus": response[0].tolist()}, key | {
        "unit_key": f"{name}-{path}-routed",
        "epsilon": 0.02,
        **{column: values[0].item() for column, values in routed.items()},
    }


VIEWED = [
    name for name, view in VIEWS.items() if view.kind == "out" and name != "out_threshold_flips"
]
"""All results but those that show the weight itself."""
BLEND = "WHERE model_id = 'm' AND path = 'blend'"
ASKED = "WITH asked AS (FROM core_entry_versions WHERE is_newest AND against = 'previous')"
BY_HAND = {
    "out_model_profiles": (
        "SELECT active_frac, endpoint_magnitude, evidence, contradiction, fragility, abs_response, "
        "net_response, evidence_frac, pair_count, endpoint_delta "
        f"FROM out_model_profiles {BLEND}",
        [(3 / 8, 1.6 / 8, 0.6 / 8, 0.4 / 8, 0.5 / 8, 1.5 / 8, 0.2 / 8, 0.6 / 1.5, 3, 1.6 / 8)],
    ),
    "core_model_metrics": (
        f"SELECT mean FROM core_model_metrics {BLEND} AND metric = 'evidence'",
        [(0.6 / 8,)],
    ),
    "out_populations": (
        "SELECT active_frac, evidence, contradiction, fragility, active_evidence, "
        f"active_contradiction, null_fragility FROM out_populations {BLEND}",
        [(3 / 8, 0.6 / 8, 0.4 / 8, 0.5 / 8, 0.6 / 3, 0.4 / 3, 0.1)],
    ),
    "out_mean_trajectories": (
        "SELECT mean_response, evidence, contradiction, fragility, trajectory_count "
        f"FROM out_mean_trajectories {BLEND} ORDER BY stage",
        [(0, 0, 0, 0, 3), (-0.4 / 3, 0.4 / 8, 0.8 / 8, 1 / 8, 3), (1.6 / 3, 1.6 / 8, 0, 0, 3)],
    ),
    "out_stage_grids": (
        "SELECT stage_count, evidence, contradiction, fragility, abs_response, evidence_change "
        f"FROM out_stage_grids {BLEND} ORDER BY stage_count",
        [(2, 0.8 / 8, 0, 0, 0.8 / 8, 0.2 / 8), (3, 0.6 / 8, 0.4 / 8, 0.5 / 8, 1.5 / 8, 0)],
    ),
    "out_role_counts": (
        f"SELECT role, trajectory_count, frac FROM out_role_counts {BLEND} ORDER BY role",
        [
            ("contradiction", 1, 2 / 8),
            ("evidence", 1, 1 / 8),
            ("fragility", 1, 5 / 8),
            ("none", 0, 0),
        ],
    ),
    "epsilon_sweep": (
        "SELECT active_frac, evidence, contradiction, fragility, abs_response, pair_count "
        f"FROM epsilon_sweep([0.5]) {BLEND}",
        [(1 / 8, 0.4 / 8, 0, 1.1 / 8, 1.5 / 8, 3)],
    ),
    "threshold_flips": (
        f"SELECT pair_id, weight, contradiction FROM threshold_flips(0.4, 1e-6) {BLEND}",
        [("p2", 2, 0.2)],
    ),
    "threshold_bounds": (
        "SELECT trajectory_count, flip_count, largest_change, bound "
        f"FROM threshold_bounds(0.4, 1e-6) {BLEND}",
        [(3, 1, 0.6 / 8, 0.8 / 8)],
    ),
    "out_path_ratios": (
        "SELECT mean_a, mean_b, ratio FROM out_path_ratios WHERE metric = 'evidence'",
        [((0.6 + 1) / 16, (0.4 + 0.02) / 16, 0.42 / 1.6)],
    ),
    # Where every pair counts once, m has the larger E on both paths.
    "out_rank_transfer": (
        "SELECT spearman FROM out_rank_transfer WHERE metric = 'evidence'",
        [(-1,)],
    ),
    "mean_differences": (
        "SELECT mean_a, mean_b, difference FROM "
        "mean_differences('path', 'blend', 'patch', 20, 1, [0.9]) "
        "WHERE model_id = 'm' AND metric = 'evidence'",
        [(0.6 / 8, 0.4 / 8, 0.2 / 8)],
    ),
    "run_diff": (
        "SELECT mean_a, mean_b, change, trajectory_count FROM run_diff('r', 'later') "
        "WHERE model_id = 'e' AND path = 'blend' AND metric = 'evidence'",  # n was m
        [(0.6 / 8, 1 / 8, 0.4 / 8, 3)],
    ),
    "run_diff_roles": (
        "SELECT role_a, role_b, trajectory_count, frac FROM run_diff_roles('r', 'later') "
        "WHERE model_id = 'e' AND path = 'blend' ORDER BY role_a",
        [
            ("contradiction", "none", 1, 2 / 8),
            ("evidence", "none", 1, 1 / 8),
            ("fragility", "evidence", 1, 5 / 8),
        ],
    ),
    "out_role_changes": (
        "SELECT role_before, role_now, trajectory_count, frac FROM out_role_changes "
        "WHERE path = 'blend' AND against = 'last_passed' ORDER BY role_before",
        [
            ("contradiction", "none", 1, 2 / 8),
            ("evidence", "none", 1, 1 / 8),
            ("fragility", "evidence", 1, 5 / 8),
        ],
    ),
    "drift_of": (
        f"{ASKED} SELECT g.metric, value_before, value, change "
        "FROM drift_of('asked', 20, 1, [0.95]) WHERE g.path = 'blend' AND g.metric IN "
        "('active_frac', 'evidence', 'fragility_frac') ORDER BY g.metric",
        [
            ("active_frac", 3 / 8, 5 / 8, 2 / 8),
            ("evidence", 0.6 / 8, 1 / 8, 0.4 / 8),
            ("fragility_frac", 0.5 / 1.5, 0, -0.5 / 1.5),
        ],
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_means_by_hand(name, catalogue):
    query, expected = BY_HAND[name]
    rows = catalogue(weighed()).sql(query).fetchall()
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert row == tuple(one if isinstance(one, str) else near(one) for one in wanted)


def test_replicates_are_ratios_of_weighted_sums(catalogue):
    connection = catalogue(weighed())
    draws = source_draws(connection, 50, 3)["a"]
    weights, evidence = np.array([*WEIGHTS.values()]), np.array([0.4, 0.1, 0])
    expected = (weights * evidence)[draws].sum(axis=1) / weights[draws].sum(axis=1)
    found = connection.sql(
        f"SELECT evidence FROM bootstrap_means_of('core_profiles', 50, 3) {BLEND} "
        "AND replicate IS NOT NULL ORDER BY replicate"
    ).fetchall()
    assert [mean for (mean,) in found] == near(expected)
    interval = connection.sql(
        f"SELECT estimate, standard_error FROM model_intervals(50, 3) {BLEND} "
        "AND metric = 'evidence'"
    ).fetchall()
    assert interval == [(near(0.6 / 8), near(expected.std(ddof=1)))]


def test_the_bootstrap_of_any_relation_takes_weights(ask):
    rows = {"g": ["a"] * 3, "cluster": [1, 2, 3], "x": [1.0, 2, 4], "y": [2.0, 2, None]}
    sql = "SELECT statistic, estimate FROM bootstrap_by_group('given', 20, 1, [0.9]) ORDER BY ALL"
    found = ask("bootstrap", sql, given=rows | {"weight": [1.0, 2, 5]})
    assert [(row["statistic"], row["estimate"]) for row in found] == [
        ("difference", near(-1 / 3)),
        ("mean", near(25 / 8)),
        ("ratio", near(5 / 6)),
    ]
    without = ask("bootstrap", sql, given=rows)
    assert without == ask("bootstrap", sql, given=rows | {"weight": [None] * 3})
    assert without[1]["estimate"] == near(7 / 3)


@pytest.mark.slow
def test_equal_weights_are_no_weights(catalogue):
    """Weights of 2 double every sum exactly, so all views have the same bits."""
    connection = catalogue(registered())
    connection.execute("SET threads = 1")  # several add up in any order
    found = []
    for weight in (1, 2):
        connection.execute(f"UPDATE stg_pairs SET weight = {weight}")
        found.append({name: sorted(map(repr, rows_of(connection.table(name)))) for name in VIEWED})
    connection.execute("SET threads = 2")
    assert found[0] == found[1]
    assert all(found[0][name] for name in ("out_model_intervals", "out_drift", "out_role_changes"))


def test_ones_make_an_ordinary_mean_to_the_last_bit(ask):
    values = np.random.default_rng(0).normal(size=50_000)
    rows = {"x": np.where(values > 2, None, values), "weight": np.ones(values.size)}
    sql = "SELECT weighted_mean(x::DOUBLE, weight) AS own, avg(x::DOUBLE) AS plain FROM given"
    (row,) = ask("weighted_mean", f"SELECT * FROM ({sql})", given=rows)
    assert row["own"] == row["plain"]


def test_metrics_by_hand_are_those_of_the_routing():
    found = [profile(np.array([r], float), T, 0.02) for r in RESPONSES["m", "blend"]]
    numbers = [[getattr(one, name)[0] for name in METRICS[1:]] for one in found]
    assert np.allclose(numbers, [[0.4, 0, 0, 0.4], [0.1, 0.2, 0, 0.3], [0, 0, 0.1, 0.1]])
