"""Comparisons of models and paths against the kernel, on random audits and from the same draws."""

from collections import defaultdict

import numpy as np
import pytest
from random_audit import METRICS, by_cell, near, rows_of, source_draws
from resampling import replicate_means

from decaf.statistics.bootstrap import percentile_interval


def resampled_means(audit, draws):
    """Mean and replicates of the mean of every model, pair type, path and metric."""
    sources = defaultdict(set)
    for pair in audit["stg_pairs"]:
        sources[pair["pair_type"]].add(pair["source_id"])
    found = {}
    for (model, pair_type, path), rows in by_cell(audit, "stg_profiles").items():
        present = [each["source_id"] for each in rows]
        absent = sorted(sources[pair_type] - set(present))
        for metric in METRICS:
            values = [each[metric] for each in rows] + [np.nan] * len(absent)
            means = replicate_means(values, draws[pair_type], clusters=present + absent)
            found[model, pair_type, path, metric] = np.nanmean(values), means, len(set(present))
    return found


def check_limits(row, reference, names=("standard_error", "lower_limit", "upper_limit")):
    percent = round(100 * row["level"])
    limits = [getattr(reference, f"{side}_{percent}") for side in ("lower", "upper")]
    for name, expected in zip(names, [reference.standard_error, *limits], strict=True):
        assert row[name] == near(expected), (name, row)
    assert row["replicate_count"] == reference.replicate_count


@pytest.mark.parametrize("sides", [("model", "m0", "m2"), ("path", "blend", "patch")])
def test_differences(audit, catalogue, sides):
    kind, *names = sides
    connection = catalogue(audit)
    means = resampled_means(audit, source_draws(connection, 100, 4))
    side = "model_id" if kind == "model" else "path"
    sql = f"FROM mean_differences('{side}', '{names[0]}', '{names[1]}', 100, 4, [0.9, 0.95])"
    rows = rows_of(connection.sql(sql))
    cells = {cell[1:] if kind == "model" else (cell[0], *cell[1::2]) for cell in means}
    assert rows
    assert len(rows) <= 2 * len(cells)
    for row in rows:
        keys = [
            (
                name if kind == "model" else row["model_id"],
                row["pair_type"],
                name if kind == "path" else row["path"],
                row["metric"],
            )
            for name in names
        ]
        (a, a_means, a_count), (b, b_means, b_count) = (means[key] for key in keys)
        assert row["difference"] == near(a - b)
        count = min(a_count, b_count)
        assert row["source_count"] == count
        check_limits(row, percentile_interval(a - b, a_means - b_means, count))


def test_one_model_against_itself(audit, catalogue):
    """Equal scores and shared draws: no difference in any replicate."""
    sql = "FROM mean_differences('model_id', 'm1', 'm1 again', 20, 4, [0.95])"
    rows = rows_of(catalogue(audit).sql(sql))
    assert rows
    for row in rows:
        for name in ("difference", "standard_error", "lower_limit", "upper_limit"):
            assert row[name] == pytest.approx(0, abs=1e-14)
