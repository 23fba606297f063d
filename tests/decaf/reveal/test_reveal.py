from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

import numpy as np
import pytest
import torch
from blocks import GRID, features, foregrounds, pixels, tie_keys, whole

from decaf.data.cells import cell_map, feature_words, pack, unpack
from decaf.errors import BadInput, DataError, ResponseError
from decaf.reveal.path import RevealPath, path_field
from decaf.reveal.paths.blend import Blend, blend
from decaf.reveal.paths.context import ContextChannel, context_mixture
from decaf.reveal.paths.gaussian import GaussianReveal
from decaf.reveal.paths.patches import Patches, patch_energy, reveal_patches
from decaf.reveal.paths.removal import FadeWithout, Removal, without_features
from decaf.reveal.start import BlurredMidpoint, Constant, gaussian_blur, gaussian_kernel
from decaf.scoring.planner import plan_states

NO_DRAW = np.empty((1, 0), np.uint64)


def both(array):
    """The same values as numpy array and as torch tensor."""
    array = np.asarray(array, dtype=np.float64)
    return array, torch.from_numpy(array.copy())


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Patches(side="8"), "side"),
        (lambda: Patches(side=4.5), "side"),
        (lambda: Patches(side=True), "side"),
        (lambda: Patches(ranking="enrgy"), "'energy'"),
        (lambda: Removal(value=0.5), "value"),
        (lambda: Removal(baseline="men"), "'mean'"),
        (lambda: GaussianReveal(seeds=(1.5,)), "seeds"),
        (lambda: GaussianReveal(chain=3), "chain"),
        (lambda: Blend(pair_types="wall"), "pair_types"),
    ],
)
def test_a_setting_of_another_type_is_refused_by_its_name(make, name):
    with pytest.raises(BadInput, match=name):
        make()


def test_numbers_of_numpy_are_numbers():
    assert Patches(side=np.int64(4), sigma=np.float32(2)).side == 4
    assert Removal(side=None, value=[0, 0.5, 1.0]).side is None


@pytest.mark.parametrize("library", [0, 1], ids=["numpy", "torch"])
class TestByHand:
    def test_blend_goes_straight_from_the_start_to_the_input(self, library):
        start, clean, t = (
            both(values)[library] for values in ([[0.5, 0.5]], [[1.0, 0.0]], [[0.25]])
        )
        assert blend(start, clean, t).tolist() == [[0.625, 0.375]]

    def test_patches_show_the_input_in_some_cells(self, library):
        clean = both(np.arange(16).reshape(1, 1, 4, 4))[library]
        shown = np.array([[[False, True], [False, False]]])
        assert reveal_patches(clean * 0 - 1, clean, shown)[0, 0].tolist() == [
            [-1, -1, 2, 3],
            [-1, -1, 6, 7],
            [-1, -1, -1, -1],
            [-1, -1, -1, -1],
        ]

    def test_the_baseline_stays_where_a_feature_is_removed(self, library):
        start, clean = both([[1.0, 1.0, 1.0]])[library], both([[3.0, 5.0, 1.0]])[library]
        half, removed = both([[0.5]])[library], both([[0, 1, 0]])[library]
        assert without_features(start, clean, half, removed).tolist() == [[2.0, 1.0, 1.0]]

    def test_features_of_the_data_are_removed_by_number(self, library):
        clean = both([[3.0, 5.0, 7.0], [3.0, 5.0, 7.0]])[library]
        content = np.array([[1.0, 0], [1.0, 0]]).view(np.uint64)
        content[:, 1] = [0b01, 0b11]
        regions = feature_words(np.array([[1, 2, 0], [2, 1, 0]]))
        states = FadeWithout(None).states(clean * 0, clean, content, regions)
        assert states.tolist() == [[0, 5, 7], [0, 0, 7]]

    def test_a_midpoint_without_blur(self, library):
        plus, minus = both([[1.0, 0.0]])[library], both([[0.0, 0.0]])[library]
        assert BlurredMidpoint(0).states(plus, minus, NO_DRAW).tolist() == [[0.5, 0.0]]

    def test_a_blurred_midpoint(self, library):
        plus = both(np.eye(3).reshape(1, 1, 3, 3) * 2)[library]
        start = BlurredMidpoint(sigma=1.0, radius=1).states(plus, plus * 0, NO_DRAW)
        side, middle = gaussian_kernel(1.0, 1)[:2]
        # Rows and columns are reflected about the border pixel: (b a b), (a b c), (b c b) …
        blur = np.array([[middle, 2 * side, 0], [side, middle, side], [0, 2 * side, middle]])
        np.testing.assert_allclose(np.asarray(start)[0, 0], blur @ np.eye(3) @ blur.T, atol=1e-12)

    def test_the_usual_blur_follows_the_shorter_side_of_an_image(self, library):
        """8 px of 224 are 1 px of 28."""
        plus = both(np.arange(28 * 56.0).reshape(1, 1, 28, 56) % 5)[library]
        usual, own = (BlurredMidpoint(sigma).states(plus, plus * 0, NO_DRAW) for sigma in (None, 1))
        assert usual.tolist() == own.tolist()
        rows = both([[1.0, 0.0]])[library]
        assert BlurredMidpoint(None).states(rows, rows * 0, NO_DRAW).tolist() == [[0.5, 0.0]]

    def test_a_kernel_longer_than_the_image_repeats_its_border(self, library):
        plus = both(np.ones((1, 1, 4, 4)))[library]
        start = BlurredMidpoint(sigma=8.0).states(plus, plus, NO_DRAW)
        np.testing.assert_allclose(np.asarray(start), 1, atol=1e-12)

    def test_a_constant_baseline_per_channel(self, library):
        plus = both(np.zeros((1, 2, 1, 2)))[library]
        assert Constant((3.0, 4.0)).states(plus, plus, NO_DRAW).tolist() == [[[[3, 3]], [[4, 4]]]]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("side", "sigma"), [(224, 8.0), (32, 1.15), (75, 12.0)])
def test_a_blur_on_a_processor_is_that_of_plain_convolutions_to_the_last_bit(channels, side, sigma):
    images = torch.rand(2, channels, side, side + 1, generator=torch.Generator().manual_seed(0))
    radius = ceil(4 * sigma)
    kernel = torch.tensor(gaussian_kernel(sigma, radius), dtype=torch.float32)
    expected, mode = images, "reflect" if radius < side else "replicate"
    for reach, shape in (((radius, radius, 0, 0), (1, -1)), ((0, 0, radius, radius), (-1, 1))):
        weights = kernel.view(1, 1, *shape).expand(channels, -1, -1, -1)
        padded = torch.nn.functional.pad(expected, reach, mode=mode)
        expected = torch.nn.functional.conv2d(padded, weights, groups=channels)
    assert torch.equal(gaussian_blur(images, sigma), expected)


def test_context_mixture_by_hand():
    assert context_mixture(np.array([0, 0.25, 1])).tolist() == [[1, 0], [0.75, 0.25], [0, 1]]


def test_patch_energy_by_hand():
    levels = np.zeros((2, 1, 4, 4), np.uint8)
    levels[1, 0, 0, 3], levels[1, 0, 3, 3] = 2, 255
    plus, minus = np.array([0, 1]), np.array([1, 1])
    by_patch = [[0, 4, 0, 255**2], [0, 0, 0, 0]]
    np.testing.assert_array_equal(patch_energy(levels, plus, minus, 2), by_patch)
    halves = patch_energy(levels / 2, plus, minus, 2)
    np.testing.assert_array_equal(halves, np.array(by_patch) / 4)


def test_the_energy_of_a_large_patch_does_not_overflow():
    levels = np.zeros((2, 3, 120, 120), np.uint8)
    levels[1] = 255
    energy = patch_energy(levels, np.array([0]), np.array([1]), 1)
    assert energy.tolist() == [[3 * 120**2 * 255**2]]
    assert energy > 2**31


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_energies_of_many_pairs_are_those_of_each(dtype):
    rng = np.random.default_rng(0)
    inputs = rng.integers(0, 256, (9, 3, 12, 13)).astype(dtype)
    plus, minus = rng.integers(0, 9, (2, 37))
    alone = [patch_energy(inputs, plus[[i]], minus[[i]], 5)[0] for i in range(37)]
    np.testing.assert_array_equal(patch_energy(inputs, plus, minus, 5), alone)


def test_cells_of_a_side_that_does_not_divide_evenly():
    assert cell_map((3, 3), 2).tolist() == [[0, 1, 1], [2, 3, 3], [2, 3, 3]]


def shown_cells(path, block, inputs):
    content = path.reveal(block, inputs, GRID).content[:, 0, :, 0]
    return unpack(content.reshape(-1, content.shape[-1]), 64).reshape(len(content), 9, 64)


@pytest.mark.parametrize("ranking", ["energy", "random"])
def test_revealed_sets_are_nested_and_grow_by_an_eighth(ranking):
    shown = shown_cells(Patches(ranking=ranking), whole(foregrounds(4)), pixels(12))
    np.testing.assert_array_equal(shown.sum(axis=2), np.tile(np.arange(9) * 8, (8, 1)))
    assert (shown[:, 1:] >= shown[:, :-1]).all()


def test_the_most_different_patches_come_first():
    block, inputs = whole(foregrounds(1)), pixels(3)
    first = shown_cells(Patches(), block, inputs)[:, 1]
    energy = patch_energy(inputs, block.plus, block.minus, 8)
    assert (
        np.where(first, energy, np.inf).min(axis=1) > np.where(first, 0, energy).max(axis=1)
    ).all()


@pytest.mark.parametrize(
    ("label", "first"),
    [("A", [47, 35, 3, 21, 63, 50, 33, 53]), ("B", [36, 18, 6, 30, 12, 23, 2, 22])],
)
@pytest.mark.parametrize("ranking", ["energy", "random"])
def test_exactly_tied_patches_follow_the_hash_of_their_typed_pair(label, first, ranking):
    """Golden: all 64 patches differ alike; first by sha256(".|patch|7101|<label>|<pair>|<i>")."""
    name = "00/n02107574_44618__same_rand"
    keys = tie_keys(7101, label, name)
    assert sorted(range(64), key=lambda patch: keys[patch])[:8] == first
    block = replace(whole(foregrounds(1)), pair_ids=(name, name))
    inputs = np.stack([np.full((3, 16, 16), level, np.uint8) for level in (90, 70, 110)])
    path = Patches(order=label, ranking=ranking)
    grid = np.arange(9) / 64
    cells = unpack(path.reveal(block, inputs, grid).content[0, 0, :, 0], 64)
    assert [sorted(np.flatnonzero(shown)) for shown in cells] == [
        sorted(first[:count]) for count in range(9)
    ]


@pytest.mark.parametrize("scale", [np.float32(255), np.float64(255), np.float32(1)])
def test_tied_patches_have_one_order_in_all_number_types(scale):
    """The inputs differ by 20 levels in each row of a patch, on many backgrounds, and by 40 once.

    Patch energies are exactly equal in 8 bits but for the first patch's.
    """
    levels = np.random.default_rng(0).integers(0, 200, (3, 3, 16, 16)).astype(np.uint8)
    levels[1:] = levels[0] + np.array([20, 40], np.uint8)[:, None, None, None]
    levels[1:, :, :2, :2] += 1
    block = whole(foregrounds(1))
    exact = shown_cells(Patches(), block, levels)
    np.testing.assert_array_equal(shown_cells(Patches(), block, levels / scale), exact)
    assert exact[0, 1, 0]


def test_a_random_order_follows_its_seed_and_not_the_energy():
    block, inputs = whole(foregrounds(4)), pixels(12)
    one, two, other = (
        shown_cells(Patches(ranking="random", seed=seed), block, inputs) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()
    np.testing.assert_array_equal(
        one, shown_cells(Patches(ranking="random", seed=1), block, inputs[::-1])
    )


def test_packed_bits_come_back():
    bits = np.random.default_rng(0).random((5, 100)) < 0.5
    assert pack(bits).shape == (5, 2)
    np.testing.assert_array_equal(unpack(pack(bits), 100), bits)


def test_a_path_may_have_its_own_stages():
    paths = {"few": Blend(sigma=1, stages=3), "own": Blend(sigma=1, stages=(0, 0.1, 1))}
    plan = plan_states(whole(foregrounds(1)), pixels(3), paths, GRID)
    assert [plan.index[name].shape for name in ("few", "own")] == [(2, 1, 3, 2)] * 2
    assert plan.grids["own"].tolist() == [0, 0.1, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Blend(sigma=-1),
        lambda: Blend(sigma="2"),
        lambda: Patches(sigma=True),
        lambda: Blend(stages=(0, 0.5)),
        lambda: Blend(stages=1),
        lambda: Patches(side=0),
        lambda: Removal(side=9),
        lambda: Patches().reveal(whole(foregrounds(1)), np.zeros((3, 5)), GRID),
        lambda: Patches(side=8).reveal(whole(foregrounds(1)), pixels(3, side=7), GRID),
        lambda: BlurredMidpoint(1.0).states(np.zeros((2, 3)), np.zeros((2, 3)), NO_DRAW),
        lambda: Constant((1.0, 2.0)).states(np.zeros((2, 3)), np.zeros((2, 3)), NO_DRAW),
    ],
)
def test_impossible_paths_are_refused(make):
    with pytest.raises(ResponseError, match="expected|needs? images"):
        make()


@pytest.mark.parametrize(
    ("path", "block"),
    [
        (Removal(side=2), foregrounds(1)),
        (Removal(side=2), features(1, 5)),
        (ContextChannel(), foregrounds(1)),
    ],
)
def test_pairs_that_do_not_fit_the_path_are_refused(path, block):
    with pytest.raises(DataError, match="expected one input|second context"):
        path.reveal(whole(block), pixels(3), GRID)


def test_data_without_regions_have_no_features_to_remove():
    block = whole(features(3, 2))
    with pytest.raises(DataError, match="regions"):
        Removal().reveal(block, pixels(3), GRID)
    with pytest.raises(DataError, match="regions"):
        FadeWithout(None).states(
            np.zeros((1, 2)), np.ones((1, 2)), np.zeros((1, 2), np.uint64), None
        )


def test_a_context_channel_alone_does_not_start_in_common():
    assert Blend().has_common_start
    assert not ContextChannel().has_common_start


@pytest.mark.parametrize("path", [Blend, Patches, Removal, GaussianReveal, ContextChannel])
def test_settings_of_a_path_are_given_by_name(path):
    with pytest.raises(TypeError):
        path(5)
    with pytest.raises(ResponseError, match="kind"):
        path(kind=5)


def test_a_first_setting_without_a_name_is_not_the_kind_of_a_plug_in():
    @dataclass(frozen=True)
    class Dawn(RevealPath):
        kind: Literal["dawn"] = "dawn"
        level: float = path_field(0.0, "first grey level")
        start = Blend.start
        rule = Blend.rule
        reveal = Blend.reveal

    assert Dawn(level=0.5).level == 0.5
    with pytest.raises(ResponseError):
        Dawn(0.5)
