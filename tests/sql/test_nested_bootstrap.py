"""The joint bootstrap of families and seeds, against NumPy and SciPy."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr
from view_tables import define

from warehouse.query import functions

REPLICATES = 200


@pytest.fixture
def connection():
    with duckdb.connect(config={"threads": 2}) as opened:
        functions.register(opened)
        define(opened, "nested_spearman")
        yield opened


def draws_of(connection, sizes):
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE layouts AS SELECT $1::BIGINT[] AS layout, layout AS sizes",
        [sizes],
    )
    rows = connection.sql(
        f"SELECT positions FROM nested_draws('layouts', {REPLICATES}, 7601) ORDER BY replicate"
    ).fetchall()
    return [np.array(row[0]) for row in rows]


def test_a_place_draws_one_group_and_its_clusters_anew(connection):
    draws = draws_of(connection, [3, 3, 3, 3, 3])
    assert len(draws) == REPLICATES
    families = np.array(draws).reshape(REPLICATES, 5, 3) // 3
    assert (families == families[:, :, :1]).all()
    counts = np.bincount(np.concatenate(draws), minlength=15)
    assert counts.sum() == 15 * REPLICATES
    # 200 of each on average: fifteen places, fifteen clusters.
    assert 80 < counts.min() <= counts.max() < 320
    seeds = np.array(draws).reshape(REPLICATES, 5, 3) % 3
    twice = [
        (seeds[r, a], seeds[r, b])
        for r in range(REPLICATES)
        for a in range(5)
        for b in range(a)
        if families[r, a, 0] == families[r, b, 0]
    ]
    assert any((one != other).any() for one, other in twice)


def test_groups_of_other_sizes_are_drawn_with_their_own_clusters(connection):
    ends = np.cumsum([1, 4, 2])
    for positions in draws_of(connection, [1, 4, 2]):
        family = np.searchsorted(ends, positions, side="right")
        sizes = []
        place = 0
        while place < len(positions):
            size = [1, 4, 2][family[place]]
            assert (family[place : place + size] == family[place]).all()
            sizes.append(size)
            place += size
        assert len(sizes) == 3


def made_up(seed):
    """Four families of two or three seeds with several models; ties, gaps, and a constant side."""
    rng = np.random.default_rng(seed)
    rows = []
    for family, seeds in enumerate((3, 3, 2, 3)):
        for number in range(seeds):
            for _ in range(rng.integers(1, 5)):
                x, y = rng.integers(0, 6, 2) / 4
                rows.append(("ties", f"f{family}", number, x, x + y))
                gap = rng.random() < 0.3
                rows.append(("gaps", f"f{family}", number, None if gap else x, y))
                rows.append(("constant", f"f{family}", number, x, 0.5))
                rows.append(("nothing", f"f{family}", number, None, y))
    rows.append(("single", "f0", 1, 0.5, 0.25))
    rows.append(("single", "f0", 1, 0.75, 0.5))
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_intervals_are_those_of_the_drawn_clusters(connection, seed):
    rows = made_up(seed)
    names = ("g", "outer_cluster", "inner_cluster", "x", "y")
    table = pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))
    connection.from_arrow(table).create("given")
    query = f"FROM nested_spearman('given', {REPLICATES}, 7601)"
    found = {row[0]: row[1:] for row in connection.sql(query).fetchall()}
    for group in ("ties", "gaps"):
        complete = [row for row in rows if row[0] == group and row[3] is not None]
        clusters = sorted({row[1:3] for row in complete})
        sizes = [
            sum(family == name for family, _ in clusters) for name in sorted(dict(clusters).keys())
        ]
        x, y = (np.array([row[side] for row in complete]) for side in (3, 4))
        members = [
            np.flatnonzero([row[1:3] == cluster for row in complete]) for cluster in clusters
        ]
        replicates = []
        for positions in draws_of(connection, sizes):
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


def test_groups_with_as_many_clusters_share_their_draws(connection):
    """So a group that is another one's negative has its interval turned round."""
    rng = np.random.default_rng(1)
    rows = [
        (name, f"f{family}", number, x, side * y)
        for family in range(4)
        for number in range(3)
        for x, y in rng.random((3, 2))
        for name, side in (("one", 1), ("other", -1))
    ]
    names = ("g", "outer_cluster", "inner_cluster", "x", "y")
    table = pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))
    connection.from_arrow(table).create("given")
    query = (
        f"SELECT lower_95, upper_95 FROM nested_spearman('given', {REPLICATES}, 7601) ORDER BY g"
    )
    one, other = connection.sql(query).fetchall()
    assert one == pytest.approx((-other[1], -other[0]))
