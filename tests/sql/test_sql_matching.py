"""Role agreement on matched pairs in SQL: by hand, and against the kernel."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from judging import matched_agreement, pair_columns, role_credit
from view_tables import define

from decaf.evaluation.matching import match_cases

LABELS = ("contradiction", "evidence", "fragility")


def judged(methods, labels, pairs):
    """Rows of ``core_pair_roles`` by method; scores are (n_units, 3), or (n_units,) for all."""
    count = len(labels)
    names = [f"{unit:05d}" for unit in range(count)]
    scores = {
        method: np.broadcast_to(np.transpose(np.atleast_2d(np.transpose(values))), (count, 3))
        for method, values in methods.items()
    }
    units = pa.table(
        {
            "study": ["s"] * (len(scores) * count * 3),
            "model_id": names * (3 * len(scores)),
            "source_id": [""] * (len(scores) * count * 3),
            "method": np.repeat(list(scores), 3 * count),
            "label": np.tile(np.repeat(LABELS, count), len(scores)),
            "is_shown": np.tile(np.asarray(labels, bool).T.ravel(), len(scores)),
            "score": np.concatenate([values.T.ravel() for values in scores.values()]),
        }
    )
    pairs = np.reshape(np.array(pairs, int), (-1, 2))
    named = {"model_id": np.array(names), "source_id": np.full(count, "")}
    matched = pa.table(
        {"study": ["s"] * len(pairs), "position": np.arange(len(pairs))}
        | pair_columns(pairs, **named)
    )
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.from_arrow(units).create("units")
        # A missing score is NULL as well as NaN.
        connection.execute(
            "CREATE TABLE core_unit_scores AS SELECT * REPLACE (CASE WHEN NOT isnan(score) OR "
            "model_id::INT % 2 = 0 THEN score END AS score), true AS is_complete FROM units"
        )
        connection.from_arrow(matched).create("core_matched_pairs")
        define(connection, "core_pair_roles")
        rows = connection.sql("FROM core_pair_roles ORDER BY position").to_arrow_table().to_pylist()
    return {method: [row for row in rows if row["method"] == method] for method in methods}


def test_by_hand():
    labels = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
    roles = [
        [0.3, 0.1, 0.1],  # the largest is active: 1
        [0.2, 0.2, 0.1],  # two tie, one is active: 0.5
        [0.1, 0.1, 0.2],  # the largest is not active: 0
        [0.0, 0.0, 0.2],
    ]
    # One score earns the share of active labels.
    found = judged({"roles": roles, "size": [0.5, 0.5, 0.4, 0.2]}, labels, [(0, 1), (2, 3)])
    credits = [
        (row["left_credit"], row["right_credit"], row["credit"])
        for method in ("roles", "size")
        for row in found[method]
    ]
    assert credits[:2] == [(1, 0.5, 0.75), (0, 1, 0.5)]
    assert credits[2:] == [pytest.approx(x) for x in ((1 / 3, 1 / 3, 1 / 3), (2 / 3, 1 / 3, 0.5))]
    # Pair 0, 1: label 0 goes to 0 (0.3 > 0.2), label 1 to 1 (0.2 > 0.1). Pair 2, 3: two for 2,
    # and label 2 ties.
    assert [
        (row["ranking_wins"], row["ranking_count"])
        for method in ("roles", "size")
        for row in found[method]
    ] == [(2, 2), (2.5, 3), (1, 2), (2, 3)]


def test_nothing_to_judge():
    """The credit needs all scores; the ranking of the second label needs only its own."""
    scores = [[np.nan, 0.1, 0.0], [0.1, 0.3, 0.0]]
    (row,) = judged({"gap": scores}, [[1, 0, 0], [0, 1, 0]], [(0, 1)])["gap"]
    assert (row["credit"], row["ranking_wins"], row["ranking_count"]) == (None, 1, 1)
    assert judged({"gap": scores}, [[1, 0, 0], [0, 1, 0]], []) == {"gap": []}


def test_equal_coordinates_earn_the_share_of_active_labels():
    """17,416 labels over 16,578 units: what any method earns whose three scores are one."""
    count, labels = 16_578, np.zeros((16_578, 3), int)
    labels[np.arange(count), np.arange(count) % 3] = 1
    twice = np.arange(17_416 - count)
    labels[twice, (twice + 1) % 3] = 1
    assert labels.sum() == 17_416
    pairs = np.arange(count).reshape(-1, 2)
    rows = judged({"abs": 0.1 * np.arange(count)}, labels, pairs)["abs"]
    credit = np.mean([row["credit"] for row in rows])
    assert credit == pytest.approx(0.3501829734185867, abs=1e-13)
    assert len(rows) == 8289


def test_random_units():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (120, 3))
    magnitude = rng.integers(1, 40, 120) / 40
    pairs = match_cases(magnitude, labels, [np.arange(120)])
    assert len(pairs) > 5
    gaps = np.where(rng.random((120, 3)) < 0.1, np.nan, rng.integers(0, 4, (120, 3)) / 4)
    methods = {
        "ties": rng.integers(0, 3, (120, 3)) / 2,
        "distinct": rng.normal(size=(120, 3)),
        "gaps": gaps,
        "one score": magnitude,
        "none": np.full(120, np.nan),
    }
    for method, rows in judged(methods, labels, pairs).items():
        reference = matched_agreement(methods[method], labels, pairs)
        credits = [row["credit"] for row in rows if row["credit"] is not None]
        assert len(credits) == reference.pair_count
        assert sum(row["ranking_count"] for row in rows) == reference.ranking_count
        if credits:
            assert np.mean(credits) == pytest.approx(reference.accuracy, abs=1e-12)
        if reference.ranking_count:
            wins = sum(row["ranking_wins"] for row in rows) / reference.ranking_count
            assert wins == pytest.approx(reference.ranking_accuracy, abs=1e-12)
        credit = role_credit(methods[method], labels)
        for row, units in zip(rows, pairs, strict=True):
            for side, unit in zip(("left", "right"), units, strict=True):
                found, expected = row[f"{side}_credit"], credit[unit]
                assert found is None if np.isnan(expected) else found == pytest.approx(expected)
