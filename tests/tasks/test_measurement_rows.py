import numpy as np

from tasks.rows import attribution_rows, corruption_rows

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
            "measurement_key": "key",
            "pair_id": "p",
            "method": "rise",
            "region_score": 1.5,
            "region_pixels": 4,
        }
    ]
