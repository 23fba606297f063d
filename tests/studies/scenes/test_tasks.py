import numpy as np
import pytest

from decaf.studies.scenes.splits import split_scenes
from decaf.studies.scenes.tasks import bins, labels

LEVELS = np.array(
    # floor, wall, object, size, shape, orientation
    [[0, 9, 0, 0, 0, 0], [0, 5, 5, 0, 1, 0], [0, 4, 9, 0, 1, 0], [0, 0, 4, 0, 0, 0]]
)


def test_bins_begin_at_level_five():
    assert bins(LEVELS).tolist() == [[0, 1, 0], [1, 1, 1], [1, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("object_color", [0, 1, 1, 0]),
        ("wall_color", [1, 1, 0, 0]),
        ("object_shape", [0, 1, 1, 0]),
        ("color_shape_xor", [0, 0, 0, 0]),
        ("context_gate", [0, 1, 1, 0]),
        ("context_invert", [0, 1, 0, 1]),
    ],
)
def test_labels_by_hand(task, expected):
    assert labels(task, LEVELS).tolist() == expected


def test_gate_asks_for_the_shape_where_the_wall_is_of_bin_zero():
    levels = np.array([[0, 0, 9, 0, 0, 0], [0, 0, 0, 0, 1, 0]])
    assert labels("context_gate", levels).tolist() == [0, 1]


def test_splits_cut_the_support_of_240000_scenes():
    parts = [split_scenes(split) for split in ("train", "validation", "test")]
    assert [part.size for part in parts] == [168_000, 24_000, 48_000]
    everything = np.concatenate(parts)
    assert np.unique(everything).size == 240_000
    assert set((everything // 15 % 4).tolist()) == {0, 1}
    with pytest.raises(ValueError, match="read-only"):
        parts[0][0] = 0
