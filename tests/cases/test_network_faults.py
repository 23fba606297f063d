"""Networks whose outputs, channels or mean do not fit: what is refused, and what gets a remark."""

import pytest
import torch
from torch import nn

from decaf.errors import ModelError
from decaf.models.network_faults import remark_on_mean, remark_on_outputs
from decaf.models.sources.network import NetworkCard, NetworkModel


class Squeezed(nn.Module):
    """A network that squeezes its outputs, as many binary ones do."""

    def __init__(self, outputs):
        super().__init__()
        self.layer = nn.Linear(3, outputs)

    def forward(self, x):
        return self.layer(x).squeeze()


def network_model(network):
    card = NetworkCard(
        id="n",
        family="f",
        architecture="factory:torch.nn:Linear",
        weights="n.safetensors",
        input_size=None,
        mean=(0.0,),
        std=(1.0,),
    )
    return NetworkModel(network, card, torch.device("cpu"))


def test_a_network_that_squeezes_one_output_gives_one_for_each_input():
    model = network_model(Squeezed(1))
    x = torch.rand(3, 3)
    alone = torch.cat([model.outputs(one[None]) for one in x])
    torch.testing.assert_close(alone, model.outputs(x))


def test_a_network_that_squeezes_the_batch_is_refused():
    """Two outputs of one input would look like one output of two inputs."""
    with pytest.raises(ModelError, match=r"returned shape \(2,\) for 1 input;"):
        network_model(Squeezed(2)).outputs(torch.rand(1, 3))


@pytest.mark.parametrize(("channels", "remedy"), [(1, "'channels: 1'"), (4, "'architecture:'")])
def test_channels_help_only_a_network_with_one_channel(channels, remedy):
    """A network of four channels gets images of three."""
    network = network_model(nn.Sequential(nn.Conv2d(channels, 2, 1), nn.Flatten()))
    with pytest.raises(ModelError, match=f"takes {channels} channels and gets 3.*{remedy}"):
        network.outputs(torch.rand(2, 3, 2, 2))


@pytest.mark.parametrize(
    ("outputs", "is_remarked", "is_remarked_if_stated"),
    [
        (torch.tensor([0.1, 0.9]), True, False),
        (torch.tensor([[0.1], [0.9]]), True, False),
        (torch.tensor([[1.0], [1.0]]), True, False),
        (torch.tensor([[0.1, 0.9], [0.5, 0.5]]), True, True),
        (torch.tensor([[0.1, 0.8, 0.2], [3, 1, 0]]).softmax(1).bfloat16().float(), True, True),
        (torch.tensor([[0.1, 0.8], [0.5, 0.6]]), True, False),  # sigmoids of several labels
        (torch.tensor([[10.0, 90.0], [50.0, 50.0]]), True, True),
        (torch.tensor([[10.0, 90.0], [50.0, 50.5]]), True, True),
        (torch.tensor([[10.0, 90.0], [50.0, 60.0]]), False, False),
        (torch.tensor([[0.1, 1.8], [0.5, 0.5]]), False, False),
        (torch.tensor([[0.1, torch.nan], [0.5, 0.5]]), False, False),
        (torch.tensor([[-0.5, 1.5], [0.5, 0.5]]), False, False),
        (torch.tensor([0.1, 1.9]), False, False),
    ],
)
def test_outputs_that_look_like_probabilities_get_a_remark(
    outputs, is_remarked, is_remarked_if_stated
):
    assert bool(remark_on_outputs(outputs, is_stated=False)) == is_remarked
    assert bool(remark_on_outputs(outputs, is_stated=True)) == is_remarked_if_stated


PHOTOS = torch.linspace(0, 0.6, 24).reshape(2, 3, 2, 2)
ROW = torch.tensor([[3.0, 48_000.0]])


@pytest.mark.parametrize(
    ("inputs", "mean", "words"),
    [
        (PHOTOS, (114.7, 107.1, 89.2), "[0.45, 0.42, 0.35]"),
        (PHOTOS, (0.485, 0.456, 0.9), ""),
        (PHOTOS, (-0.485,), "-0.485"),
        (PHOTOS * 400, (114.7, 107.1, 89.2), ""),
        (PHOTOS * 2 - 1, (-0.5,), ""),
        (ROW, (2.0, 50_000.0), ""),
        (ROW / 1000, (2.0, 50_000.0), "50000"),
        (PHOTOS * 5 + 5, (9.5,), "range from 5 to 8"),
    ],
)
def test_a_mean_outside_of_the_inputs_gets_a_remark(inputs, mean, words):
    remark = remark_on_mean(inputs, mean)
    assert words in remark
    assert bool(remark) == bool(words)
