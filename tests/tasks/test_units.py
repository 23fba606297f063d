from dataclasses import replace

import numpy as np
import pytest
from small_studies import LINEAR, of_scenes, untrained
from torch import nn

from decaf.errors import DataError, ModelError, ResponseError
from decaf.models.checkpoint import save
from decaf.models.sources.network import NetworkCard
from decaf.plan.study import Study
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.patches import Patches
from decaf.scoring.scores.class_probability import ClassProbability
from decaf.studies.scenes.adapters import Scenes
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


CHANGES = {
    "preprocessing": lambda study: card(study, mean=(0.4, 0.5, 0.5)),
    "input size": lambda study: card(study, input_size=64),
    "precision": lambda study: card(study, precision="tf32"),
    "output": lambda study: card(study, output="probabilities"),
    "prefix": lambda study: card(study, prefix="module."),
    "memory format": lambda study: card(study, memory_format="channels_last"),
    "architecture": lambda study: card(study, arguments={"in_features": 2}),
    "model name": lambda study: card(study, id="two"),
    "score": lambda s: s.model_copy(
        update={"score": ClassProbability(kind="class_probability", classes=3)}
    ),
    "direction": lambda s: s.model_copy(
        update={"score": ClassProbability(classes=2, kind=s.score.kind, direction="decreasing")}
    ),
    "target": lambda s: s.model_copy(
        update={"score": ClassProbability(classes=2, kind=s.score.kind, target=1)}
    ),
    "path": lambda s: s.model_copy(update={"paths": {**s.paths, "blend": Blend(sigma=2.0)}}),
    "grid": lambda s: s.model_copy(update={"stages": 5}),
    "pairs": lambda s: s.model_copy(update={"data": Scenes(adapter="scenes", sources=4, seed=1)}),
}


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


@pytest.mark.parametrize("change", [name for name in CHANGES if name != "path"])
def test_what_changes_scores_changes_every_key(study, change):
    assert not keys(study) & keys(CHANGES[change](study))


@pytest.mark.parametrize("change", CHANGES)
def test_predictions_depend_on_no_path(study, change):
    same = keys(study, "predict") == keys(CHANGES[change](study), "predict")
    assert same == (change in ("path", "grid"))


def test_another_path_changes_its_own_units_alone(study):
    before, after = (units(one, "score") for one in (study, CHANGES["path"](study)))
    changed = [one.name for one, two in zip(before, after, strict=True) if one.key != two.key]
    assert changed == ["blend", "blend"]


def test_a_path_that_is_added_or_dropped_leaves_the_others(study):
    one = study.model_copy(update={"paths": {"blend": study.paths["blend"]}})
    for kind in ("score", "route"):
        assert keys(one, kind) < keys(study, kind)
    assert keys(one, "predict") == keys(study, "predict")


def test_other_weights_change_every_key(study):
    before = keys(study)
    save(nn.Linear(2, 2), study.models[0].weights, {})
    assert not before & keys(study)


def test_epsilon_changes_the_profiles_alone(study):
    other = study.model_copy(update={"epsilon": 0.1})
    assert keys(study) == keys(other)
    assert not keys(study, "route") & keys(other, "route")


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
    fewer = type(pairs)(pairs.inputs, tuple(pairs.pairs[row] for row in rows), pairs.geometry)
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
    with pytest.raises(DataError, match="path blend is for pairs of type 'hue'.* wall_hue"):
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
    with pytest.raises(ModelError, match="the configuration expects abc"):
        keys(card(study, sha256="abc"))


def test_a_model_with_a_recipe_is_untrained_until_it_has_its_file(study, tmp_path):
    recipe = {"recipe": "scene_shortcut", "shortcut": 0.5, "seed": 1}
    settings = {**study.models[0].model_dump(), "weights": None, "training": recipe}
    card = NetworkCard(**settings)
    assert card.is_untrained
    with pytest.raises(ModelError, match="model one is not trained yet"):
        keys(study.model_copy(update={"models": (card,)}))
    assert not card.trained(tmp_path / "one.safetensors").is_untrained


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
