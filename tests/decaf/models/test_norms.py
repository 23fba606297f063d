"""Batch normalisation that begins with the statistics of what it is trained on."""

import torch

from decaf.models.training.norms import begin_with_statistics


def test_statistics_of_a_layer_by_hand():
    layer = torch.nn.BatchNorm1d(1, eps=0.0)
    layer.weight.data.fill_(2.0)
    layer.bias.data.fill_(1.0)
    # 1, 3 and 5, 7: mean 4, variance 5; 2 x + 1 is 2 sqrt(5) (x - 4) / sqrt(5) + 9.
    begin_with_statistics(layer, [torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])])
    assert (layer.running_mean.item(), layer.running_var.item()) == (4.0, 5.0)
    torch.testing.assert_close(layer.weight.item(), 2 * 5**0.5, rtol=1e-6, atol=0)
    assert layer.bias.item() == 9.0
    assert layer.training


def test_a_network_answers_as_before_and_in_training_too():
    torch.manual_seed(0)
    norms = [
        torch.nn.BatchNorm2d(4),
        torch.nn.BatchNorm2d(3),
        torch.nn.BatchNorm2d(3, affine=False),
    ]
    norms[1].running_var.fill_(9.0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3),
        norms[0],
        torch.nn.ReLU(),
        torch.nn.Conv2d(4, 3, 3),
        norms[1],
        norms[2],
    ).eval()
    inputs = 5 * torch.randn(64, 2, 9, 9)
    before = network(inputs)
    begin_with_statistics(network, inputs.split(10))
    assert not network.training
    torch.testing.assert_close(network(inputs), before, rtol=1e-4, atol=1e-5)
    # Statistics of the whole batch are those that the layers hold now.
    head = network[:5].train()
    torch.testing.assert_close(
        head(inputs), before * (1 + norms[2].eps) ** 0.5, rtol=1e-3, atol=1e-4
    )
    assert norms[2].running_mean.eq(0).all()
