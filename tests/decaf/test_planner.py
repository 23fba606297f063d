import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter

from decaf.pairs import Image, Pair, PairSet
from decaf.planner import plan_states
from decaf.reveal.blend import Blend
from decaf.reveal.patches import Patches, pack, patch_energy, unpack
from decaf.states import StateBuilder

SIDE = 32
PATHS = {
    "blend": Blend(kind="blend", sigma=1.15),
    "patch_a": Patches(kind="patches", sigma=1.15, order="A"),
    "patch_b": Patches(kind="patches", sigma=1.15, order="B"),
}
GRID = np.linspace(0, 1, 9)


def foregrounds(count):
    """Every foreground has one factual image and two counterfactuals, as in ImageNet-9."""
    variants = ("same", "rand", "next")
    images = tuple(
        Image(f"{variant}/{source}", variant, f"{variant}{source}", "")
        for source in range(count)
        for variant in variants
    )
    pairs = tuple(
        Pair(f"{source}__{kind}", str(source), kind, source % 2, "all", 3 * source, 3 * source + k)
        for source in range(count)
        for k, kind in ((1, "same_rand"), (2, "same_next"))
    )
    return PairSet(images, pairs, "test")


def pixels(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, SIDE, SIDE, 3), dtype=np.uint8)


@pytest.fixture
def block():
    return foregrounds(4).block(tuple(range(8)))


def test_an_imagenet9_foreground_without_ties_needs_61_of_108_rows(block):
    plan = plan_states(block, pixels(12), PATHS, GRID)
    assert plan.naive_count == 4 * 108
    assert plan.state_count == 4 * 61


@pytest.mark.parametrize(("path", "rows"), [("blend", 33), ("patch_a", 33)])
def test_what_one_path_alone_costs(block, path, rows):
    # Three clean inputs, two starts, and 7 inner stages x 2 branches x 2 pair types.
    plan = plan_states(block, pixels(12), {path: PATHS[path]}, GRID)
    assert plan.state_count == 4 * rows


def test_no_two_planned_states_are_equal(block):
    images = pixels(12)
    plan = plan_states(block, images, PATHS, GRID)
    built = StateBuilder(plan, images, torch.device("cpu")).build(np.arange(plan.state_count))
    assert len(np.unique(built.numpy().reshape(plan.state_count, -1), axis=0)) == plan.state_count


def test_gathered_states_equal_brute_force(block):
    images = pixels(12)
    images[3:6, :16] = images[3:4, :16]  # ties: the upper half of the second foreground is equal
    plan = plan_states(block, images, PATHS, GRID)
    built = StateBuilder(plan, images, torch.device("cpu")).build(np.arange(plan.state_count))
    for name, path in PATHS.items():
        for row in range(block.pair_count):
            expected = brute_force(path, block, images, row)
            found = built[plan.index[name][row]].numpy()
            np.testing.assert_allclose(found, expected, atol=2e-6)


def brute_force(path, block, images, row):
    """(stages, 2, channels, height, width) of one pair, with numpy and scipy alone."""
    clean = images[[block.plus[row], block.minus[row]]].transpose(0, 3, 1, 2) / 255
    start = gaussian_filter(clean.mean(axis=0), (0, path.sigma, path.sigma), mode="mirror")
    if isinstance(path, Blend):
        return np.stack([start + t * (clean - start) for t in GRID])
    plus, minus = images[block.plus[row]].astype(int), images[block.minus[row]].astype(int)
    energy = ((plus - minus) ** 2).sum(axis=2).reshape(8, 4, 8, 4).sum(axis=(1, 3)).ravel()
    ties = path._tie_keys(block.pair_ids[row])
    order = sorted(range(64), key=lambda patch: (-energy[patch], ties[patch], patch))
    states = []
    for t in GRID:
        mask = np.zeros(64, bool)
        mask[order[: int(64 * t)]] = True
        mask = mask.reshape(8, 8).repeat(4, axis=0).repeat(4, axis=1)
        states.append(np.where(mask, clean, start))
    return np.stack(states)


def test_the_start_and_the_clean_inputs_are_shared(block):
    plan = plan_states(block, pixels(12), PATHS, GRID)
    for name in PATHS:
        index = plan.index[name]
        np.testing.assert_array_equal(index[:, 0, 0], index[:, 0, 1])
        np.testing.assert_array_equal(index[:, -1], plan.index["blend"][:, -1])
        np.testing.assert_array_equal(index[:, 0], plan.index["blend"][:, 0])
    np.testing.assert_array_equal(
        plan.index["blend"][0::2, -1, 0], plan.index["blend"][1::2, -1, 0]
    )
    np.testing.assert_array_equal(plan.clean_index[block.plus], plan.index["blend"][:, -1, 0])


def test_orders_differ_on_tied_patches_only(block):
    images = pixels(12)
    untied = plan_states(block, images, PATHS, GRID)
    np.testing.assert_array_equal(untied.index["patch_a"], untied.index["patch_b"])
    images[:3, 8:] = images[:1, 8:]
    tied = plan_states(block, images, PATHS, GRID)
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


def test_patch_energy_by_hand():
    plus = np.zeros((1, 4, 4, 1), np.uint8)
    minus = plus.copy()
    minus[0, 0, 3, 0], minus[0, 3, 3, 0] = 2, 255
    np.testing.assert_array_equal(patch_energy(plus, minus, 2), [[0, 4, 0, 255**2]])


def test_revealed_sets_are_nested_and_grow_by_an_eighth(block):
    words = PATHS["patch_a"].contents(block, pixels(12), GRID)
    shown = unpack(words[:, :, 0].reshape(-1, words.shape[-1]), 64).reshape(8, 9, 64)
    np.testing.assert_array_equal(shown.sum(axis=2), np.tile(np.arange(9) * 8, (8, 1)))
    assert (shown[:, 1:] >= shown[:, :-1]).all()


def test_packed_bits_come_back():
    bits = np.random.default_rng(0).random((5, 100)) < 0.5
    assert pack(bits).shape == (5, 2)
    np.testing.assert_array_equal(unpack(pack(bits), 100), bits)
