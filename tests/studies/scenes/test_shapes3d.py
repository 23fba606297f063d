import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from shapes3d_file import write_shapes3d

from decaf.data.input_store import open_inputs, store_inputs
from decaf.errors import DataError
from decaf.plan.study import load_study
from decaf.studies.scenes.adapters import Shapes3D
from decaf.studies.scenes.factors import FACTORS, level_map, scene_levels
from decaf.studies.scenes.images import read_scenes
from decaf.studies.scenes.render import render
from decaf.studies.scenes.splits import split_scenes
from decaf.studies.scenes.tasks import labels

NAMES = [factor.name for factor in FACTORS]
DEMO = Path(__file__).parents[3] / "configs" / "scenes" / "demo.yaml"


def shapes3d(**keys):
    """Data of these keys."""
    return Shapes3D(adapter="shapes3d", **keys)


def levels(image):
    return scene_levels(np.array([int(image.image_id.rpartition("-")[2])]))[0]


@pytest.mark.parametrize(
    "changes", [{"wall_hue": 1, "shape": 1}, {"orientation": 1}, {"floor_hue": 2, "size": 1}]
)
def test_every_pair_differs_in_the_changed_factor_alone(changes):
    pairs = shapes3d(sources=60, seed=3, changes=changes).pair_set()
    assert len(pairs.pairs) == 60 * len(changes)
    for pair in pairs.pairs:
        plus, minus = levels(pairs.inputs[pair.plus]), levels(pairs.inputs[pair.minus])
        assert [NAMES[k] for k in np.flatnonzero(plus != minus)] == [pair.pair_type]
        assert pair.class_id == plus[NAMES.index("shape")] < 2


MAPS = st.one_of(
    st.sampled_from([1, 20260882]), st.lists(st.sampled_from([1, 3, 9]), min_size=1, unique=True)
)


@settings(max_examples=25)
@given(
    st.dictionaries(st.sampled_from(NAMES), MAPS, min_size=1),
    st.integers(1, 12),
    st.integers(0, 12),
    st.sampled_from(["train", "validation", "test"]),
)
def test_pairs_of_a_split_by_brute_force(changes, sources, dynamic, split):
    dynamic = min(dynamic, sources)
    data = shapes3d(split=split, sources=sources, dynamic=dynamic, changes=changes)
    maps = {
        f"{factor}_{map}" if isinstance(maps, list) else factor: (NAMES.index(factor), map)
        for factor, maps in changes.items()
        for map in (maps if isinstance(maps, list) else [maps])
    }
    expected = []
    chosen = 0
    for scene in split_scenes(split).tolist():
        own = scene_levels(np.array([scene]))[0].tolist()
        moved = {name: int(level_map(NAMES[k], map)[own[k]]) for name, (k, map) in maps.items()}
        if chosen == sources or -1 in moved.values():
            continue
        for name, level in moved.items():
            other = [*own]
            other[maps[name][0]] = level
            kind = name if chosen < dynamic else f"{name}_endpoint"
            expected.append((f"scene-{scene:06d}__{name}", kind, own, other))
        chosen += 1
        if chosen == sources:
            break
    pairs = data.pair_set()
    found = [
        (p.pair_id, p.pair_type, *(levels(pairs.inputs[k]).tolist() for k in (p.plus, p.minus)))
        for p in pairs.pairs
    ]
    assert found == expected
    assert {pair.split for pair in pairs.pairs} == {split}


def test_more_scenes_of_a_split_go_on_where_fewer_end():
    few, many = (shapes3d(split="test", sources=n, dynamic=3).pair_set() for n in (5, 9))
    assert many.pairs[:10] == tuple(few.pairs)
    kinds = [pair.pair_type for pair in many.pairs]
    assert kinds == ["wall_hue", "shape"] * 3 + ["wall_hue_endpoint", "shape_endpoint"] * 6


def test_a_scene_of_two_kinds_is_an_input_of_either():
    pairs = shapes3d(sources=256, seed=1).pair_set()
    assert len({levels(image).tobytes() for image in pairs.inputs}) < len(pairs.inputs)
    assert len({image.image_id for image in pairs.inputs}) == len(pairs.inputs)
    for pair in pairs.pairs:
        kinds = pairs.inputs[pair.plus].variant, pairs.inputs[pair.minus].variant
        assert kinds == ("factual", f"{pair.pair_type}_changed")


def test_the_seed_draws_the_scenes():
    one, other = (shapes3d(sources=8, seed=seed).pair_set() for seed in (0, 1))
    assert one.digest == shapes3d(sources=8, seed=0).pair_set().digest
    assert one.digest != other.digest


def test_pairs_of_the_demo_stay_what_they_are():
    pairs = load_study(DEMO).pair_set()
    assert pairs.digest == "61ea974b4c75f6d4910c3e07fcf995456265a432e2fec8521266150fb68fa3b8"
    assert (
        pairs.input_set.digest == "9278aa4b5cc4b701b7c9d3827a24e67aac207324fc37aed918a9c072d728fd6c"
    )


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"changes": {"wall_hew": 1}}, "'wall_hew'.*'wall_hue'"),
        ({"changes": {"orientation": [1, 0]}}, "map 0 of orientation"),
        ({"changes": {"shape": [1, 2]}}, "unknown map 2 of shape"),
        ({"changes": {"size": [2, 2]}}, "map of size"),
        ({"sources": 3, "dynamic": 4}, "'dynamic' is 4.*3"),
        ({"split": "train", "seed": 1}, "'seed'"),
        ({"split": "held_out"}, "'validation'"),
    ],
)
def test_what_cannot_be_meant(keys, said):
    with pytest.raises(ValidationError, match=said):
        shapes3d(**keys)


def test_a_split_with_too_few_scenes():
    with pytest.raises(DataError, match="24000"):
        shapes3d(split="validation", sources=24_001).pair_set()


def test_pixels_are_of_the_renderer_or_of_the_file(tmp_path):
    rendered = shapes3d(sources=3, split="test")
    scenes = [int(image.location) for image in rendered.pair_set().inputs]
    path = write_shapes3d(tmp_path / "3dshapes.h5", scenes)
    stored = shapes3d(sources=3, split="test", images=path)
    for data, pixels in ((rendered, render(np.array(scenes))), (stored, read_scenes(path, scenes))):
        pairs = data.pair_set()
        data.verify(pairs)
        found = open_inputs(store_inputs(tmp_path, pairs.input_set, data.read_input))
        assert np.array_equal(found, pixels)
    assert stored.pair_set().digest != rendered.pair_set().digest
    assert stored.pair_set().input_set.digest != rendered.pair_set().input_set.digest


def test_pixels_do_not_travel_to_workers():
    data = shapes3d(sources=200)
    data.verify(data.pair_set())
    assert len(pickle.dumps(data)) < 2000
    assert pickle.loads(pickle.dumps(data)) == shapes3d(sources=200)
    written = TypeAdapter(Shapes3D).dump_python(data, mode="json")
    assert (written["images"], written["changes"]) == ("rendered", {"wall_hue": 1, "shape": 1})


def test_labels_are_those_of_the_task_of_all_models():
    def pairs(task):
        given = {"sources": 64, "split": "test", "task": task, "changes": {"wall_hue": 1}}
        return Shapes3D(adapter="shapes3d", **given).pair_set()

    levels = scene_levels(split_scenes("test")[:64])
    for task in ("object_shape", "wall_color"):
        labelled = pairs(task)
        assert labelled.has_labels
        assert [pair.class_id for pair in labelled.pairs] == labels(task, levels).tolist()
    several = pairs(None)
    assert not several.has_labels
    assert {pair.class_id for pair in several.pairs} == {0}
