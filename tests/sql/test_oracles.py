"""The statistics of the SQL against numpy and scipy references, on random audits."""

from collections import defaultdict

import duckdb
import numpy as np
import pytest
from random_audit import (
    EPSILON,
    METRICS,
    MODELS,
    by_cell,
    cell_of,
    near,
    rows_of,
    source_draws,
)
from resampling import spearman
from scipy.stats import spearmanr
from view_tables import define

from decaf.routing.profiles import profile
from decaf.statistics.bootstrap import bootstrap_mean


def test_epsilon_sweep(audit, catalogue):
    thresholds = [0.01, EPSILON, 0.1, 0.5]
    sweep = catalogue(audit).sql("FROM epsilon_sweep($epsilons)", params={"epsilons": thresholds})
    cells = by_cell(audit, "stg_trajectories")
    found = rows_of(sweep)
    assert len(found) == len(cells) * len(thresholds)
    for row in found:
        rows = cells[cell_of(row)]
        responses = [np.subtract(each["q_plus"], each["q_minus"]) for each in rows]
        reference = profile(responses, rows[0]["t"], row["epsilon"])
        assert row["pair_count"] == len({each["pair_id"] for each in rows})
        assert row["active_frac"] == near(reference.is_endpoint_active.mean())
        for metric in METRICS[1:]:
            assert row[metric] == near(getattr(reference, metric).mean())


def test_sweep_refuses_what_the_kernel_refuses(audit, catalogue):
    connection = catalogue(audit)
    for epsilon in (0, -0.1, float("nan"), float("inf")):
        with pytest.raises(duckdb.Error, match="finite number above 0"):
            connection.sql("FROM epsilon_sweep([$e])", params={"e": epsilon}).fetchall()


def test_intervals_from_the_same_draws(audit, catalogue):
    replicates, seed = 200, 3
    connection = catalogue(audit)
    given = {"replicates": replicates, "seed": seed}
    drawn = source_draws(connection, replicates, seed)
    sources = defaultdict(set)
    for pair in audit["stg_pairs"]:
        sources[pair["pair_type"]].add(pair["source_id"])
    cells = by_cell(audit, "stg_profiles")
    found = rows_of(connection.sql("FROM model_intervals($replicates, $seed)", params=given))
    assert len(found) == len(cells) * len(("endpoint_delta", *METRICS))
    for row in found:
        rows = cells[cell_of(row)]
        absent = sorted(sources[row["pair_type"]] - {each["source_id"] for each in rows})
        reference = bootstrap_mean(
            [each[row["metric"]] for each in rows] + [np.nan] * len(absent),
            clusters=[each["source_id"] for each in rows] + absent,
            draws=drawn[row["pair_type"]],
        )
        assert row["source_count"] == reference.cluster_count
        assert row["replicate_count"] == reference.replicate_count
        for name in reference._fields[:6]:
            value = getattr(reference, name)
            assert row[name] is None if np.isnan(value) else row[name] == near(value)
    assert min(row["replicate_count"] for row in found) < replicates


def test_out_intervals_are_500_replicates(audit, catalogue):
    connection = catalogue(audit)
    view = rows_of(connection.sql("FROM out_model_intervals"))
    macro = connection.sql("FROM model_intervals(500, 91702) ORDER BY ALL")
    assert [tuple(row.values())[:5] for row in view] == sorted(
        tuple(row.values())[:5] for row in rows_of(macro)
    )
    twins = {model: [row for row in view if row["model_id"] == model] for model in MODELS[1:3]}
    assert twins["m1"]
    for one, other in zip(*twins.values(), strict=True):
        assert [*one.values()][5:] == near([*other.values()][5:])


def test_draws_are_random_enough(catalogue):
    """Position frequencies, standard error and independence of replicates, for 200 sources."""
    pairs = [
        {"study": "s", "pairs_digest": "d", "pair_id": f"{i}", "source_id": f"{i:03}"}
        | {"pair_type": "rand"}
        for i in range(200)
    ]
    runs = [{"study": "s", "run_id": "r", "pairs_digest": "d"}]
    connection = catalogue({"stg_pairs": pairs, "stg_runs": runs})
    drawn = source_draws(connection, 500, 91702)["rand"]
    assert drawn.shape == (500, 200)
    counts = np.bincount(drawn.ravel(), minlength=200)
    assert ((counts - 500) ** 2 / 500).sum() < 199 + 5 * np.sqrt(2 * 199)
    values = np.random.default_rng(0).normal(size=200)
    means = values[drawn].mean(axis=1)
    assert means.std() == pytest.approx(values.std() / np.sqrt(200), rel=0.1)
    weights = np.stack([np.bincount(row, minlength=200) for row in drawn]) - 1.0
    correlations = np.corrcoef(weights)[np.triu_indices(500, 1)]
    assert np.sqrt(200) * correlations.std() == pytest.approx(1, abs=0.05)


def test_spearman_with_ties_gaps_and_constants(open_schema):
    rng = np.random.default_rng(5)
    sides = {
        "ties": rng.integers(0, 6, (2, 400)).astype(float),
        "all different": rng.normal(size=(2, 50)),
        "gaps": np.where(rng.random((2, 60)) < 0.3, np.nan, rng.integers(0, 9, (2, 60))),
        "constant": np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]),
        "constant where complete": np.array([[1.0, 1.0, 2.0], [1.0, 2.0, np.nan]]),
        "one entry": np.array([[1.0], [2.0]]),
        "nothing": np.array([[np.nan], [2.0]]),
        "two entries": np.array([[1.0, 2.0], [5.0, 4.0]]),
    }
    with open_schema() as connection:
        connection.execute("CREATE TABLE pairs (g VARCHAR, x DOUBLE, y DOUBLE)")
        for g, (x, y) in sides.items():
            for number, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
                # A gap is NULL as well as NaN.
                a = None if a != a and number % 2 else a
                connection.execute("INSERT INTO pairs VALUES (?, ?, ?)", [g, a, b])
        define(connection, "spearman")
        found = {
            row["g"]: row for row in rows_of(connection.sql("FROM spearman_by_group('pairs')"))
        }
    assert found.keys() == sides.keys()
    for g, (x, y) in sides.items():
        reference, row = spearman(x, y), found[g]
        complete = ~np.isnan(x) & ~np.isnan(y)
        assert row["entry_count"] == complete.sum()
        assert (row["spearman"] is None) == np.isnan(reference) == (row["reason"] is not None)
        if row["reason"] is None:
            assert row["spearman"] == near(reference)
            assert row["spearman"] == near(spearmanr(x[complete], y[complete]).statistic)
