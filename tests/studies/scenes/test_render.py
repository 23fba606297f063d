import colorsys
import itertools

import numpy as np
import pytest

from decaf.studies.scenes.factors import FACTORS, SCENE_COUNT, counterfactual, scene_index
from decaf.studies.scenes.raycast import weight_maps
from decaf.studies.scenes.render import HUES, render

MIDDLE = {"floor_hue": 3, "wall_hue": 6, "object_hue": 0, "size": 4, "shape": 0, "orientation": 7}


def scenes(**levels):
    """Scenes that differ from the middle one in the given factors."""
    columns = [MIDDLE[factor.name] for factor in FACTORS]
    for name, given in levels.items():
        columns[list(MIDDLE).index(name)] = given
    return scene_index(np.stack(np.broadcast_arrays(*np.atleast_1d(*columns)), axis=1))


def is_different(left, right):
    return (left != right).any(axis=-1)


def test_hues_are_tenths_of_the_circle():
    expected = [[255 * part for part in colorsys.hsv_to_rgb(k / 10, 1.0, 1.0)] for k in range(10)]
    np.testing.assert_allclose(HUES, expected, atol=1e-9)


def test_the_corner_of_the_room_is_where_the_projection_puts_it():
    # Camera at 15° around the object: the corner (2.3, 2.3, 0) lies 1.6263 to the left, 7.2169
    # ahead and 2.1 below. Pitched by atan(1.5 / 4.4) that is a depth of 7.5084 and a height of
    # 0.3410, so with a half width of 0.35 column 18.3 and row 41.8 of 96.
    floor, wall, own, white = weight_maps(*np.array([[0], [2], [0]]), 96)[0].reshape(4, 96, 96)
    assert (floor[:40, 18] == 0).all()
    assert (wall[:41, 18] > 0).all()
    assert (floor[43:, 18] > 0).all()
    assert (wall[43:, 18] == 0).all()
    assert own[:, 18].max() == white[:, 18].max() == 0
    assert wall[20, 22] > wall[20, 14], "the wall that faces the lamp is the lighter one"


@pytest.mark.parametrize("shape", range(4))
def test_weights_are_shares(shape):
    size, orientation = np.array([0, 7, 3]), np.array([0, 14, 7])
    maps = weight_maps(size, np.full(3, shape), orientation, 32)
    assert maps.shape == (3, 4, 1024)
    assert maps.min() >= 0
    assert maps.sum(axis=1).max() <= 1


def test_images():
    images = render(np.array([0, SCENE_COUNT - 1]))
    assert images.shape == (2, 32, 32, 3)
    assert images.dtype == np.uint8
    assert render(np.array([5]), size=48).shape == (1, 48, 48, 3)
    assert render(np.array([], dtype=int)).shape == (0, 32, 32, 3)


def test_a_cube_and_a_room_in_red_show_no_other_colour():
    image = render(scenes(floor_hue=0, wall_hue=0, object_hue=0))[0]
    assert image[..., 0].min() > 40
    assert image[..., 1:].max() == 0


def test_only_round_shapes_shine():
    image = render(scenes(floor_hue=0, wall_hue=0, object_hue=0, shape=np.arange(4)))
    assert image[:, ..., 1].max(axis=(1, 2))[0] == 0
    assert (image[2:, ..., 1].max(axis=(1, 2)) > 60).all()


def test_a_scene_does_not_depend_on_its_neighbours():
    hues, shapes = np.random.default_rng(0).integers(0, [[10], [4]], (2, 1500))
    index = scenes(floor_hue=hues, object_hue=hues[::-1], shape=shapes)
    together = render(index)
    order = np.random.default_rng(1).permutation(1500)
    assert (render(index[order]) == together[order]).all()
    for row in (0, 700, 1499):
        assert (render(index[[row]])[0] == together[row]).all()


@pytest.mark.parametrize(
    ("factor", "surface"), [("floor_hue", 0), ("wall_hue", 1), ("object_hue", 2)]
)
def test_a_hue_changes_its_surface_and_nothing_else(factor, surface):
    index = scenes(shape=np.repeat(np.arange(4), 3), orientation=np.tile([0, 7, 12], 4))
    weight = weight_maps(np.full(12, 4), np.repeat(np.arange(4), 3), np.tile([0, 7, 12], 4), 32)
    weight = weight[:, surface].reshape(12, 32, 32)
    for map in (1, 2):
        is_changed = is_different(render(index), render(counterfactual(index, factor, map)))
        assert not is_changed[weight == 0].any()
        assert is_changed[weight > 0.1].all()


def test_images_are_linear_in_each_colour():
    image = render(scenes(floor_hue=[3, 3, 8, 8], wall_hue=[6, 1, 6, 1])).astype(int)
    mixed = image[0] + image[3] - image[1] - image[2]
    assert np.abs(mixed).max() <= 2


def test_a_shape_changes_the_middle_only():
    cube, *others = render(scenes(shape=np.arange(4)))
    for other in others:
        is_changed = is_different(cube, other)
        assert is_changed.sum() > 40
        assert not is_changed[:, :4].any()
        assert not is_changed[:7].any()
        assert not is_changed[-3:].any()


def test_all_shapes_differ_at_any_size_and_orientation():
    size, shape, orientation = np.indices((3, 4, 5)).reshape(3, -1) * [[3], [1], [3]]
    images = render(scenes(size=size, shape=shape, orientation=orientation))
    images = images.reshape(3, 4, 5, 32, 32, 3)
    for one, other in itertools.combinations(range(4), 2):
        gap = np.abs(images[:, one].astype(int) - images[:, other]).max(axis=-1)
        assert ((gap > 25).sum(axis=(-1, -2)) >= 12).all()


@pytest.mark.parametrize("shape", range(4))
def test_the_object_grows_with_its_size(shape):
    levels = np.arange(8)
    red = render(scenes(size=levels, shape=shape))
    blue = render(scenes(size=levels, shape=shape, object_hue=6))
    assert (np.diff(is_different(red, blue).sum(axis=(1, 2))) > 0).all()


def test_every_orientation_is_another_view():
    views = render(scenes(orientation=np.arange(15)))
    for one, other in itertools.combinations(range(15), 2):
        assert is_different(views[one], views[other]).sum() > 40
