from dataclasses import replace

import numpy as np
import pytest
from small_studies import LINEAR, of_scenes, untrained

from decaf.errors import DataError, ModelError, ResponseError
from decaf.models.sources.network import NetworkCard
from decaf.plan.study import Study
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.patches import Patches
from decaf.studies.scenes.adapters import Shapes3D
from tasks.plan import plan_units
from tasks.units.scope import Scope, of_kind


@pytest.fixture
def study(tmp_path):
    card = untrained(tmp_path, "one", **LINEAR)
    paths = {"blend": Blend(), "patch": Patches()}
    return Study(**of_scenes(tmp_path, [card], 4, paths=paths, sources_per_block=2))


def units(study, kind):
    return of_kind(plan_units(Scope(study, study.pair_set())), kind)


def keys(study, kind="score"):
    return {unit.key for unit in units(study, kind)}


def card(study, **changes):
    return study.model_copy(update={"models": (study.models[0].model_copy(update=changes),)})


def test_every_model_block_and_path_is_a_unit(study):
    scored = units(study, "score")
    assert [(unit.block, unit.name) for unit in scored] == [
        (0, "blend"),
        (0, "patch"),
        (1, "blend"),
        (1, "patch"),
    ]
    assert [unit.row_count for unit in scored] == [4, 4, 4, 4]
    assert [unit.block for unit in units(study, "predict")] == [0, 1]
    assert [unit.needs for unit in units(study, "route")] == [(unit,) for unit in scored]
    planned = plan_units(Scope(study, study.pair_set()))
    assert len({unit.key for unit in planned}) == len(planned) == 10


def test_other_pairs_change_every_key(study):
    other = study.model_copy(update={"data": Shapes3D(adapter="shapes3d", sources=4, seed=1)})
    for kind in ("predict", "score"):
        assert not keys(study, kind) & keys(other, kind)


def test_another_path_changes_its_own_units_alone(study):
    other = study.model_copy(update={"paths": {**study.paths, "blend": Blend(sigma=2.0)}})
    before, after = (units(one, "score") for one in (study, other))
    changed = [one.name for one, two in zip(before, after, strict=True) if one.key != two.key]
    assert changed == ["blend", "blend"]
    assert keys(study, "predict") == keys(other, "predict")


def test_a_path_that_is_added_or_dropped_leaves_the_others(study):
    one = study.model_copy(update={"paths": {"blend": study.paths["blend"]}})
    for kind in ("score", "route"):
        assert keys(one, kind) < keys(study, kind)
    assert keys(one, "predict") == keys(study, "predict")


def test_what_changes_no_score_changes_no_key(study):
    moved = study.models[0].weights.rename(study.models[0].weights.with_name("moved.safetensors"))
    other = card(study, weights=moved, family="renamed").model_copy(
        update={
            "batch_size": 7,
            "device": "cpu",
            "paths": dict(reversed(study.paths.items())),
        }
    )
    study.models[0].weights.symlink_to(moved)
    assert keys(study) == keys(other)


def test_more_sources_keep_the_blocks_that_are_whole(study):
    pairs = study.pair_set()
    rows = pairs.blocks(study.sources_per_block)[0]
    fewer = type(pairs)(pairs.inputs, tuple(pairs.pairs[row] for row in rows), pairs.construction)
    first = {unit.key for unit in plan_units(Scope(study, fewer))}
    assert first == {unit.key for unit in plan_units(Scope(study, pairs)) if unit.block == 0}


def limited(study, *pair_types):
    return study.model_copy(
        update={"paths": {**study.paths, "blend": Blend(pair_types=pair_types)}}
    )


def test_a_path_for_some_pairs(study):
    few, every = limited(study, "shape"), limited(study, "shape", "wall_hue")
    assert {pair.pair_type for pair in study.pair_set().pairs} == {"shape", "wall_hue"}
    assert [(unit.name, unit.row_count) for unit in units(few, "score")] == [
        ("blend", 2),
        ("patch", 4),
    ] * 2
    assert keys(every) == keys(study)
    changed = {unit.name for unit in units(few, "score") if unit.key not in keys(study)}
    assert changed == {"blend"}
    assert keys(few, "predict") == keys(study, "predict")
    with pytest.raises(DataError, match="path blend.* 'hue'.* wall_hue"):
        units(limited(study, "shape", "hue"), "score")


def test_a_block_without_pairs_of_a_path_has_no_unit_of_it(study):
    whole = study.pair_set()
    first = set(whole.blocks(study.sources_per_block)[0])
    pairs = tuple(
        pair for row, pair in enumerate(whole.pairs) if row in first or pair.pair_type == "wall_hue"
    )
    few = limited(study, "shape")
    planned = plan_units(Scope(few, replace(whole, pairs=pairs)))
    slots = [(unit.kind, unit.name, unit.block, unit.row_count) for unit in planned]
    assert slots == [
        ("predict", "", 0, None),
        ("predict", "", 1, None),
        ("score", "blend", 0, 2),
        ("score", "patch", 0, 4),
        ("score", "patch", 1, 2),
        ("route", "blend", 0, None),
        ("route", "patch", 0, None),
        ("route", "patch", 1, None),
    ]


def test_a_path_for_no_pairs_is_refused():
    with pytest.raises(ResponseError, match="pair_types is empty"):
        Blend(pair_types=())


def test_a_digest_that_was_promised_is_checked(study):
    with pytest.raises(ModelError, match="abc"):
        keys(card(study, sha256="abc"))


def test_a_model_with_a_recipe_is_untrained_until_it_has_its_file(study, tmp_path):
    recipe = {"recipe": "scene_shortcut", "shortcut": 0.5, "seed": 1}
    settings = {**study.models[0].model_dump(), "weights": None, "training": recipe}
    card = NetworkCard(**settings)
    assert card.is_untrained
    with pytest.raises(ModelError, match="model one"):
        keys(study.model_copy(update={"models": (card,)}))
    assert not card.with_checkpoint(tmp_path / "one.safetensors").is_untrained


def test_blocks_hold_the_images_that_they_need(study):
    pairs = study.pair_set()
    block = pairs.block(pairs.blocks(2)[1])
    assert block.pair_count == 4
    assert len(block.image_ids) == len(set(block.image_ids)) == block.input_positions.size
    for row, pair_id in enumerate(block.pair_ids):
        pair = next(pair for pair in pairs.pairs if pair.pair_id == pair_id)
        assert block.input_positions[block.plus[row]] == pair.plus
        assert block.input_positions[block.minus[row]] == pair.minus
    np.testing.assert_array_equal(np.unique(block.source), [0, 1])
