import pickle
import resource

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from decaf import architectures
from decaf.errors import ModelError, UnknownName, WriteFailed
from decaf.models.checkpoint import load_into, read_metadata, save
from decaf.models.classifier import ImageClassifier

MEAN, STD = (0.5, 0.4, 0.3), (0.5, 0.25, 0.2)


def test_a_checkpoint_comes_back_with_its_metadata(tmp_path):
    network, other = nn.Linear(3, 2), nn.Linear(3, 2)
    save(network, tmp_path / "a.safetensors", {"note": "trained"})
    load_into(other, tmp_path / "a.safetensors")
    torch.testing.assert_close(other.weight, network.weight)
    assert read_metadata(tmp_path / "a.safetensors") == {"note": "trained"}
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_a_full_disk_leaves_no_checkpoint(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(WriteFailed, match="cannot be written"):
            save(nn.Linear(300, 200), tmp_path / "a.safetensors", {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_half_precision_weights_load_into_a_float32_network(tmp_path):
    save_file(
        {"weight": torch.ones(2, 3).half(), "bias": torch.ones(2)}, tmp_path / "a.safetensors"
    )
    network = nn.Linear(3, 2)
    load_into(network, tmp_path / "a.safetensors")
    assert network.weight.dtype == torch.float32


def test_a_checkpoint_of_another_shape_names_the_tensors(tmp_path):
    save(nn.Linear(3, 2), tmp_path / "a.safetensors", {})
    with pytest.raises(ModelError, match=r"weight is \[2, 3\], the architecture has \[2, 4\]"):
        load_into(nn.Linear(4, 2), tmp_path / "a.safetensors")


def test_missing_and_left_over_tensors_are_named(tmp_path):
    save(nn.Linear(3, 2), tmp_path / "a.safetensors", {})
    with pytest.raises(ModelError, match="bias is left over"):
        load_into(nn.Linear(3, 2, bias=False), tmp_path / "a.safetensors")


@pytest.mark.parametrize(
    "write", [torch.save, lambda state, path: path.write_bytes(pickle.dumps(1))]
)
def test_a_pickle_is_never_opened(tmp_path, write):
    path = tmp_path / "a.safetensors"
    write({"weight": torch.ones(1)}, path)
    with pytest.raises(ModelError, match="is a pickle"):
        read_metadata(path)


@pytest.mark.parametrize(
    "content", [b"", b"not a checkpoint at all", b"\x10" + bytes(7) + b"{" * 16]
)
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="not a safetensors file"):
        read_metadata(path)


def test_a_truncated_checkpoint_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    save(nn.Linear(30, 20), path, {})
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelError, match="damaged"):
        load_into(nn.Linear(30, 20), path)


def test_a_missing_checkpoint_says_where_it_belongs(tmp_path):
    with pytest.raises(
        ModelError, match=r"a\.safetensors cannot be read.*put the checkpoint there"
    ):
        read_metadata(tmp_path / "a.safetensors")


@pytest.mark.parametrize("architecture", ["torchvision:squeezenet1_1", "timm:mobilenetv2_100"])
def test_library_architectures_are_built_untrained(architecture):
    assert isinstance(architectures.build(architecture, {"num_classes": 3}), nn.Module)


@pytest.mark.parametrize(
    ("architecture", "meant"),
    [
        ("torchvison:resnet18", "torchvision"),
        ("torchvision:resnet19", "resnet1"),
        ("timm:resnet19", "resnet1"),
        ("factory:torch.nn:Liner", "Linear"),
    ],
)
def test_a_misspelt_architecture_names_the_nearest(architecture, meant):
    with pytest.raises(UnknownName, match=f"did you mean '{meant}"):
        architectures.build(architecture, {})


def test_a_factory_is_the_users_own_function():
    network = architectures.build("factory:torch.nn:Linear", {"in_features": 2, "out_features": 1})
    assert isinstance(network, nn.Linear)
    assert architectures.identity("factory:torch.nn:Linear") != "torch.nn:Linear"


@pytest.mark.parametrize(
    ("architecture", "arguments", "message"),
    [
        ("factory:torch.nn:Linear", {"wrong": 1}, "cannot be built: TypeError"),
        ("factory:builtins:dict", {}, "expected a torch.nn.Module"),
        ("factory:no_colon", {}, "expected factory:package.module:function"),
    ],
)
def test_a_factory_that_does_not_work_is_explained(architecture, arguments, message):
    with pytest.raises(ModelError, match=message):
        architectures.build(architecture, arguments)


def test_a_factory_module_that_is_not_found_points_to_the_python_path():
    with pytest.raises(ModelError, match="python_path"):
        architectures.identity("factory:nowhere_at_all:build")


class Card:
    input_size, mean, std, memory_format = 4, MEAN, STD, "channels_last"


def test_inputs_are_normalised_and_resized_as_the_card_says():
    classifier = ImageClassifier(nn.Flatten(), Card, torch.device("cpu"))
    pixels = torch.full((2, 3, 8, 8), 0.6)
    logits = classifier.logits(pixels).reshape(2, 3, 16)
    expected = [(0.6 - mean) / std for mean, std in zip(MEAN, STD, strict=True)]
    np.testing.assert_allclose(logits[0, :, 0], expected, rtol=1e-5)
    assert not logits.requires_grad
