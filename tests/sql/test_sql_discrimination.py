"""AUROC, AUPRC and magnitude bins of the SQL against their definitions."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from judging import auprc, auroc, quantile_bins
from random_audit import near


def test_discrimination_by_hand(ask):
    labels, scores = [0, 1, 1, 0, 1, 1, 0, 1], [0.1, 0.4, 0.2, 0.2, None, 3.0, float("nan"), None]
    groups = ["a"] * 5 + ["b"] * 2 + ["c"]
    columns = {"g": groups, "label": labels, "score": scores}
    rows = ask("discrimination", "FROM discrimination_by_group('units') ORDER BY g", units=columns)
    assert [tuple(row.values()) for row in rows] == [
        ("a", 2, 2, 0.875, pytest.approx((1 + 2 / 3) / 2), None),
        ("b", 1, 0, None, None, "no negative unit"),
        ("c", 0, 0, None, None, "no unit with a label and a score"),
    ]


def test_labels_are_0_or_1(ask):
    columns = {"g": [1, 1], "label": [0.5, 1.0], "score": [0.1, 0.2]}
    with pytest.raises(duckdb.Error, match="0 or 1"):
        ask("discrimination", "FROM discrimination_by_group('units')", units=columns)


@pytest.mark.parametrize("seed", range(2))
def test_discrimination_of_random_units(ask, seed):
    rng = np.random.default_rng(seed)
    count = 4000
    groups = rng.integers(0, 12, count)
    scores = np.where(groups < 6, rng.integers(-9, 9, count) / 10, rng.normal(size=count))
    scores[rng.random(count) < 0.1] = np.nan
    scores[rng.random(count) < 0.02] = np.inf
    labels = (rng.random(count) < rng.random(12)[groups]) & (groups != 3) | (groups == 4)
    columns = {
        "g": [None if g == 11 else int(g) for g in groups],
        "label": labels,
        "score": pa.array(scores, from_pandas=bool(seed % 2)),
    }
    rows = ask("discrimination", "FROM discrimination_by_group('units')", units=columns)
    assert len(rows) == 12
    for row in rows:
        inside = groups == (11 if row["g"] is None else row["g"])
        y, s = labels[inside], scores[inside]
        assert row["positive_count"] == (y & ~np.isnan(s)).sum()
        assert row["negative_count"] == (~y & ~np.isnan(s)).sum()
        assert row["auroc"] == near(auroc(y, s))
        assert row["auprc"] == near(auprc(y, s))
        assert (row["reason"] is None) == (row["auroc"] is not None)


def test_bins_by_hand(ask):
    columns = {
        "g": ["a"] * 5 + ["b"] * 2 + ["c"],
        "unit": [*range(5), 0, 1, 0],
        "magnitude": [4.0, 1, 2, 3, 9, 5, 5, None],
    }
    rows = ask("quantile_bins", "FROM quantile_bins('units', 2) ORDER BY g, unit", units=columns)
    assert [tuple(row.values())[2:] for row in rows] == [
        (4, 1, 3, 9),
        (1, 0, 1, 3),
        (2, 0, 1, 3),
        (3, 0, 1, 3),
        (9, 1, 3, 9),
        (5, 0, 5, 5),
        (5, 0, 5, 5),
        (None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("columns", "bin_count", "message"),
    [
        ({"g": [0, 0], "unit": [0, 0], "magnitude": [1.0, 2.0]}, 2, "have one magnitude"),
        ({"g": [0], "unit": [0], "magnitude": [1.0]}, 0, "at least 1"),
    ],
)
def test_refusals_of_bins(ask, columns, bin_count, message):
    with pytest.raises(duckdb.Error, match=message):
        ask("quantile_bins", f"FROM quantile_bins('units', {bin_count})", units=columns)


def long_units(rng, group_count=5, unit_count=400):
    """Magnitudes of units by group, and a table that has each unit three times."""
    # Twentieths: many ties, and edges that fall exactly on units.
    groups = [
        rng.integers(0, 40, unit_count) / 20 if g % 2 else rng.random(unit_count)
        for g in range(group_count)
    ]
    columns = {
        "g": np.repeat(np.arange(group_count), 3 * unit_count),
        "unit": np.tile(np.arange(unit_count), 3 * group_count),
        "magnitude": np.tile(groups, 3).ravel(),
    }
    return groups, columns


@pytest.mark.parametrize("bin_count", [1, 7, 12, 20, 500])
def test_bins_of_random_units(ask, bin_count):
    groups, columns = long_units(np.random.default_rng(bin_count))
    sql = f"FROM quantile_bins('units', {bin_count}) ORDER BY g, unit"
    rows = ask("quantile_bins", sql, units=columns)
    for g, magnitude in enumerate(groups):
        reference = quantile_bins(magnitude, bin_count)
        found = [row for row in rows if row["g"] == g]
        assert [row["bin"] for row in found] == reference.bin_of.tolist()
        assert {row["lower_edge"] for row in found} <= set(reference.edges.tolist())
        assert {row["upper_edge"] for row in found} <= set(reference.edges.tolist())
