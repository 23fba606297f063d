from dataclasses import replace

import numpy as np
import pytest
import torch
from blocks import (
    CONTROL,
    GRID,
    PATHS,
    brute_force,
    features,
    foregrounds,
    pixels,
    whole,
    with_contexts,
)

from decaf.data.cells import feature_words
from decaf.errors import DataError
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.context import ContextChannel
from decaf.reveal.paths.patches import Patches
from decaf.reveal.paths.removal import Removal
from decaf.scoring.planner import plan_states
from decaf.scoring.states import WRITTEN_FROM, StateBuilder, on_device

DECAF = {f"decaf_{stages}": Removal(side=4, stages=stages) for stages in (3, 5, 9)}
CPU = torch.device("cpu")


@pytest.fixture
def block():
    return whole(foregrounds(4))


def build_all(plan, inputs):
    builder = StateBuilder(plan, on_device(inputs, CPU))
    return builder.build(np.arange(plan.state_count)).numpy()


def count_distinct(built):
    return len(np.unique(built.reshape(len(built), -1), axis=0))


@pytest.mark.parametrize(
    ("paths", "naive", "planned"),
    [
        (PATHS, 108, 61),
        # Three clean inputs, two starts, and 7 inner stages x 2 branches x 2 pair types.
        *(({name: CONTROL[name]}, 36, 33) for name in ("blend", "patch_a", "random")),
    ],
    ids=["all", "blend", "patch_a", "random"],
)
def test_what_an_imagenet9_foreground_without_ties_needs(block, paths, naive, planned):
    plan = plan_states(block, pixels(12), paths, GRID)
    assert (plan.naive_count(), plan.state_count) == (4 * naive, 4 * planned)


def test_decaf_3_5_and_9_of_16_features_need_137_of_289_rows():
    block = whole(features(2, 16))
    plan = plan_states(block, pixels(2), DECAF, GRID)
    assert plan.naive_count() == 2 * (51 + 85 + 153) == 2 * 289
    # 8 stages above 0, with and without each feature; the constant baseline is one for all images.
    assert plan.state_count == 2 * 8 * 17 + 1
    one = plan_states(whole(features(1, 16)), pixels(1), DECAF, GRID)
    assert one.state_count == 137


@pytest.mark.parametrize(("stages", "rows", "naive"), [(3, 35, 51), (5, 69, 85), (9, 137, 153)])
def test_what_one_grid_of_16_features_alone_costs(stages, rows, naive):
    name = f"decaf_{stages}"
    plan = plan_states(whole(features(1, 16)), pixels(1), {name: DECAF[name]}, GRID)
    assert (plan.state_count, plan.naive_count()) == (rows, naive)


def test_four_legal_queries_a_pair_whatever_the_number_of_stages():
    block = whole(with_contexts(3))
    plan = plan_states(block, pixels(12), {"context": ContextChannel(stages=11)}, GRID)
    assert (plan.state_count, plan.naive_count()) == (12, 12)
    assert plan.grids["context"].size == 11


def test_no_two_planned_states_are_equal(block):
    inputs = pixels(12)
    inputs[3:6, :, :16] = inputs[3:4, :, :16]  # the upper half of the second foreground is tied
    inputs[7] = inputs[6]  # the third foreground's first pair does not differ at all
    plan = plan_states(block, inputs, CONTROL, GRID)
    assert count_distinct(build_all(plan, inputs)) == plan.state_count


def test_no_two_planned_states_of_features_are_equal():
    inputs = pixels(2)
    plan = plan_states(whole(features(2, 16)), inputs, DECAF, GRID)
    assert count_distinct(build_all(plan, inputs)) == plan.state_count


def test_a_feature_that_is_the_baseline_already_costs_nothing():
    inputs = pixels(2)
    inputs[0, :, :8, 8:16] = 0  # the second of 4 x 4 cells
    block = whole(features(2, 16))
    plan = plan_states(block, inputs, DECAF, GRID)
    assert plan.state_count == 2 * 137 - 1 - 8
    assert count_distinct(build_all(plan, inputs)) == plan.state_count
    branches = plan.index["decaf_9"][1, 0]
    np.testing.assert_array_equal(branches[:, 0], branches[:, 1])
    blurred = {"blur": Removal(side=4, baseline="blur")}
    assert plan_states(block, inputs, blurred, GRID).state_count == 2 * 137
    mean = {"mean": Removal(side=4, baseline="mean")}
    assert plan_states(block, inputs, mean, GRID).state_count == 2 * 137 - 1, "0 may be felt"


def test_columns_that_are_zero_are_removed_for_nothing():
    rows = np.array([[0.0, 2.0, 3.0]])
    block = replace(whole(features(1, 3)), regions=feature_words(np.array([[1, 2, 3]])))
    plan = plan_states(block, rows, {"path": Removal(stages=2)}, GRID)
    built = StateBuilder(plan, rows).build(np.arange(plan.state_count))
    assert sorted(built.tolist()) == [[0, 0, 0], [0, 0, 3], [0, 2, 0], [0, 2, 3]]


def test_gathered_states_equal_brute_force(block):
    inputs = pixels(12)
    inputs[3:6, :, :16] = inputs[3:4, :, :16]
    plan = plan_states(block, inputs, CONTROL, GRID)
    built = build_all(plan, inputs)
    for name, path in CONTROL.items():
        for row in range(block.pair_count):
            expected = brute_force(path, block, inputs, row)
            np.testing.assert_allclose(built[plan.index[name][row, 0]], expected, atol=2e-6)


def test_gathered_states_of_features_equal_brute_force():
    block, inputs = whole(features(2, 16)), pixels(2)
    plan = plan_states(block, inputs, DECAF, GRID)
    built = build_all(plan, inputs)
    for name, path in DECAF.items():
        for row in range(block.pair_count):
            clean, mask = inputs[block.plus[row]] / 255, np.zeros(16)
            mask[block.feature[row] - 1] = 1
            mask = mask.reshape(4, 4).repeat(8, axis=0).repeat(8, axis=1)
            expected = [(t * clean, t * (1 - mask) * clean) for t in np.linspace(0, 1, path.stages)]
            np.testing.assert_allclose(built[plan.index[name][row, 0]], expected, atol=1e-6)


def test_the_start_and_the_clean_inputs_are_shared(block):
    plan = plan_states(block, pixels(12), PATHS, GRID)
    for name in PATHS:
        index = plan.index[name]
        np.testing.assert_array_equal(index[..., 0, 0], index[..., 0, 1])
        np.testing.assert_array_equal(index[..., -1, :], plan.index["blend"][..., -1, :])
        np.testing.assert_array_equal(index[..., 0, :], plan.index["blend"][..., 0, :])
    clean = plan.index["blend"][:, 0, -1, 0]
    np.testing.assert_array_equal(clean[0::2], clean[1::2])
    np.testing.assert_array_equal(plan.clean_index[block.plus], clean)


def test_a_pair_whose_inputs_are_equal_has_one_trajectory(block):
    inputs = pixels(12)
    inputs[1] = inputs[0]
    index = plan_states(block, inputs, CONTROL, GRID).index
    for name in CONTROL:
        np.testing.assert_array_equal(index[name][0, ..., 0], index[name][0, ..., 1])


def test_orders_differ_on_tied_patches_only(block):
    inputs = pixels(12)
    untied = plan_states(block, inputs, PATHS, GRID)
    np.testing.assert_array_equal(untied.index["patch_a"], untied.index["patch_b"])
    inputs[:3, :, 8:] = inputs[:1, :, 8:]
    tied = plan_states(block, inputs, PATHS, GRID)
    assert (tied.index["patch_a"][:2] != tied.index["patch_b"][:2]).any()
    np.testing.assert_array_equal(tied.index["patch_a"][2:], tied.index["patch_b"][2:])


@pytest.mark.parametrize("batch_size", [1, 7, 61, 100, 1000])
def test_batches_cover_every_state_once_and_keep_branches_together(block, batch_size):
    plan = plan_states(block, pixels(12), PATHS, GRID)
    batches = plan.batches(batch_size)
    np.testing.assert_array_equal(np.concatenate(batches), np.arange(plan.state_count))
    assert max(batch.size for batch in batches) <= batch_size
    if batch_size >= 61:
        batch_of = np.repeat(np.arange(len(batches)), [batch.size for batch in batches])
        for index in plan.index.values():
            branches = batch_of[index]
            np.testing.assert_array_equal(branches[..., 0], branches[..., 1])


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_torch_builds_what_numpy_builds(block, device):
    inputs = pixels(12)
    paths = {**CONTROL, "plain": Blend(sigma=0, stages=4)}
    plan = plan_states(block, inputs, paths, GRID)
    states = np.arange(plan.state_count)
    reference = StateBuilder(plan, inputs / np.float32(255)).build(states)
    assert reference.dtype == np.float32
    built = StateBuilder(plan, on_device(inputs, torch.device(device))).build(states)
    assert built.device.type == device
    np.testing.assert_allclose(built.cpu(), reference, atol=2e-6)


@pytest.mark.parametrize("paths", [CONTROL, {"zero": Removal(side=3)}], ids=["pairs", "features"])
@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy])
def test_large_states_are_written_as_small_ones_are_gathered(monkeypatch, paths, library):
    pairs = features(3, 9) if "zero" in paths else foregrounds(3)
    inputs = pixels(len(pairs.inputs), side=80)
    plan = plan_states(whole(pairs), inputs, paths, GRID)
    clean, states = library(inputs / np.float32(255)), np.arange(plan.state_count)
    assert clean[0].nbytes > WRITTEN_FROM
    written = StateBuilder(plan, clean).build(states)
    monkeypatch.setattr("decaf.scoring.states.WRITTEN_FROM", 1 << 60)
    gathered = StateBuilder(plan, clean).build(states)
    np.testing.assert_array_equal(np.asarray(written), np.asarray(gathered))


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_torch_removes_what_numpy_removes(device):
    inputs = pixels(2)
    regions = np.random.default_rng(0).integers(0, 4, (2, 32, 32), dtype=np.uint8)
    block = replace(whole(features(2, 3)), regions=feature_words(regions))
    paths = {"blur": Removal(baseline="blur", sigma=3, radius=5, stages=3), "zero": Removal()}
    plan = plan_states(block, inputs, paths, GRID)
    states = np.arange(plan.state_count)
    reference = StateBuilder(plan, inputs / np.float32(255)).build(states)
    built = StateBuilder(plan, on_device(inputs, torch.device(device))).build(states)
    np.testing.assert_allclose(built.cpu(), reference, atol=2e-6)
    removed = plan.index["zero"][1, 0, -1, 1]  # the first input without its second feature
    expected = np.where(regions[0] == 2, 0, inputs[0] / np.float32(255))
    np.testing.assert_array_equal(reference[removed], expected)


def test_a_path_for_some_pairs_needs_their_states_alone(block):
    blend = Blend(sigma=1.15, pair_types=("same_rand",))
    plan = plan_states(block, pixels(12), {"blend": blend}, GRID)
    # Three clean inputs, one start, and 7 inner stages x 2 branches; by itself 9 stages x 2
    # branches, and two inputs of the pair that no path scores.
    assert plan.state_count == 4 * (3 + 1 + 7 * 2)
    assert plan.naive_count() == 4 * (9 * 2 + 2)
    assert plan.naive_count(["blend"]) == 4 * 9 * 2
    both = {"blend": PATHS["blend"], "patch": Patches(sigma=1.15, pair_types=("same_next",))}
    beside = plan_states(block, pixels(12), both, GRID)
    assert beside.state_count == 4 * (3 + 2 + 7 * 2 * 3), "they share clean inputs and starts"
    assert beside.naive_count() == 4 * 9 * 2 * 3


def test_a_path_for_some_pairs_has_their_scores(block):
    inputs = pixels(12)
    limits = {"blend": ("same_next",), "patch_a": ("same_rand", "same_next"), "patch_b": ("other",)}
    limited = {name: replace(path, pair_types=limits[name]) for name, path in PATHS.items()}
    scores, columns = [], np.arange(block.pair_count) % 2
    for paths in (PATHS, limited):
        plan = plan_states(block, inputs, paths, GRID)
        built = build_all(plan, inputs).reshape(plan.state_count, -1)
        scores.append(plan.gather(np.stack([built.mean(1), built.max(1)], axis=1), columns))
    whole_scores, own = scores
    assert own.keys() == {"blend", "patch_a"}, "none of the pairs is of the other type"
    is_next = np.char.endswith(np.array(block.pair_ids), "next")
    np.testing.assert_array_equal(own["blend"], whole_scores["blend"][is_next])
    np.testing.assert_array_equal(own["patch_a"], whole_scores["patch_a"])


def test_pairs_without_a_path_are_scored_at_their_endpoints(block):
    plan = plan_states(block, pixels(12), {}, GRID)
    assert plan.state_count == 12
    assert plan.naive_count() == 4 * 3, "both pairs of a foreground have its factual input"
    np.testing.assert_array_equal(build_all(plan, pixels(12)), pixels(12) / np.float32(255))


def test_pairs_without_types_refuse_a_path_for_some(block):
    untyped = replace(block, pair_types=())
    with pytest.raises(DataError, match="same_rand"):
        plan_states(untyped, pixels(12), {"blend": Blend(pair_types=("same_rand",))}, GRID)


def test_a_context_path_beside_pairs_without_a_context():
    four = with_contexts(2)
    kinds = ("with", "without")
    pairs = tuple(
        replace(pair, pair_type=kind, context=pair.context if kind == "with" else None)
        for pair, kind in zip(four.pairs, kinds, strict=True)
    )
    mixed = whole(replace(four, pairs=pairs))
    inputs = pixels(len(mixed.image_ids))
    channel = ContextChannel(stages=11)
    with pytest.raises(DataError, match="1 of 2 pairs have no second context"):
        plan_states(mixed, inputs, {"context": channel}, GRID)
    own = plan_states(mixed, inputs, {"context": replace(channel, pair_types=("with",))}, GRID)
    assert own.index["context"].shape[0] == 1
    assert own.state_count == 4 + 2


def test_features_may_overlap_and_lie_nowhere():
    # Columns: the first feature alone, both, the second alone, none; the third lies nowhere.
    rows = np.array([[1.0, 2.0, 4.0, 8.0]])
    block = replace(whole(features(1, 3)), regions=np.array([[0b01, 0b11, 0b10, 0]], np.uint8))
    for baseline in ({}, {"baseline": "blur", "sigma": 0.0}):
        plan = plan_states(block, rows, {"path": Removal(stages=2, **baseline)}, GRID)
        factual, without = np.moveaxis(plan.index["path"][:, 0, -1], -1, 0)
        built = StateBuilder(plan, rows).build(np.arange(plan.state_count))
        assert built[factual[0]].tolist() == [1, 2, 4, 8]
        assert without[2] == factual[2], "what lies nowhere is the factual state itself"
        if not baseline:
            assert built[without].tolist() == [[0, 0, 4, 8], [1, 0, 0, 8], [1, 2, 4, 8]]
            assert plan.state_count == 2 + 2


@pytest.mark.parametrize("last", [8, 16, 32, 64])
@pytest.mark.parametrize("taken", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_the_last_feature_of_a_word_divides_images_of_equal_content(last, taken):
    rows, sign = np.ones((2, 3)), 1 << (last - 1)
    regions = np.array([[1, sign, 0], [1, sign | 1, 0]], f"u{last // 8}")
    block = replace(whole(features(2, last)), regions=regions)
    plan = plan_states(block, rows, {"path": Removal(stages=2)}, GRID)
    without = plan.index["path"][:, 0, -1, 1]
    built = StateBuilder(plan, taken(rows)).build(without)
    assert built[[last - 1, 2 * last - 1]].tolist() == [[1, 0, 1], [1, 0, 1]]
    assert built[[0, last]].tolist() == [[0, 1, 1], [0, 0, 1]]
