import numpy as np
import pytest

from decaf.errors import UnknownName
from decaf.studies.scenes.adapters import Scenes
from decaf.studies.scenes.factors import FACTORS, scene_levels

NAMES = [factor.name for factor in FACTORS]


def levels(image):
    return scene_levels(np.array([int(image.image_id.rpartition("-")[2])]))[0]


@pytest.mark.parametrize(
    "changes", [{"wall_hue": 1, "shape": 1}, {"orientation": 1}, {"floor_hue": 2, "size": 1}]
)
def test_every_pair_differs_in_the_changed_factor_alone(changes):
    pairs = Scenes(adapter="scenes", sources=60, seed=3, changes=changes).pair_set()
    assert len(pairs.pairs) == 60 * len(changes)
    for pair in pairs.pairs:
        plus, minus = levels(pairs.inputs[pair.plus]), levels(pairs.inputs[pair.minus])
        assert [NAMES[k] for k in np.flatnonzero(plus != minus)] == [pair.pair_type]
        assert pair.class_id == plus[NAMES.index("shape")] < 2


def test_a_scene_of_two_kinds_is_an_input_of_either():
    pairs = Scenes(adapter="scenes", sources=256, seed=1).pair_set()
    assert len({levels(image).tobytes() for image in pairs.inputs}) < len(pairs.inputs)
    assert len({image.image_id for image in pairs.inputs}) == len(pairs.inputs)
    for pair in pairs.pairs:
        kinds = pairs.inputs[pair.plus].variant, pairs.inputs[pair.minus].variant
        assert kinds == ("factual", f"{pair.pair_type}_changed")


def test_the_seed_draws_the_scenes():
    one, other = (Scenes(adapter="scenes", sources=8, seed=seed).pair_set() for seed in (0, 1))
    assert one.digest == Scenes(adapter="scenes", sources=8, seed=0).pair_set().digest
    assert one.digest != other.digest


def test_a_change_of_no_factor_names_the_nearest():
    with pytest.raises(UnknownName, match="wall_hue"):
        Scenes(adapter="scenes", changes={"wall_hew": 1}).pair_set()
