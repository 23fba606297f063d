import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from decaf.errors import DataError
from decaf.studies.scenes.adapters import Shapes3DContext
from decaf.studies.scenes.factors import scene_levels
from decaf.studies.scenes.splits import split_scenes

WALL, OBJECT, SHAPE = 1, 2, 4
MAPS = {1: lambda level: (level + 5) % 10, 2: lambda level: 9 - level}


def context(**keys):
    """Data of these keys."""
    return Shapes3DContext(adapter="shapes3d_context", **keys)


def levels_of(pairs, position):
    return scene_levels(np.array([int(pairs.inputs[position].location)]))[0].tolist()


def with_level(levels, factor, level):
    return [*levels[:factor], level, *levels[factor + 1 :]]


@settings(max_examples=25)
@given(
    st.integers(1, 20),
    st.lists(st.sampled_from([1, 2]), min_size=1, unique=True),
    st.lists(st.sampled_from([1, 2]), min_size=1, unique=True),
)
def test_quadruples_by_brute_force(sources, object_maps, wall_maps):
    pairs = context(sources=sources, object_maps=object_maps, wall_maps=wall_maps).pair_set()
    eligible = [
        levels
        for levels in scene_levels(split_scenes("test")[:400]).tolist()
        if levels[WALL] >= 5 and levels[OBJECT] < 5
    ]
    expected = [(s, o, w) for s in eligible[:sources] for o in object_maps for w in wall_maps]
    assert len(pairs.pairs) == len(expected)
    assert not pairs.has_labels
    for pair, (scene, o, w) in zip(pairs.pairs, expected, strict=True):
        assert pair.pair_type == f"object_hue_{o}_wall_hue_{w}"
        assert scene[SHAPE] < 2
        other = with_level(scene, OBJECT, MAPS[o](scene[OBJECT]))
        wall = MAPS[w](scene[WALL])
        quadruple = [scene, other, with_level(scene, WALL, wall), with_level(other, WALL, wall)]
        is_reversed = pairs.inputs[pair.plus].variant == "colour_1"
        order = [1, 0, 3, 2] if is_reversed else [0, 1, 2, 3]
        found = [levels_of(pairs, k) for k in pair.positions]
        assert found == [quadruple[k] for k in order]
        kinds = ["colour_0", "colour_1", "colour_0_swapped", "colour_1_swapped"]
        assert [pairs.inputs[k].variant for k in pair.positions] == [kinds[k] for k in order]


def factual(pairs):
    """Which colour is the factual one, by source; the same in all pairs of a source."""
    found = {}
    for pair in pairs.pairs:
        found.setdefault(pair.source_id, set()).add(pairs.inputs[pair.plus].variant)
    assert all(len(colours) == 1 for colours in found.values())
    return [colours.pop() for colours in found.values()]


def test_each_colour_is_the_factual_one_of_half_of_the_sources():
    colours = factual(context(sources=400).pair_set())
    assert colours.count("colour_1") == 200
    together = sum(one == other for one, other in zip(colours, colours[1:], strict=False))
    assert 60 < together < 140  # by chance half of every second neighbour: 100
    assert factual(context(sources=50).pair_set()) == colours[:50]


def test_a_scene_is_one_input_whatever_pairs_it_is_in():
    pairs = context(sources=3000).pair_set()
    assert len({image.location for image in pairs.inputs}) == len(pairs.inputs)
    assert len(pairs.inputs) < 9 * 3000


def test_keys_of_a_context():
    assert len(context(sources=2).pair_set().pairs) == 8
    for keys in ({"wall_maps": [3]}, {"object_maps": []}, {"object_maps": [1, 1]}):
        with pytest.raises(ValidationError):
            context(**keys)
    with pytest.raises(DataError, match="validation"):
        context(split="validation", sources=24_000).pair_set()
