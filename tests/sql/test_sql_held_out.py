"""Leave one group out in SQL: by hand, and against scikit-learn."""

import duckdb
import numpy as np
import pytest
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.preprocessing import StandardScaler
from view_tables import define

MACROS = ("held_out_folds", "held_out_units")


@pytest.fixture
def ask():
    """Rows of a query over the table units."""
    opened = []

    def query(sql, rows):
        connection = duckdb.connect(config={"threads": 2})
        opened.append(connection)
        connection.execute(
            "CREATE TABLE units (g VARCHAR, unit INT, labels INT[], features DOUBLE[])"
        )
        if rows:
            connection.executemany("INSERT INTO units VALUES (?, ?, ?, ?)", rows)
        for name in MACROS:
            define(connection, name)
        return connection.sql(sql).to_arrow_table().to_pylist()

    yield query
    for connection in opened:
        connection.close()


BY_HAND = [
    ("vit", 0, [1, 0], [1.0, 5.0]),
    ("vit", 1, [0, 0], [3.0, 5.0]),
    ("swin", 2, [1, 1], [5.0, 5.0]),
    ("swin", 3, [1, 0], [9.0, 6.0]),
    (None, 4, [0, 0], [7.0, None]),
]


def test_folds_by_hand(ask):
    rows = ask("FROM held_out_folds('units') ORDER BY ALL", BY_HAND)
    one_train, one_test = "one class among the training rows", "one class in the held-out group"
    assert [tuple(row.values()) for row in rows] == [
        ("swin", 0, 3, 1, 2, 2, one_test),
        ("swin", 1, 3, 0, 2, 1, one_train),
        ("vit", 0, 3, 2, 2, 1, None),
        ("vit", 1, 3, 1, 2, 0, one_test),
        (None, 0, 4, 3, 1, 0, one_test),
        (None, 1, 4, 1, 1, 0, one_test),
    ]


def test_scales_by_hand(ask):
    rows = ask("FROM held_out_scales('units') ORDER BY ALL", BY_HAND)
    spread = (8 / 3) ** 0.5  # of 1, 3, 5 shifted: 5, 7, 9
    assert [tuple(row.values()) for row in rows] == [
        ("swin", 0, 3, pytest.approx(11 / 3), pytest.approx((56 / 9) ** 0.5)),
        ("swin", 1, 2, 5, 1),  # all training rows are 5
        ("vit", 0, 3, 7, pytest.approx(spread)),
        ("vit", 1, 2, 5.5, 0.5),
        (None, 0, 4, 4.5, pytest.approx(8.75**0.5)),
        (None, 1, 4, 5.25, pytest.approx(0.1875**0.5)),
    ]
    units = ask("FROM held_out_units('units') WHERE held_out = 'vit' ORDER BY unit", BY_HAND)
    assert [row["is_test"] for row in units] == [True, True, False, False, False]
    assert [row["features"][0] for row in units] == pytest.approx(
        [-6 / spread, -4 / spread, -2 / spread, 2 / spread, 0]
    )
    assert [row["features"][1] for row in units] == [-1, -1, -1, 1, None]
    assert list(units[0]) == ["held_out", "is_test", "g", "unit", "labels", "features"]


def test_a_single_group_has_nothing_to_train_on(ask):
    (row,) = ask("FROM held_out_folds('units')", [("vit", 0, [1], [2.0])])
    assert tuple(row.values()) == ("vit", 0, 0, 0, 1, 1, "no other group")
    (row,) = ask("FROM held_out_scales('units')", [("vit", 0, [1], [2.0])])
    assert (row["train_count"], row["mean"], row["scale"]) == (0, None, None)
    (row,) = ask("FROM held_out_units('units')", [("vit", 0, [1], [2.0])])
    assert (row["is_test"], row["features"]) == (True, [None])
    assert ask("FROM held_out_folds('units')", []) == []


@pytest.mark.parametrize("seed", range(3))
def test_random_folds(ask, seed):
    rng = np.random.default_rng(seed)
    families = np.array(["resnet", "vit", "swin", "hybrid"])[rng.integers(0, 4, 90)]
    families[0] = "lonely"
    labels = (rng.random((90, 3)) < [0.5, 0.3, 0.02]).astype(int)
    features = rng.normal(3, 2, (90, 5)).round(1)
    features[:, 3] = 0.1
    features[families != "vit", 4] = 0.7
    features[rng.random((90, 5)) < 0.1] = np.nan
    rows = [
        (family, unit, labels[unit].tolist(), [None if x != x and unit % 2 else x for x in own])
        for unit, (family, own) in enumerate(zip(families.tolist(), features.tolist(), strict=True))
    ]
    folds = {
        (row["held_out"], row["label"]): row for row in ask("FROM held_out_folds('units')", rows)
    }
    units = ask("FROM held_out_units('units') ORDER BY held_out, unit", rows)
    scales = ask("FROM held_out_scales('units') ORDER BY held_out, feature", rows)
    assert len(folds) == 5 * 3
    assert {row["reason"] for row in folds.values()} >= {None, "one class in the held-out group"}
    for train, test in LeaveOneGroupOut().split(features, groups=families):
        held_out = families[test[0]]
        own = [row for row in units if row["held_out"] == held_out]
        assert [row["unit"] for row in own if row["is_test"]] == test.tolist()
        assert [row["unit"] for row in own if not row["is_test"]] == train.tolist()
        scaler = StandardScaler().fit(features[train])
        found = [row for row in scales if row["held_out"] == held_out]
        assert [row["mean"] for row in found] == pytest.approx(scaler.mean_, abs=1e-12)
        assert [row["scale"] for row in found] == pytest.approx(scaler.scale_, abs=1e-12)
        expected = scaler.transform(features)
        standardised = np.array([row["features"] for row in own], float)
        assert standardised == pytest.approx(expected, abs=1e-12, nan_ok=True)
        for label in range(3):
            fold, y = folds[held_out, label], labels[:, label]
            assert (fold["train_count"], fold["test_count"]) == (train.size, test.size)
            assert (fold["train_positives"], fold["test_positives"]) == (
                y[train].sum(),
                y[test].sum(),
            )
            is_defined = all(len(set(y[side])) == 2 for side in (train, test))
            assert (fold["reason"] is None) == is_defined


@pytest.mark.parametrize(
    ("sql", "change", "message"),
    [
        ("FROM held_out_folds('units')", ("vit", 9, [1, 2], [1.0, 1.0]), "expected 0 or 1"),
        ("FROM held_out_folds('units')", ("vit", 9, [1, None], [1.0, 1.0]), "expected 0 or 1"),
        ("FROM held_out_folds('units')", ("vit", 9, [1], [1.0, 1.0]), "as many as"),
        ("FROM held_out_folds('units')", ("vit", 9, None, [1.0, 1.0]), "labels are NULL"),
        ("FROM held_out_units('units')", ("vit", 9, [1, 0], [1.0]), "as many as"),
        ("FROM held_out_scales('units')", ("vit", 9, [1, 0], None), "features are NULL"),
    ],
)
def test_refusals(ask, sql, change, message):
    with pytest.raises(duckdb.Error, match=message):
        ask(sql, [*BY_HAND, change])
