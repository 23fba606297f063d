import hashlib

import numpy as np
import pytest
import torch

from decaf.errors import ResponseError
from decaf.reveal.start import gaussian_blur
from decaf.studies.imagenet9.corruptions import CORRUPTIONS, Corruption, corrupt_background

IMAGES = torch.rand(2, 3, 16, 24, generator=torch.Generator().manual_seed(0)) * 0.5 + 0.25
EVERYWHERE = torch.ones(2, 16, 24, dtype=torch.bool)
PAIRS = ["00/a", "01/b"]


def corrupted(kind, severity, images=IMAGES, background=None, pairs=PAIRS):
    background = (
        torch.ones_like(images[:, 0], dtype=torch.bool) if background is None else background
    )
    return corrupt_background(Corruption(kind, severity), images, background, pairs)


def test_there_are_five_kinds_at_two_severities():
    assert [corruption.name for corruption in CORRUPTIONS] == [
        *("gaussian_blur_2", "gaussian_blur_5", "gaussian_noise_0.05", "gaussian_noise_0.12"),
        *("colour_shift_0.1", "colour_shift_0.2", "pixelation_4", "pixelation_8"),
        *("patch_shuffle_4", "patch_shuffle_8"),
    ]


def test_a_blur_is_that_of_the_reveal_path():
    assert torch.equal(corrupted("gaussian_blur", 2), gaussian_blur(IMAGES, 2))


def test_noise_has_its_standard_deviation():
    grey = torch.full((2, 3, 100, 100), 0.5)
    noise = corrupted("gaussian_noise", 0.12, grey) - grey
    assert noise.std() == pytest.approx(0.12, rel=0.02)
    assert noise.mean() == pytest.approx(0, abs=0.002)
    assert not torch.equal(noise[0], noise[1])


def test_a_colour_shift_goes_to_magenta_and_stops_at_the_limit():
    image = torch.tensor([0.5, 0.125, 0.875]).view(1, 3, 1, 1)
    found = corrupted("colour_shift", 0.25, image, pairs=["a"])
    assert found.flatten().tolist() == [0.75, 0, 1]


def test_large_pixels_are_means():
    image = torch.tensor([[[[0, 4, 8, 0, 8], [4, 0, 0, 8, 0], [2, 6, 16, 0, 5]]]]) / 16
    found = corrupted("pixelation", 2, image, pairs=["a"])
    assert (found[0, 0] * 16).tolist() == [[2, 2, 4, 4, 4], [2, 2, 4, 4, 4], [4, 4, 8, 8, 5]]


@pytest.mark.parametrize("grid", [2, 4, 8])
def test_tiles_change_places_and_nothing_else(grid):
    found = corrupted("patch_shuffle", grid)
    height, width = 16 // grid, 24 // grid

    def tiles(images):
        return [
            images[:, top : top + height, left : left + width]
            for top in range(0, 16, height)
            for left in range(0, 24, width)
        ]

    for image, shuffled in zip(IMAGES, found, strict=True):
        before, after = tiles(image), tiles(shuffled)
        moved = [next(i for i, old in enumerate(before) if torch.equal(old, new)) for new in after]
        assert sorted(moved) == list(range(grid**2))
        assert moved != sorted(moved)


def test_a_shuffle_by_hand():
    """The generator of the pair says which tile stands where."""
    digest = hashlib.sha256(b"91701|corrupt|patch_shuffle|2|00/a").digest()
    order = np.random.default_rng(int.from_bytes(digest[:8], "big")).permutation(4)
    image = torch.tensor([[[[0.0, 0.25], [0.5, 0.75]]]])
    found = corrupted("patch_shuffle", 2, image, pairs=["00/a"])
    assert (found.flatten() * 4).tolist() == order.tolist()


def test_noise_by_hand():
    digest = hashlib.sha256(b"91701|corrupt|gaussian_noise|0.05|00/a").digest()
    draw = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    expected = IMAGES[0] + 0.05 * torch.from_numpy(draw.standard_normal((3, 16, 24), np.float32))
    torch.testing.assert_close(corrupted("gaussian_noise", 0.05)[0], expected)


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.name)
class TestEvery:
    def test_the_foreground_stays(self, corruption):
        background = EVERYWHERE.clone()
        background[:, 4:12, 4:12] = False
        found = corrupt_background(corruption, IMAGES, background, PAIRS)
        assert torch.equal(found[:, :, 4:12, 4:12], IMAGES[:, :, 4:12, 4:12])
        everywhere = corrupt_background(corruption, IMAGES, EVERYWHERE, PAIRS)
        outside = background[:, None].expand_as(IMAGES)
        assert torch.equal(found[outside], everywhere[outside])
        assert (found[outside] != IMAGES[outside]).float().mean() > 0.5
        assert torch.equal(corrupt_background(corruption, IMAGES, ~EVERYWHERE, PAIRS), IMAGES)

    def test_a_pair_is_corrupted_the_same_in_any_batch(self, corruption):
        together = corrupt_background(corruption, IMAGES, EVERYWHERE, PAIRS)
        alone = corrupt_background(corruption, IMAGES[1:], EVERYWHERE[1:], PAIRS[1:])
        torch.testing.assert_close(alone, together[1:])
        assert together.dtype == IMAGES.dtype

    def test_levels_stay_in_their_range(self, corruption):
        extreme = IMAGES.round()
        found = corrupt_background(corruption, extreme, EVERYWHERE, PAIRS)
        assert found.min() >= 0
        assert found.max() <= 1


def test_tiles_are_equal():
    with pytest.raises(ResponseError, match="16 x 24 .*5 x 5"):
        corrupted("patch_shuffle", 5)
