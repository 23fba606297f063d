"""Intervals of rank correlations that draw whole clusters, against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.stats import spearmanr

REPLICATES = 200


def draws_of(ask, count):
    layouts = f"SELECT 1 AS layout, range AS position, NULL AS stratum FROM range({count})"
    draws = f"FROM bootstrap_draws('layouts', {REPLICATES}, 7601) ORDER BY replicate"
    sql = f"WITH layouts AS ({layouts}) SELECT positions {draws}"
    return [np.array(row["positions"]) for row in ask("bootstrap_draws", sql)]


def intervals(ask, rows):
    """Count, estimate, limits and reason, by group."""
    entries = dict(zip(("g", "cluster", "x", "y"), zip(*rows, strict=True), strict=True))
    sql = f"FROM spearman_intervals('entries', {REPLICATES}, 7601)"
    found = ask("spearman_intervals", sql, entries=entries)
    return {group: tuple(values) for group, *values in map(dict.values, found)}


def made_up():
    """Eleven clusters of several models; ties, gaps, and a constant side."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(11):
        cluster = f"c{number:02d}"
        for _ in range(rng.integers(1, 5)):
            x, y = rng.integers(0, 6, 2) / 4
            rows.append(("ties", cluster, x, x + y))
            gap = rng.random() < 0.3
            rows.append(("gaps", cluster, None if gap else x, y))
            rows.append(("constant", cluster, x, 0.5))
            rows.append(("nothing", cluster, None, y))
    rows.append(("single", "c00", 0.5, 0.25))
    rows.append(("single", "c00", 0.75, 0.5))
    return rows


def test_intervals_are_those_of_the_drawn_clusters(ask):
    rows = made_up()
    found = intervals(ask, rows)
    for group in ("ties", "gaps"):
        complete = [row for row in rows if row[0] == group and row[2] is not None]
        clusters = sorted({row[1] for row in complete})
        x, y = (np.array([row[side] for row in complete]) for side in (2, 3))
        members = [np.flatnonzero([row[1] == cluster for row in complete]) for cluster in clusters]
        replicates = []
        for positions in draws_of(ask, len(clusters)):
            drawn = np.concatenate([members[position] for position in positions])
            if np.ptp(x[drawn]) and np.ptp(y[drawn]):
                replicates.append(spearmanr(x[drawn], y[drawn]).statistic)
        count, estimate, low_90, high_90, low_95, high_95, reason = found[group]
        assert (count, reason) == (len(complete), None)
        assert estimate == pytest.approx(spearmanr(x, y).statistic)
        expected = np.quantile(replicates, [0.05, 0.95, 0.025, 0.975])
        assert [low_90, high_90, low_95, high_95] == pytest.approx(expected.tolist())
    constant = "all values of one side are equal"
    assert found["constant"][1:] == (None, None, None, None, None, constant)
    assert found["nothing"] == (0, None, None, None, None, None, "fewer than two entries")
    assert found["single"] == (2, pytest.approx(1), *[None] * 4, "a single cluster has no interval")


def test_groups_with_as_many_clusters_share_their_draws(ask):
    """So a group that is another one's negative has its interval turned round."""
    rng = np.random.default_rng(1)
    rows = [
        (name, f"c{number:02d}", x, side * y)
        for number in range(12)
        for x, y in rng.random((3, 2))
        for name, side in (("one", 1), ("other", -1))
    ]
    found = intervals(ask, rows)
    (*_, lower, upper, _), (*_, other_lower, other_upper, _) = found["one"], found["other"]
    assert (lower, upper) == pytest.approx((-other_upper, -other_lower))
