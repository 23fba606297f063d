"""Input size, mean and deviation of weights, as the library that publishes them has them."""

import pytest
from pydantic import ValidationError

from decaf.models.sources.network import NetworkCard


@pytest.mark.parametrize(
    ("architecture", "tag", "side", "mean"),
    [
        ("torchvision:inception_v3", "IMAGENET1K_V1", 299, (0.485, 0.456, 0.406)),
        ("timm:vit_tiny_patch16_224", "augreg_in21k_ft_in1k", 224, (0.5, 0.5, 0.5)),
    ],
)
def test_published_preprocessing_is_filled_in_and_compared(architecture, tag, side, mean):
    named = {"id": "one", "family": "any", "architecture": architecture, "pretrained": tag}
    filled = NetworkCard(**named)
    assert (filled.input_size, filled.mean) == (side, mean)
    assert filled.checks()[-1]() == ()
    given = {"input_size": 192, "mean": mean[:1] if tag.startswith("aug") else mean}
    other = NetworkCard(**named, **given, std=filled.std[: len(given["mean"])])
    (remark,) = other.checks()[-1]()
    assert f"'input_size: 192', and {architecture} publishes {tag} with {side}" in remark


def test_preprocessing_of_weights_that_nobody_published():
    named = {"id": "one", "family": "any", "architecture": "torchvision:resnet18"}
    with pytest.raises(ValidationError, match="torchvision:resnet18 'V9'"):
        NetworkCard(**named, pretrained="V9")
