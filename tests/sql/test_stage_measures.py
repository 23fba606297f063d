"""Other stages, other measures and other sides of the gate, against the kernel."""

from operator import itemgetter

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from random_audit import EPSILON, GRIDS, METRICS, by_cell, cell_of, near, rows_of
from view_tables import define

from decaf.routing.integrals import integrate
from decaf.routing.profiles import profile
from decaf.routing.quadrature import trapezoid_weights
from decaf.routing.thresholds import sweep

QUANTITIES = ("endpoint_delta", *METRICS, "net_response", "opposed_mass")
KEY = ("model_id", "pair_id", "repetition")
BY_HAND = {
    "pair": ["p", "q"],
    "t": [[0, 0.25, 0.5, 0.75, 1.0]] * 2,
    "q_plus": [[0, 0, 0.2, 0.4, 0.4], [0, 0, 0, 0, 0.01]],
    "q_minus": [[0, 0.4, 0, 0, 0], [0, 0.8, 0, 0, 0.0]],
}


@pytest.fixture
def by_hand(open_schema):
    with open_schema() as connection:
        connection.from_arrow(pa.table(BY_HAND)).create("mine")
        define(connection, "profiles_on_stages")
        define(connection, "profiles_under_measure")
        yield connection


def components(connection, call):
    sql = f"SELECT evidence, contradiction, fragility FROM {call} ORDER BY pair"
    return [near(row) for row in connection.sql(sql).fetchall()]


def test_stages_by_hand(by_hand):
    for stages, expected in (
        ("[0, 0.25, 0.5, 0.75, 1]", [(0.2, 0.1, 0), (0, 0, 0.20125)]),
        ("[0, 0.5, 1]", [(0.2, 0, 0), (0, 0, 0.0025)]),
        ("[0, 0.25, 1]", [(0.15, 0.2, 0), (0, 0, 0.40375)]),
        ("[0, 1]", [(0.2, 0, 0), (0, 0, 0.005)]),
    ):
        assert components(by_hand, f"profiles_on_stages('mine', {stages}, 0.02)") == expected


def test_measures_by_hand(by_hand):
    for measure, expected in (
        ("[0, 1, 0, 0, 0]", [(0, 0.4, 0), (0, 0, 0.8)]),
        ("[0, 0.5, 0, 0, 0.5]", [(0.2, 0.2, 0), (0, 0, 0.405)]),
    ):
        call = f"profiles_under_measure('mine', {measure}, 0.02)"
        assert components(by_hand, call) == expected
    (row, _) = rows_of(by_hand.sql(f"FROM {call} ORDER BY pair"))
    assert row["sign_flip_frac"] == 0.5
    assert list(row)[:1] == ["pair"]
    assert not {"t", "q_plus", "q_minus", "response", "weights"} & row.keys()


def compare(found, rows, **measured):
    """Rows of SQL against profiles of the same trajectories, by model and pair."""
    keys = [sorted([row[name] for name in KEY] for row in side) for side in (found, rows)]
    assert keys[0] == keys[1]
    found, rows = (sorted(side, key=itemgetter(*KEY)) for side in (found, rows))
    response = np.array([np.subtract(row["q_plus"], row["q_minus"]) for row in rows])
    if "stages" in measured:
        places = [rows[0]["t"].index(stage) for stage in measured["stages"]]
        reference = profile(response[:, places], measured["stages"], EPSILON)
    else:
        reference = profile(response, None, EPSILON, measure=measured["measure"])
    for name in (*QUANTITIES, "is_endpoint_active", "sign_flip_frac"):
        column = np.array([row[name] for row in found], float)  # NULL is NaN
        np.testing.assert_allclose(column, getattr(reference, name), 1e-12, 1e-12, err_msg=name)


def test_stages_of_an_audit(audit, catalogue):
    connection = catalogue(audit)
    for path, stages in (
        ("blend", [0.0, 0.5, 1.0]),
        ("blend", [0.0, 0.125, 0.75, 1.0]),
        ("blend", GRIDS["blend"]),
        ("shuffle", [0.0, 1.0]),
    ):
        rows = [row for row in audit["stg_trajectories"] if row["path"] == path]
        sql = (
            f"WITH mine AS (FROM core_trajectories WHERE path = '{path}') "
            f"FROM profiles_on_stages('mine', {stages}, {EPSILON})"
        )
        compare(rows_of(connection.sql(sql)), rows, stages=stages)


def test_measures_of_an_audit(audit, catalogue):
    connection = catalogue(audit)
    rng = np.random.default_rng(2)
    for path, grid in GRIDS.items():
        rows = [row for row in audit["stg_trajectories"] if row["path"] == path]
        warped = trapezoid_weights(np.square(grid))
        for measure in (rng.dirichlet(np.ones(len(grid))), np.eye(len(grid))[1], warped):
            sql = (
                f"WITH mine AS (FROM core_trajectories WHERE path = '{path}') "
                f"FROM profiles_under_measure('mine', {measure.tolist()}, {EPSILON})"
            )
            compare(rows_of(connection.sql(sql)), rows, measure=measure)
        expected = f"weights_of(list_transform({grid}, lambda u: u ** 2))"
        assert connection.sql(f"SELECT {expected}").fetchall() == [(near(warped.tolist()),)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("profiles_on_stages('mine', [0, 0.3, 1], 0.02)", "stored ones"),
        ("profiles_on_stages('mine', [0, 0.5], 0.02)", "increasing from 0 to 1"),
        ("profiles_on_stages('mine', [0.25, 1], 0.02)", "increasing from 0 to 1"),
        ("profiles_on_stages('mine', [0, 0.5, 0.5, 1], 0.02)", "increasing from 0 to 1"),
        ("profiles_on_stages('mine', [0, NULL, 1], 0.02)", "from 0 to 1|stored ones"),
        ("profiles_on_stages('mine', [], 0.02)", "at least two"),
        ("profiles_on_stages('mine', NULL, 0.02)", "at least two"),
        ("profiles_on_stages('mine', [0, 1], 0)", "finite number above 0"),
        ("profiles_on_stages('mine', [0, 1], NULL)", "finite number above 0"),
        ("profiles_under_measure('mine', [0.5, 0.5], 0.02)", "2 weights for 5 stages"),
        ("profiles_under_measure('mine', [1, 1, 0, 0, 0], 0.02)", "sum 1"),
        ("profiles_under_measure('mine', [-0.5, 1.5, 0, 0, 0], 0.02)", "none below 0"),
        ("profiles_under_measure('mine', [NULL, 1, 0, 0, 0], 0.02)", "none below 0"),
        ("profiles_under_measure('mine', ['nan', '1', '0', '0', '0'], 0.02)", "none below 0"),
        ("profiles_under_measure('mine', [], 0.02)", "sum 1"),
        ("profiles_under_measure('mine', [0, 0, 0, 0, 1], 'inf')", "finite number above 0"),
    ],
)
def test_refusals(by_hand, call, message):
    with pytest.raises(duckdb.Error, match=message):
        by_hand.sql(f"FROM {call}").fetchall()


@pytest.mark.parametrize(("gate", "tolerance"), [(EPSILON, 1e-6), (0.3, 0.011), (0.05, 0.049)])
def test_threshold_flips(audit, catalogue, gate, tolerance):
    """Every row near the threshold, with its profile just below and just above its endpoint."""
    found = rows_of(catalogue(audit).sql(f"FROM threshold_flips({gate}, {tolerance})"))
    near_threshold = {
        (row["model_id"], row["pair_id"], row["path"], row["repetition"]): row
        for row in audit["stg_trajectories"]
        if abs(abs(row["q_plus"][-1] - row["q_minus"][-1]) - gate) <= tolerance
    }
    assert len(found) == len(near_threshold) > 0
    for row in found:
        own = near_threshold[row["model_id"], row["pair_id"], row["path"], row["repetition"]]
        response = np.subtract(own["q_plus"], own["q_minus"])
        d = abs(response[-1])
        open_gate, shut_gate = (profile(response, own["t"], e) for e in (d, d * 1.001))
        here, other = (open_gate, shut_gate) if d >= gate else (shut_gate, open_gate)
        assert row["is_active"] == (d >= gate)
        assert row["distance"] == near(d - gate)
        for name in ("evidence", "contradiction", "fragility"):
            assert row[name] == near(getattr(here, name).item())
            assert row[f"other_{name}"] == near(getattr(other, name).item())


def test_threshold_bounds(audit, catalogue):
    """No mean moves further between the two ends of the tolerance, and the kernel agrees."""
    gate, tolerance = 0.3, 0.0101
    rows = rows_of(catalogue(audit).sql(f"FROM threshold_bounds({gate}, {tolerance})"))
    cells = by_cell(audit, "stg_trajectories")
    assert len(rows) == len(cells)
    assert any(row["flip_count"] for row in rows)
    for row in rows:
        own = cells[cell_of(row)]
        responses = [np.subtract(each["q_plus"], each["q_minus"]) for each in own]
        swept = sweep(integrate(responses, own[0]["t"]), [gate - tolerance, gate + tolerance])
        (step,) = swept.steps
        assert row["flip_frac"] == near(step.crossing_rate)
        assert row["bound"] == near(step.bound)
        assert row["largest_change"] == near(step.fragility_change)
        assert row["largest_change"] <= row["bound"] + 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("threshold_flips(0.02, 0.02)", "below the threshold"),
        ("threshold_flips(0.02, -1e-9)", "below the threshold"),
        ("threshold_flips(0.02, NULL)", "below the threshold"),
        ("threshold_bounds(0, 0)", "finite number above 0"),
    ],
)
def test_threshold_refusals(audit, catalogue, call, message):
    with pytest.raises(duckdb.Error, match=message):
        catalogue(audit).sql(f"FROM {call}").fetchall()
