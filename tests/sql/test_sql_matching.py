"""Role agreement on matched pairs in SQL: by hand, and against the kernel."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from judging import matched_agreement, role_credit

from decaf.evaluation.matching import match_units

UNITS = pa.schema(
    {"g": pa.string(), "unit": pa.int32(), "labels": pa.list_(pa.int32())}
    | {"scores": pa.list_(pa.float64())}
)
PAIRS = pa.schema({"unit_a": pa.int32(), "unit_b": pa.int32()})


@pytest.fixture
def judge(ask):
    """Rows of a macro over the tables units and pairs."""

    def rows_of(macro, units, pairs):
        units, pairs = (
            pa.table([list(row) for row in zip(*rows, strict=True)] or [[]] * len(schema), schema)
            for rows, schema in ((units, UNITS), (pairs, PAIRS))
        )
        sql = f"FROM {macro}('units', 'pairs') ORDER BY ALL"
        return ask("matched_agreement", sql, units=units, pairs=pairs)

    return rows_of


def test_by_hand(judge):
    units = [
        ("roles", 0, [1, 0, 0], [0.3, 0.1, 0.1]),  # the largest is active: 1
        ("roles", 1, [0, 1, 0], [0.2, 0.2, 0.1]),  # two tie, one is active: 0.5
        ("roles", 2, [1, 1, 0], [0.1, 0.1, 0.2]),  # the largest is not active: 0
        ("roles", 3, [0, 0, 1], [0.0, 0.0, 0.2]),
        ("size", 0, [1, 0, 0], [0.5]),  # one score earns the share of active labels
        ("size", 1, [0, 1, 0], [0.5]),
        ("size", 2, [1, 1, 0], [0.4]),
        ("size", 3, [0, 0, 1], [0.2]),
    ]
    values = judge("matched_pair_values", units, [(0, 1), (2, 3)])
    found = [(row["credit_a"], row["credit_b"], row["value"]) for row in values]
    assert found[:2] == [(1, 0.5, 0.75), (0, 1, 0.5)]
    assert found[2:] == [pytest.approx(x) for x in ((1 / 3, 1 / 3, 1 / 3), (2 / 3, 1 / 3, 0.5))]
    # Pair 0, 1: label 0 goes to 0 (0.3 > 0.2), label 1 to 1 (0.2 > 0.1). Pair 2, 3: two for 2,
    # and label 2 ties.
    assert [(row["ranking_wins"], row["ranking_count"]) for row in values] == [
        (2, 2),
        (2.5, 3),
        (1, 2),
        (2, 3),
    ]
    whole = judge("matched_agreement", units, [(0, 1), (2, 3)])
    assert [tuple(row.values()) for row in whole] == [
        ("roles", 0.625, 0.9, 2, 5, None),
        ("size", pytest.approx(5 / 12), 0.6, 2, 5, None),
    ]


def test_nothing_to_judge(judge):
    units = [("gap", 0, [1, 0], [None, 0.1]), ("gap", 1, [0, 1], [0.1, 0.3])]
    (row,) = judge("matched_agreement", units, [(0, 1)])
    # The credit needs all scores; the ranking of the second label needs only its own.
    assert tuple(row.values()) == ("gap", None, 1, 0, 1, "no pair without a missing score")
    (row,) = judge("matched_agreement", units, [])
    assert tuple(row.values()) == ("gap", None, None, 0, 0, "no matched pair")


def test_equal_coordinates_earn_the_share_of_active_labels(judge):
    """17,416 labels over 16,578 units: what any method earns whose three scores are one."""
    count, labels = 16_578, np.zeros((16_578, 3), int)
    labels[np.arange(count), np.arange(count) % 3] = 1
    twice = np.arange(17_416 - count)
    labels[twice, (twice + 1) % 3] = 1
    assert labels.sum() == 17_416
    units = [("abs", unit, shown, [0.1 * unit]) for unit, shown in enumerate(labels.tolist())]
    (row,) = judge("matched_agreement", units, np.arange(count).reshape(-1, 2).tolist())
    assert row["accuracy"] == pytest.approx(0.3501829734185867, abs=1e-13)
    assert row["pair_count"] == 8289


@pytest.mark.parametrize("seed", range(3))
def test_random_units(judge, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, (120, 3))
    magnitude = rng.integers(1, 40, 120) / 40
    pairs = match_units(magnitude, labels, [np.arange(120)])
    assert len(pairs) > 5
    gaps = np.where(rng.random((120, 3)) < 0.1, np.nan, rng.integers(0, 4, (120, 3)) / 4)
    methods = {
        "ties": rng.integers(0, 3, (120, 3)) / 2,
        "distinct": rng.normal(size=(120, 3)),
        "gaps": gaps,
        "one score": magnitude,
        None: np.full(120, np.nan),
    }
    units = [
        (g, unit, labels[unit].tolist(), np.atleast_1d(scores[unit]).tolist())
        for g, scores in methods.items()
        for unit in range(120)
    ]
    # A missing score is NULL as well as NaN.
    units = [
        (g, unit, y, [None if s != s and unit % 2 else s for s in scores])
        for g, unit, y, scores in units
    ]
    rows = judge("matched_agreement", units, pairs.tolist())
    values = judge("matched_pair_values", units, pairs.tolist())
    assert {row["g"] for row in rows} == methods.keys()
    for row in rows:
        reference = matched_agreement(methods[row["g"]], labels, pairs)
        for name in reference._fields:
            expected = getattr(reference, name)
            missing = np.isnan(expected)
            assert row[name] == (None if missing else pytest.approx(expected, abs=1e-12)), name
        assert (row["reason"] is None) == (row["accuracy"] is not None)
        credit = role_credit(methods[row["g"]], labels)
        for value in (each for each in values if each["g"] == row["g"]):
            for side in "ab":
                expected = credit[value[f"unit_{side}"]]
                found = value[f"credit_{side}"]
                assert found is None if np.isnan(expected) else found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ([("a", 0, [1, 2], [0.5])], "expected 0 or 1"),
        ([("a", 0, [1, None], [0.5])], "expected 0 or 1"),
        ([("a", 0, [], [0.5])], "expected 0 or 1"),
        ([("a", 0, None, [0.5])], "expected 0 or 1"),
        ([("a", 0, [1, 0, 1], [0.5, 0.5])], "2 scores for 3 labels"),
        ([("a", 0, [1, 0], None)], "0 scores for 2 labels"),
        ([("a", 0, [1, 0], [0.5])], "the pair 0, 1 is not among"),
    ],
)
def test_refusals(judge, units, message):
    with pytest.raises(duckdb.Error, match=message):
        judge("matched_agreement", units, [(0, 1)])
