"""How a network's card brings images to the size that the network takes."""

import pytest
import torch
from pydantic import ValidationError
from small_studies import LINEAR, network_card
from torch import nn
from torchvision.transforms.functional import resize

from decaf.models.sources.network import NetworkCard, NetworkModel

SETTINGS = network_card("one", **LINEAR, weights="one.safetensors") | {"mean": [0.0], "std": [1.0]}


def card(**resizing):
    return NetworkCard(**SETTINGS | {"input_size": None} | resizing)


def seen(images, **resizing):
    """(height, width) of the first channel as a network gets it."""
    fed = NetworkModel(nn.Identity(), card(**resizing), torch.device("cpu"))
    return fed.outputs(images)[0, 0]


def test_the_shorter_side_is_resized_and_the_central_square_kept():
    wide = torch.arange(10.0).view(1, 1, 2, 5)
    assert seen(wide, input_size=2, shorter_side=2).tolist() == [[1, 2], [6, 7]]
    high = torch.rand(1, 3, 11, 7, generator=torch.manual_seed(0))
    resized = resize(high, [4], antialias=True)  # to 11 * 4 / 7 = 6.3 rows
    assert resized.shape == (1, 3, 6, 4)
    assert torch.equal(seen(high, input_size=3, shorter_side=4), resized[0, 0, 1:4, :3])


def test_the_nearest_pixels_are_taken():
    images = torch.arange(24.0).view(1, 1, 4, 6)
    near = {"interpolation": "nearest"}
    assert seen(images, input_size=2, **near).tolist() == [[0, 3], [12, 15]]
    assert seen(images, input_size=2, shorter_side=2, **near).tolist() == [[0, 2], [12, 14]]


def test_ways_of_resizing_are_known_where_they_are_not_as_usual():
    usual = card(input_size=8).preprocessing_digest
    told = {"interpolation": "bilinear", "shorter_side": None}
    assert card(input_size=8, **told).preprocessing_digest == usual
    others = {"interpolation": "nearest"}, {"shorter_side": 9}, {"shorter_side": 8}
    digests = {card(input_size=8, **other).preprocessing_digest for other in others}
    assert len({usual, *digests}) == 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"shorter_side": 8}, "'shorter_side' .* 'input_size'"),
        ({"shorter_side": 8, "input_size": 9}, "'shorter_side' .* 'input_size'"),
        ({"interpolation": "nearest"}, "'interpolation' needs 'input_size'"),
    ],
)
def test_resizing_needs_a_size(settings, words):
    with pytest.raises(ValidationError, match=words):
        card(**settings)
