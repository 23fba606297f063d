"""Comparisons of models and paths against the kernel, on random audits and from the same draws."""

from collections import defaultdict

import numpy as np
import pytest
from random_audit import (
    METRICS,
    MODELS,
    by_cell,
    model_draws,
    near,
    rows_of,
    source_draws,
)
from resampling import bootstrap_ratio, bootstrap_spearman, replicate_means, spearman_rows

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


def means_on_paths(audit, row):
    """Models that were scored on both paths, and their means there."""
    models = ["m0"] if row["pair_type"] == "solo" else MODELS
    cells = by_cell(audit, "stg_profiles")
    return [
        [
            np.mean([each[row["metric"]] for each in cells[model, row["pair_type"], row[side]]])
            for model in models
        ]
        for side in ("path_a", "path_b")
    ]


def drawn_on_paths(means, row):
    """Replicates of every model's mean on both paths, (2, models, replicates)."""
    models = ["m0"] if row["pair_type"] == "solo" else MODELS
    return np.array(
        [
            [means[model, row["pair_type"], row[side], row["metric"]][1] for model in models]
            for side in ("path_a", "path_b")
        ]
    )


def test_path_ratio_intervals(audit, catalogue):
    connection = catalogue(audit)
    rows = rows_of(connection.sql("FROM out_path_ratio_intervals"))
    assert len(rows) == 2 * 2 * 3 * 3 * len(METRICS)
    means = resampled_means(audit, source_draws(connection, 500, 91702))
    for row in rows:
        a, b = means_on_paths(audit, row)
        if not any(a):
            assert row["ratio"] is row["lower_limit"] is row["upper_limit"] is None
            assert row["replicate_count"] == 0
            assert "path_a" in row["reason"]
            continue
        if row["resampled"] == "models":
            draws = model_draws(connection, len(a), 500, 91702)
            reference = bootstrap_ratio(b, a, draws=draws)
        else:
            y, x = np.nanmean(drawn_on_paths(means, row), axis=1)
            ratios = np.divide(x, y, out=np.full(x.shape, np.nan), where=y != 0)
            reference = percentile_interval(np.mean(b) / np.mean(a), ratios, 9)
        assert row["ratio"] == near(reference.estimate)
        assert row["model_count"] == len(a)
        assert (row["reason"] is None) == (len(a) > 1 or row["resampled"] == "sources")
        check_limits(row, reference)
    assert {row["source_count"] for row in rows if row["pair_type"] == "rand"} == {9}


def test_rank_transfer_intervals(audit, catalogue):
    connection = catalogue(audit)
    rows = rows_of(connection.sql("FROM out_rank_transfer_intervals"))
    assert len(rows) == 2 * 2 * 3 * 3 * len(METRICS)
    means = resampled_means(audit, source_draws(connection, 500, 91702))
    for row in rows:
        sides = np.round(means_on_paths(audit, row), 12)
        if row["spearman"] is None:
            assert row["reason"]
            assert row["lower_limit"] is row["upper_limit"] is None
            continue
        if row["resampled"] == "models":
            draws = model_draws(connection, sides.shape[1], 500, 91702)
            reference = bootstrap_spearman(*sides, draws)
        else:
            drawn = np.round(drawn_on_paths(means, row), 12)
            reference = percentile_interval(row["spearman"], spearman_rows(*drawn.mT), 9)
        check_limits(row, reference)


def test_one_model_against_itself(audit, catalogue):
    """Equal scores and shared draws: no difference in any replicate."""
    sql = "FROM mean_differences('model_id', 'm1', 'm1 again', 20, 4, [0.95])"
    rows = rows_of(catalogue(audit).sql(sql))
    assert rows
    for row in rows:
        for name in ("difference", "standard_error", "lower_limit", "upper_limit"):
            assert row[name] == pytest.approx(0, abs=1e-14)
