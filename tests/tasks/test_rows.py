import numpy as np
import pytest

from decaf.data.pairs import PairBlock
from tasks.units.rows import (
    attribution_rows,
    corruption_rows,
    prediction_rows,
    profile_rows,
    trajectory_rows,
)

GRIDS = {"blend": np.array([0, 0.5, 1]), "few": np.array([0, 1.0])}
BLOCK = PairBlock(
    pair_ids=("a", "b"),
    source_ids=("a", "b"),
    image_ids=("x", "y", "z"),
    input_positions=np.arange(3),
    plus=np.array([0, 1]),
    minus=np.array([1, 2]),
    source=np.array([0, 1]),
    class_id=np.array([0, 1]),
    feature=np.zeros(2, int),
)
IDS = {"blend": BLOCK.pair_ids, "few": BLOCK.pair_ids}


def branches(values):
    """(n_pairs, n_stages, 2) scores of the path blend, without repetitions."""
    return {"blend": np.array(values)[:, None]}


WHOLE = [[[0.5, 0.5], [0.6, 0.8], [0.9, 0.5]], [[0.5, 0.5], [0.5, 0.5], [0.51, 0.5]]]


def test_trajectories_are_lists_of_both_branches():
    kept, withheld = trajectory_rows({"blend": "key"}, IDS, GRIDS, branches(WHOLE))
    assert withheld.num_rows == 0
    assert kept.to_pylist()[0] == {
        "unit_key": "key",
        "pair_id": "a",
        "path": "blend",
        "repetition": 0,
        "t": [0, 0.5, 1],
        "q_plus": [0.5, 0.6, 0.9],
        "q_minus": [0.5, 0.8, 0.5],
    }


def test_a_trajectory_with_one_bad_score_is_withheld_whole():
    bad = np.array(WHOLE)
    bad[1, 1] = [np.nan, np.inf]
    kept, withheld = trajectory_rows({"blend": "key"}, IDS, GRIDS, branches(bad))
    assert kept["pair_id"].to_pylist() == ["a"]
    (row,) = withheld.to_pylist()
    assert (row["pair_id"], row["stage_count"], row["non_finite_count"]) == ("b", 3, 2)


def test_a_block_without_a_whole_trajectory_gives_no_rows():
    kept, withheld = trajectory_rows(
        {"blend": "key"}, IDS, GRIDS, branches(np.full((2, 3, 2), np.nan))
    )
    assert (kept.num_rows, withheld.num_rows) == (0, 2)


def test_predictions_leave_out_what_is_not_finite():
    rows = prediction_rows("key", BLOCK, np.array([(0.2, 0.8), (np.nan, 1), (0.7, 0.3)]), True)
    assert rows["image_id"].to_pylist() == ["x", "z"]
    assert rows["predicted_class"].to_pylist() == [1, 0]
    assert rows["class_scores"].to_pylist() == [[0.2, 0.8], [0.7, 0.3]]


def test_a_value_without_classes_predicts_none():
    rows = prediction_rows("key", BLOCK, np.array([(3.5,), (np.nan,), (-1.0,)]), False)
    assert rows["class_scores"].to_pylist() == [[3.5], [-1.0]]
    assert rows["predicted_class"].to_pylist() == [None, None]


def test_profiles_come_from_stored_trajectories_by_hand():
    # First pair: r = 0, -0.2, 0.4 with weights 1/4, 1/2, 1/4. Second: d = 0.01, below the gate.
    kept, _ = trajectory_rows({"blend": "key"}, IDS, GRIDS, branches(WHOLE))
    first, second = profile_rows("profile", kept, 0.02).to_pylist()
    assert first["evidence"] == pytest.approx(0.1)
    assert first["contradiction"] == pytest.approx(0.1)
    assert first["sign_flip_frac"] == pytest.approx(0.5)
    assert second["fragility"] == pytest.approx(0.0025)
    assert second["sign_flip_frac"] is None
    assert (first["epsilon"], first["unit_key"]) == (0.02, "profile")


def test_repetitions_and_paths_keep_their_own_rows_and_stages():
    repeated = np.array(WHOLE)[:, None].repeat(2, axis=1)
    repeated[0, 1] = np.nan
    two = {"blend": repeated, "few": np.array(WHOLE)[:, None, ::2]}
    kept, withheld = trajectory_rows({"blend": "a key", "few": "another"}, IDS, GRIDS, two)
    names = ("unit_key", "path", "pair_id", "repetition")
    assert list(zip(*(kept[name].to_pylist() for name in names), strict=True)) == [
        ("a key", "blend", "a", 0),
        ("a key", "blend", "b", 0),
        ("a key", "blend", "b", 1),
        ("another", "few", "a", 0),
        ("another", "few", "b", 0),
    ]
    assert [withheld[name][0].as_py() for name in names] == ["a key", "blend", "a", 1]
    profiles = profile_rows("profile", kept.slice(3), 0.02)
    assert profiles["path"].to_pylist() == ["few", "few"]
    assert profiles["evidence"][0].as_py() == pytest.approx(0.2)  # r = 0, 0.4: half of d


SHARES = np.array([[[0.7, 0.3], [0.2, 0.8]], [[0.6, 0.4], [np.nan, 0.5]]])


def test_every_finite_image_and_corruption_is_a_row():
    rows = corruption_rows("key", np.array(["a", "b"]), ["blur", "noise"], SHARES)
    assert rows.select(["image_id", "corruption", "predicted_class"]).to_pylist() == [
        {"image_id": "a", "corruption": "blur", "predicted_class": 0},
        {"image_id": "a", "corruption": "noise", "predicted_class": 1},
        {"image_id": "b", "corruption": "blur", "predicted_class": 0},
    ]
    assert rows["class_scores"].to_pylist() == [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]


def test_a_block_without_a_null_pair_has_no_rows():
    none = np.empty((0, 2, 0))
    rows = corruption_rows("key", np.array([], dtype=np.str_), ["blur", "noise"], none)
    assert rows.num_rows == 0


def test_an_attribution_that_is_not_finite_is_left_out():
    rows = attribution_rows("key", ["p", "q"], "rise", np.array([1.5, np.inf]), np.array([4, 9]))
    assert rows.to_pylist() == [
        {
            "unit_key": "key",
            "pair_id": "p",
            "method": "rise",
            "region_score": 1.5,
            "region_pixels": 4,
        }
    ]
