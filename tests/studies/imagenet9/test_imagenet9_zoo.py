"""The 72 classifiers of the paper (appendix F), name by name."""

from itertools import product
from pathlib import Path

import pytest

from decaf.plan.study import load_study

CONFIGS = Path(__file__).parents[3] / "configs" / "imagenet9"
DEEP = [
    ("torchvision:resnet18", "IMAGENET1K_V1", "resnet"),
    ("torchvision:resnet50", "IMAGENET1K_V2", "resnet"),
    ("torchvision:densenet121", "IMAGENET1K_V1", "densenet"),
    ("torchvision:efficientnet_b0", "IMAGENET1K_V1", "efficientnet"),
    ("torchvision:regnet_y_8gf", "IMAGENET1K_V2", "regnet"),
    ("torchvision:convnext_tiny", "IMAGENET1K_V1", "convnext"),
    ("torchvision:swin_t", "IMAGENET1K_V1", "swin"),
    ("torchvision:vit_b_16", "IMAGENET1K_V1", "vit"),
    ("timm:resnet50d", "a1_in1k", "resnet"),
    ("timm:efficientnet_b3", "ra2_in1k", "efficientnet"),
    ("timm:convnext_base", "fb_in1k", "convnext"),
    ("timm:deit_small_patch16_224", "fb_in1k", "vit"),
    ("timm:swin_small_patch4_window7_224", "ms_in1k", "swin"),
    ("timm:maxvit_tiny_tf_224", "in1k", "hybrid"),
    ("timm:coatnet_0_rw_224", "sw_in1k", "hybrid"),
    ("timm:beit_base_patch16_224", "in22k_ft_in22k_in1k", "vit"),
]
OTHER = [
    ("torchvision:resnet152", "IMAGENET1K_V2", "resnet"),
    ("torchvision:resnext50_32x4d", "IMAGENET1K_V2", "resnet"),
    ("torchvision:wide_resnet50_2", "IMAGENET1K_V2", "resnet"),
    ("torchvision:efficientnet_v2_s", "IMAGENET1K_V1", "efficientnet"),
    ("timm:resnet50", "a1_in1k", "resnet"),
    ("timm:regnety_032", "ra_in1k", "regnet"),
    ("timm:convnext_tiny", "fb_in1k", "convnext"),
    ("timm:deit_base_patch16_224", "fb_in1k", "vit"),
]
CNNS, OTHERS = (256, 3e-4, 1e-4), (128, 1e-4, 0.05)
FINE_TUNED = {
    "resnet50": ("resnet", "IMAGENET1K_V2", CNNS),
    "efficientnet_b3": ("efficientnet", "IMAGENET1K_V1", CNNS),
    "regnet_y_8gf": ("regnet", "IMAGENET1K_V2", CNNS),
    "convnext_tiny": ("convnext", "IMAGENET1K_V1", OTHERS),
    "swin_t": ("swin", "IMAGENET1K_V1", OTHERS),
    "vit_b_16": ("vit", "IMAGENET1K_V1", OTHERS),
}
"""Family, weights to start from, and batch size, learning rate and weight decay."""
DEEP_FINE_TUNED = ("resnet50", "convnext_tiny", "swin_t", "vit_b_16")
REGIMES, SEEDS = ("original", "mixed_rand", "mixed_next", "only_fg"), (7101, 7102)
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALVES = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


@pytest.fixture
def zoo(monkeypatch, tmp_path):
    """Models of both studies: the scan's and the sample benchmark's."""
    monkeypatch.setenv("DECAF_DATA_ROOT", str(tmp_path))
    names = ("imagenet9", "imagenet9_deep")
    return [load_study(CONFIGS / f"{name}.yaml").models for name in names]


def test_the_pretrained_models_are_the_papers(zoo):
    scan, deep = ([card for card in models if card.training is None] for models in zoo)
    assert [(c.architecture, c.pretrained, c.family) for c in scan] == DEEP + OTHER
    assert deep == scan[:16]
    for card in scan:
        assert card.id == f"{card.architecture.partition(':')[2]}.{card.pretrained}"
        halves = card.architecture in ("timm:coatnet_0_rw_224", "timm:beit_base_patch16_224")
        assert (card.mean, card.std) == (HALVES if halves else IMAGENET)
        assert (card.input_size, card.precision, card.output) == (224, "float32", "logits")


def test_the_fine_tuned_models_are_the_papers(zoo):
    scan, deep = ([card for card in models if card.training is not None] for models in zoo)
    assert (len(scan), len(deep)) == (48, 16)
    assert {card.id for card in scan} == {
        f"ft_{name}_{regime}_s{seed}" for name, regime, seed in product(FINE_TUNED, REGIMES, SEEDS)
    }
    assert {card.id for card in deep} == {
        f"ft_{name}_{regime}_s7101" for name, regime in product(DEEP_FINE_TUNED, REGIMES)
    }
    assert all(card in scan for card in deep)
    for card in scan:
        name, made = card.architecture.removeprefix("torchvision:"), card.training
        assert card.id == f"ft_{name}_{made.regime}_s{made.seed}"
        assert card.arguments == {"num_classes": 9}
        hyper_parameters = (made.batch_size, made.learning_rate, made.weight_decay)
        assert (card.family, made.pretrained, hyper_parameters) == FINE_TUNED[name]
        assert (made.epochs, made.warm_up_epochs, made.precision) == (8, 1.0, "bfloat16")
        assert (made.keep_epochs, made.crop_scale, made.part) == ((1, 2, 4, 8), (0.7, 1.0), "train")
        assert (card.mean, card.std) == IMAGENET


def test_the_sample_benchmark_has_eight_families(zoo):
    assert len({card.family for card in zoo[1]}) == 8
