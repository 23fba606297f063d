import numpy as np
import pytest
import torch
from scipy.ndimage import binary_dilation

from decaf.evaluation.image_masks import background_mask, difference_region


def levels(pixels):
    return torch.tensor(pixels, dtype=torch.float32) / 255


def test_a_pixel_differs_by_more_than_eight_levels_of_a_channel():
    plus = torch.zeros(1, 3, 1, 4)
    minus = levels([[[[8, 9, 0, 8]], [[8, 0, 0, 8]], [[8, 0, 10, 8]]]])
    found = difference_region(plus, minus, radius=0)
    assert found.tolist() == [[[False, True, True, False]]]
    assert torch.equal(found, difference_region(minus, plus, radius=0))


def test_rounding_moves_no_difference_over_the_threshold():
    one, other = torch.meshgrid(torch.arange(256), torch.arange(256), indexing="ij")
    found = difference_region((one / 255)[None, None], (other / 255)[None, None], radius=0)
    assert torch.equal(found[0], (one - other).abs() > 8)


def test_neighbours_form_a_square():
    plus = torch.zeros(1, 1, 9, 9)
    minus = plus.clone()
    minus[0, 0, 4, 1] = 1
    found = difference_region(plus, minus)[0]
    expected = torch.zeros(9, 9, dtype=torch.bool)
    expected[1:8, 0:5] = True
    assert torch.equal(found, expected)


def test_the_background_is_what_no_foreground_reaches():
    foreground = torch.zeros(1, 3, 7, 7)
    foreground[0, 1, 0, 0] = 9 / 255
    foreground[0, 2, 6, 6] = 8 / 255
    expected = torch.ones(7, 7, dtype=torch.bool)
    expected[:3, :3] = False
    assert torch.equal(background_mask(foreground)[0], expected)


@pytest.mark.parametrize("radius", [0, 1, 2, 3])
def test_growth_is_that_of_scipy(radius):
    rng = np.random.default_rng(radius)
    foreground = (rng.random((2, 1, 20, 17)) > 0.95).astype(np.float32)
    square = np.ones((1, 2 * radius + 1, 2 * radius + 1))
    expected = ~binary_dilation(foreground[:, 0] > 0, square)
    found = background_mask(torch.from_numpy(foreground), radius=radius)
    np.testing.assert_array_equal(found, expected)
