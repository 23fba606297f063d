"""The bootstrap of any relation against the kernel's, from the very same draws."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from resampling import bootstrap_ratio

from decaf.statistics.bootstrap import bootstrap_mean

LEVELS = [0.9, 0.95]
REFERENCES = {
    "difference": lambda x, y, **resampled: bootstrap_mean(x - y, **resampled),
    "ratio": bootstrap_ratio,
}


def draws_of(ask, columns, g, replicates, seed):
    """Positions of the clusters that SQL draws for a group."""
    clusters = f"SELECT position, stratum FROM bootstrap_clusters('entries') WHERE g = '{g}'"
    rows = ask("bootstrap_clusters", clusters, entries=columns)
    layouts = {name: [row[name] for row in rows] for name in ("position", "stratum")}
    layouts["layout"] = [0] * len(rows)
    draws = f"FROM bootstrap_draws('layouts', {replicates}, {seed}) ORDER BY replicate"
    rows = ask("bootstrap_draws", draws, layouts=layouts)
    return np.array([row["positions"] for row in rows])


def compare(row, reference):
    percent = round(100 * row["level"])
    assert row["cluster_count"] == reference.cluster_count
    assert row["replicate_count"] == reference.replicate_count
    for name, expected in (
        ("estimate", reference.estimate),
        ("standard_error", reference.standard_error),
        ("lower_limit", getattr(reference, f"lower_{percent}")),
        ("upper_limit", getattr(reference, f"upper_{percent}")),
    ):
        near = None if np.isnan(expected) else pytest.approx(expected, abs=1e-11, rel=1e-11)
        assert row[name] == near, (name, row)


def test_by_hand(ask):
    """Two clusters of one value each: a quarter of the replicates is 1, a quarter 3."""
    columns = {"g": ["a", "a", "b"], "cluster": [0, 1, 0], "x": [1.0, 3.0, 5.0]}
    rows = ask(
        "bootstrap", "FROM bootstrap_by_group('entries', 400, 7, [0.9]) ORDER BY g", entries=columns
    )
    assert [row["statistic"] for row in rows] == ["mean", "mean"]
    assert (rows[0]["estimate"], rows[0]["cluster_count"], rows[0]["reason"]) == (2, 2, None)
    assert rows[0]["standard_error"] == pytest.approx(0.5**0.5, rel=0.1)
    assert (rows[0]["lower_limit"], rows[0]["upper_limit"]) == (1, 3)
    assert rows[1]["estimate"] == 5
    assert rows[1]["lower_limit"] is rows[1]["upper_limit"] is rows[1]["standard_error"] is None
    assert rows[1]["reason"] == "a single cluster"


@pytest.mark.parametrize(("cluster_count", "is_stratified"), [(3, False), (40, True), (300, False)])
def test_random_entries(ask, cluster_count, is_stratified):
    rng = np.random.default_rng(cluster_count)
    columns = {name: [] for name in ("g", "cluster", "x", "y")}
    groups = {}
    for g in ("all", "gaps", "no y", "twin", "fewer", "no x"):
        present = cluster_count - (g == "fewer")
        cluster = np.concatenate([np.arange(present), rng.integers(0, present, 2 * present)])
        x, y = rng.normal(size=(2, cluster.size)).round(1)
        if g == "gaps":
            x[rng.random(x.size) < 0.4] = np.nan
            y[rng.random(y.size) < 0.4] = np.nan
        x = np.full(x.size, np.nan) if g == "no x" else x
        y = np.full(y.size, np.nan) if g == "no y" else y + 3
        groups[g] = cluster, x, y
        for name, values in zip(columns, ([g] * x.size, cluster, x, y), strict=True):
            columns[name] += list(values)
    columns["x"] = pa.array(columns["x"], from_pandas=True)
    if is_stratified:
        columns["stratum"] = [f"s{cluster % 3}" for cluster in columns["cluster"]]
    rows = ask("bootstrap", f"FROM bootstrap_by_group('entries', 60, 3, {LEVELS})", entries=columns)
    assert len(rows) == 2 * (3 * len(groups) - 2)
    for g, (cluster, x, y) in groups.items():
        draws = draws_of(ask, columns, g, 60, 3)
        assert draws.shape == (60, np.unique(cluster).size)
        if is_stratified:
            sizes = np.bincount(np.unique(cluster) % 3, minlength=3)
            assert all((np.bincount(row % 3, minlength=3) == sizes).all() for row in draws)
        for row in (row for row in rows if row["g"] == g):
            if row["statistic"] == "mean":
                reference = bootstrap_mean(x, clusters=cluster, draws=draws)
            else:
                reference = REFERENCES[row["statistic"]](x, y, clusters=cluster, draws=draws)
            compare(row, reference)


def test_groups_of_the_same_clusters_share_draws(ask):
    x = np.random.default_rng(0).normal(size=30)
    columns = {"g": ["a"] * 30 + ["b"] * 30, "cluster": [*range(30)] * 2, "x": [*x, *(x + 1)]}
    rows = ask(
        "bootstrap", "FROM bootstrap_by_group('entries', 50, 1, [0.9]) ORDER BY g", entries=columns
    )
    for name in ("estimate", "lower_limit", "upper_limit"):
        assert rows[1][name] - rows[0][name] == pytest.approx(1)


def test_draws_are_a_hash_of_their_place(ask):
    """Without strata, the hash of seed, replicate and position, whatever the clusters are."""
    columns = {"g": ["a"] * 300, "cluster": [*range(300)], "x": [0.0] * 300}
    expected = ask(
        "bootstrap",
        "SELECT list((hash(concat_ws(':', 5, replicate, place)) % 300)::INT ORDER BY place) "
        "AS drawn FROM range(4) AS a (replicate), range(300) AS b (place) "
        "GROUP BY replicate ORDER BY replicate",
        entries=columns,
    )
    assert draws_of(ask, columns, "a", 4, 5).tolist() == [row["drawn"] for row in expected]


@pytest.mark.parametrize(
    ("change", "levels", "message"),
    [
        ({"x": [1.0, float("inf")]}, [0.9], "must be finite"),
        ({"cluster": [0, 0], "stratum": ["a", "b"]}, [0.9], "one stratum"),
        ({}, [95], "between 0 and 1"),
    ],
)
def test_refusals(ask, change, levels, message):
    columns = {"g": ["a", "a"], "cluster": [0, 1], "x": [1.0, 2.0]} | change
    with pytest.raises(duckdb.Error, match=message):
        ask("bootstrap", f"FROM bootstrap_by_group('entries', 5, 1, {levels})", entries=columns)


@pytest.mark.parametrize(
    ("accuracy", "answered", "lower", "upper"),
    # R: prop.test(4, 4), prop.test(3, 4) and prop.test(0, 4).
    [(1.0, 4, 0.3957731, 1), (0.75, 4, 0.2194265, 0.9868088), (0.0, 4, 0, 0.6042269)],
)
def test_accuracy_of_a_member_has_the_interval_of_wilson(
    catalogue, accuracy, answered, lower, upper
):
    mean = {"estimate": accuracy, "replicates": [accuracy] * 3}
    limits = catalogue({}).execute(
        "SELECT limits_of_member(metric, $mean, $n) "
        "FROM (VALUES ('accuracy'), ('evidence')) AS metrics (metric) ORDER BY metric",
        {"mean": mean, "n": answered},
    )
    (of_accuracy,), (of_evidence,) = limits.fetchall()
    assert list(of_accuracy.values()) == pytest.approx([lower, upper], abs=1e-7)
    assert list(of_evidence.values()) == [accuracy, accuracy]
