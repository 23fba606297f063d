"""DINOv2 with a linear classifier on four layers: by hand, block by block, and from the hub."""

import re
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

from decaf.errors import ModelError, UnknownName
from decaf.models import architectures
from decaf.models.sources.network import NetworkCard
from decaf.studies.attribution import dinov2

pytestmark = pytest.mark.usefixtures("one_thread")
GIANT = "vit_giant_patch14_dinov2"
TINY = {"embed_dim": 12, "depth": 5, "num_heads": 2}
PAGE = Path(__file__).parents[3] / "docs" / "studies" / "attribution.md"


class Told(nn.Module):
    """A backbone of one number a token: 1, 2, 3, 4 of the classes, 10 and 20 of two patches."""

    embed_dim = 1

    def get_intermediate_layers(self, images, n, return_prefix_tokens, norm):
        assert (n, return_prefix_tokens, norm) == (4, True, True)
        patches = torch.tensor([[[10.0], [20.0]]])
        return [(patches + layer - 4, torch.full((1, 1, 1), float(layer))) for layer in range(1, 5)]


def test_the_head_reads_four_class_tokens_and_the_mean_patch_of_the_last():
    network = dinov2.FourLayers(Told(), 1)
    nn.init.zeros_(network.linear_head.bias)
    network.linear_head.weight.data = torch.tensor([[1.0, 10, 100, 1000, 10000]])
    assert network(torch.zeros(1, 3, 2, 2)).tolist() == [[1 + 20 + 300 + 4000 + 150_000]]


def test_layers_are_those_of_the_last_blocks_after_the_norm():
    torch.manual_seed(0)
    network = dinov2.four_layers(GIANT, TINY | {"img_size": 28}, classes=3).eval()
    nn.init.normal_(network.backbone.norm.bias)
    kept = []
    for block in network.backbone.blocks:
        nn.init.ones_(block.ls2.gamma)
        block.register_forward_hook(lambda *given: kept.append(given[-1]))
    with torch.no_grad():
        found = network(torch.rand(2, 3, 28, 28))
        tokens = [network.backbone.norm(one) for one in kept[1:]]
        read = [*(one[:, 0] for one in tokens), tokens[-1][:, 1:].mean(dim=1)]
        expected = network.linear_head(torch.cat(read, dim=1))
    assert tokens[0].shape == (2, 1 + 2 * 2, 12)
    torch.testing.assert_close(found, expected)
    assert found.std() > 1e-3


def test_files_of_the_hub_become_a_model_as_the_page_says(tmp_path, monkeypatch):
    """They call tensors as the authors do: 518 px, a mask token, SwiGLU as w12 and w3."""
    monkeypatch.setattr(dinov2, "four_layers", partial(dinov2.four_layers, arguments=TINY))
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    theirs = dinov2.FourLayers(
        architectures.build(f"timm:{GIANT}", TINY | {"num_classes": 0, "img_size": 518}), 1000
    )
    names = {".mlp.fc1.": ".mlp.w12.", ".mlp.fc2.": ".mlp.w3."}
    hub = {"mask_token": torch.zeros(1, 12)}
    for name, tensor in theirs.backbone.state_dict().items():
        hub[re.sub("|".join(names), lambda found: names[found[0]], name)] = tensor
    torch.save(hub, "dinov2_vitg14_pretrain.pth")
    torch.save(theirs.linear_head.state_dict(), "dinov2_vitg14_linear4_head.pth")
    (snippet,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(snippet, {})
    made = load_file("dinov2_vitg14_lc.safetensors")
    model = NetworkCard(
        id="dinov2_vitg14",
        family="dinov2_vitg14",
        architecture="factory:decaf.studies.attribution.dinov2:four_layers",
        arguments={"backbone": GIANT, "arguments": TINY},
        weights=tmp_path / "dinov2_vitg14_lc.safetensors",
        input_size=224,
        mean=(0.5,),
        std=(0.5,),
    ).load("cpu")
    # The hub shrinks positions in every pass: a scale of 16.1 / 37, without antialiasing.
    size, positions = (1, 37, 37, 12), hub["pos_embed"]
    patches = positions[:, 1:].reshape(size).permute(0, 3, 1, 2)
    shrunk = functional.interpolate(patches, scale_factor=(16.1 / 37, 16.1 / 37), mode="bicubic")
    torch.testing.assert_close(made["backbone.pos_embed"][:, :1], positions[:, :1])
    torch.testing.assert_close(
        made["backbone.pos_embed"][:, 1:], shrunk.permute(0, 2, 3, 1).reshape(1, 256, 12)
    )
    for name, tensor in theirs.state_dict().items():
        assert name == "backbone.pos_embed" or torch.equal(made[name], tensor), name
    assert model.outputs(torch.rand(1, 3, 224, 224)).shape == (1, 1000)


def test_other_backbones_are_refused():
    with pytest.raises(ModelError, match="4 blocks"):
        dinov2.four_layers(GIANT, TINY | {"depth": 3})
    with pytest.raises(ModelError, match="4 blocks"):
        dinov2.four_layers("swin_tiny_patch4_window7_224")
    with pytest.raises(UnknownName, match="vit_giant_patch14_dinov2"):
        dinov2.four_layers("vit_gigant_patch14_dinov2")
