from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decaf.errors import UnknownName
from decaf.studies.scenes.factors import (
    FACTORS,
    SCENE_COUNT,
    Factor,
    counterfactual,
    has_counterfactual,
    level_map,
    scene_index,
    scene_levels,
)

HUES = ("floor_hue", "wall_hue", "object_hue")
NAMES = [factor.name for factor in FACTORS]
SEEDS = (3, 20260882, 20260883, 2**32 - 1)
EVERY_MAP = [pair for pair in product(NAMES, (1, 2, *SEEDS)) if pair != ("shape", 2)]


def test_factors_are_those_of_3d_shapes_in_order():
    others = (Factor("size", 8), Factor("shape", 4), Factor("orientation", 15))
    assert (*(Factor(name, 10) for name in HUES), *others) == FACTORS
    assert SCENE_COUNT == 480_000


def test_one_step_of_each_factor_moves_by_its_stride():
    steps = scene_index(np.eye(6, dtype=int))
    assert steps.tolist() == [48_000, 4_800, 480, 60, 15, 1]
    assert steps.dtype == np.int64


def test_hand_computed_scene():
    index = scene_index(np.array([[9, 9, 9, 7, 3, 14], [3, 1, 4, 1, 0, 5]], dtype=np.uint8))
    assert index.tolist() == [479_999, 3 * 48_000 + 4_800 + 4 * 480 + 60 + 5]
    levels = scene_levels(index)
    assert levels.tolist() == [[9, 9, 9, 7, 3, 14], [3, 1, 4, 1, 0, 5]]
    assert levels.dtype == np.uint8


def test_no_scenes():
    assert scene_levels(np.array([], dtype=int)).shape == (0, 6)
    assert scene_index(np.empty((0, 6), dtype=int)).shape == (0,)
    assert counterfactual(np.array([], dtype=int), "size").shape == (0,)


@given(st.lists(st.integers(0, SCENE_COUNT - 1), min_size=1))
def test_levels_and_index_are_inverses(index):
    assert scene_index(scene_levels(np.array(index))).tolist() == index


@pytest.mark.parametrize(
    ("factor", "map", "levels", "mapped"),
    [
        ("wall_hue", 1, range(10), [5, 6, 7, 8, 9, 0, 1, 2, 3, 4]),
        ("wall_hue", 2, range(10), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        ("size", 1, range(8), [7, 6, 5, 4, 3, 2, 1, 0]),
        ("size", 2, range(8), [4, 5, 6, 7, 0, 1, 2, 3]),
        ("shape", 1, [0, 1], [1, 0]),
        ("orientation", 1, [0, 1, 6, 8, 14], [14, 13, 8, 6, 0]),
        ("orientation", 2, [0, 1, 6, 7, 13], [7, 8, 13, 0, 6]),
    ],
)
def test_maps_level_by_level(factor, map, levels, mapped):
    scenes = np.full((len(levels), 6), 1)
    scenes[:, NAMES.index(factor)] = levels
    moved = scene_levels(counterfactual(scene_index(scenes), factor, map))
    assert moved[:, NAMES.index(factor)].tolist() == mapped


@given(st.sampled_from(NAMES), st.integers(1, 2) | st.integers(3, 2**32 - 1))
def test_a_map_is_a_matching_of_all_levels_but_those_it_leaves(factor, map):
    assume((factor, map) != ("shape", 2))
    levels = level_map(factor, map)
    moved = np.flatnonzero(levels >= 0)
    assert moved.size == {"shape": 2, "orientation": 14}.get(factor, levels.size)
    assert (levels[levels[moved]] == moved).all()
    assert (levels[moved] != moved).all()


def test_the_matchings_of_the_paper():
    # Of XOR, the hue 2 of the object stays in its bin under one map and leaves it under the other.
    assert level_map("object_hue", 20260882).tolist() == [7, 6, 3, 2, 5, 4, 1, 0, 9, 8]
    assert level_map("object_hue", 20260883).tolist() == [3, 7, 6, 0, 8, 9, 2, 1, 4, 5]


def test_seeds_make_different_matchings():
    found = {tuple(level_map("floor_hue", seed).tolist()) for seed in range(3, 103)}
    assert len(found) > 90  # of 945


@pytest.mark.parametrize(("factor", "map"), EVERY_MAP)
def test_a_map_changes_one_factor_and_is_an_involution(factor, map):
    """Of every seventh scene, which are of all levels of all factors."""
    index = np.arange(0, SCENE_COUNT, 7)
    index = index[has_counterfactual(index, factor, map)]
    moved = counterfactual(index, factor, map)
    is_changed = scene_levels(index) != scene_levels(moved)
    assert is_changed.all(axis=0).tolist() == [name == factor for name in NAMES]
    assert is_changed.sum() == len(index)
    assert (counterfactual(moved, factor, map) == index).all()


def test_has_counterfactual_leaves_out_what_no_map_moves():
    scenes = np.zeros((15, 6), dtype=int)
    scenes[:, 5] = np.arange(15)
    assert np.flatnonzero(~has_counterfactual(scene_index(scenes), "orientation")).tolist() == [7]
    unmoved = ~has_counterfactual(scene_index(scenes), "orientation", 2)
    assert np.flatnonzero(unmoved).tolist() == [14]
    scenes = np.zeros((4, 6), dtype=int)
    scenes[:, 4] = np.arange(4)
    assert has_counterfactual(scene_index(scenes), "shape").tolist() == [True, True, False, False]


def test_unknown_factor_and_map():
    with pytest.raises(UnknownName, match="'wall_hu'.*'wall_hue'"):
        counterfactual(np.array([0]), "wall_hu")
    with pytest.raises(UnknownName, match="map 2 of shape"):
        counterfactual(np.array([0]), "shape", 2)
    with pytest.raises(UnknownName, match="map 0 of size"):
        has_counterfactual(np.array([0]), "size", 0)
