"""Decaf's small networks: what torchvision and torch make of the same state dict."""

import pytest
import torch
from torch import nn
from torchvision.models import resnet18

from decaf.models.networks import resnet18_cifar, small_vit


def test_resnet18_is_that_of_torchvision_behind_another_stem():
    torch.manual_seed(0)
    built = resnet18_cifar.build(classes=5).eval()
    torchvisions = resnet18(num_classes=5).eval()
    torchvisions.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    torchvisions.maxpool = nn.Identity()
    for name, tensor in built.state_dict().items():
        if name.endswith(("mean", "var", "weight", "bias")):
            tensor.add_(0.1 * torch.rand(tensor.shape))
    torchvisions.load_state_dict(built.state_dict())
    images = torch.randn(2, 3, 32, 32)
    assert torch.equal(built(images), torchvisions(images))


def test_resnet18_begins_as_that_of_torchvision():
    torch.manual_seed(0)
    built, torchvisions = resnet18_cifar.build(), resnet18(num_classes=2)
    spread = {name: float(each.detach().std()) for name, each in built.named_parameters()}
    expected = {name: float(each.detach().std()) for name, each in torchvisions.named_parameters()}
    # 3 × 3 instead of 7 × 7 weights of 64 outputs.
    expected["conv1.weight"] = (2 / (64 * 9)) ** 0.5
    assert spread == pytest.approx(expected, rel=0.1, abs=0.005)


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        ({"width": 192, "depth": 6, "heads": 3, "mlp_ratio": 4}, 2_692_034),
        ({"width": 16, "depth": 2, "heads": 4, "mlp_ratio": 3}, None),
    ],
    ids=["paper", "small"],
)
def test_the_vit_is_torchs_encoder(arguments, parameters):
    """The paper's: 64 tokens of 4 × 4 pixels and a class token; blocks that normalise first."""
    torch.manual_seed(0)
    built = small_vit.build(2, **arguments).eval()
    width, ratio = arguments["width"], arguments["mlp_ratio"]
    layer = nn.TransformerEncoderLayer(
        width,
        arguments["heads"],
        ratio * width,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=True,
    )
    encoder = nn.TransformerEncoder(
        layer, arguments["depth"], norm=nn.LayerNorm(width), enable_nested_tensor=False
    )
    for own, torchs in zip(built.blocks, encoder.layers, strict=True):
        projections = own.query, own.key, own.value
        torchs.self_attn.in_proj_weight.data = torch.cat([each.weight for each in projections])
        torchs.self_attn.in_proj_bias.data = torch.cat([each.bias for each in projections])
        torchs.self_attn.out_proj.load_state_dict(own.mix.state_dict())
        torchs.norm1.load_state_dict(own.attention_norm.state_dict())
        torchs.norm2.load_state_dict(own.mlp[0].state_dict())
        torchs.linear1.load_state_dict(own.mlp[1].state_dict())
        torchs.linear2.load_state_dict(own.mlp[3].state_dict())
    encoder.norm.load_state_dict(built.norm.state_dict())
    images = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        patches = built.patch(images).flatten(2).transpose(1, 2)
        assert patches.shape == (2, 64, width)
        tokens = torch.cat([built.token.expand(2, -1, -1), patches], dim=1) + built.position
        expected = built.head(encoder.eval()(tokens)[:, 0])
        torch.testing.assert_close(built(images), expected, rtol=1e-4, atol=1e-5)
    if parameters is not None:
        assert sum(weight.numel() for weight in built.parameters()) == parameters
