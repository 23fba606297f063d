"""Networks: preprocessing, precision, and published weights found on this machine."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from ended_commands import run_code, succeeded
from huggingface_hub import constants
from safetensors.torch import save_file
from small_studies import LINEAR, network_card
from torch import nn

from decaf.errors import ModelError, UnknownName
from decaf.foundation.digests import file_sha256
from decaf.models import architectures
from decaf.models.checkpoint import content_sha256, save
from decaf.models.precision import disable_tf32
from decaf.models.sources.network import NetworkCard, NetworkModel

MEAN, STD = (0.5, 0.4, 0.3), (0.5, 0.25, 0.2)
CPU = torch.device("cpu")
SETTINGS = network_card("one", **LINEAR, weights="one.safetensors")
SETTINGS |= {"input_size": None, "mean": MEAN, "std": STD}


def card(**changes):
    return NetworkCard(**{**SETTINGS, **changes})


def published(architecture, tag, folder=None, arguments=None):
    changes = {"weights": None, "pretrained": tag, "checkpoints": folder}
    changes |= {"arguments": arguments or {}, "mean": [0.5], "std": [0.5]}
    return card(architecture=architecture, **changes)


def loaded(wanted):
    return wanted.load("cpu")._network.state_dict()


def equal_states(one, other):
    return all(torch.equal(one[name], other[name]) for name in one.keys() | other.keys())


def test_inputs_are_normalised_and_resized_as_the_card_says():
    fed = NetworkModel(nn.Flatten(), card(input_size=4, memory_format="channels_last"), CPU)
    pixels = torch.full((2, 3, 8, 8), 0.6)
    outputs = fed.outputs(pixels).reshape(2, 3, 16)
    expected = [(0.6 - mean) / std for mean, std in zip(MEAN, STD, strict=True)]
    np.testing.assert_allclose(outputs[0, :, 0], expected, rtol=1e-5)
    assert not outputs.requires_grad
    assert outputs.dtype == torch.float32


def test_rows_of_features_are_normalised_too():
    fed = NetworkModel(nn.Identity(), card(mean=[1.0, 2.0], std=[2.0, 4.0]), CPU)
    assert fed.outputs(torch.tensor([[3.0, 4.0]])).tolist() == [[1.0, 0.5]]
    with pytest.raises(ModelError, match="3 channels .* 'mean:' has 2"):
        fed.outputs(torch.zeros(1, 3))


def test_rows_in_float64_are_taken_in_float32():
    fed = NetworkModel(nn.Linear(2, 1), card(mean=[0.0], std=[1.0]), CPU)
    row = torch.tensor([[0.1, -7.0]], dtype=torch.float64)
    torch.testing.assert_close(fed.outputs(row), fed.outputs(row.float()), rtol=0, atol=0)


def test_a_network_that_returns_no_tensor_is_refused():
    class Two(nn.Module):
        def forward(self, x):
            return x, x

    with pytest.raises(ModelError, match="tuple"):
        NetworkModel(Two(), card(), CPU).outputs(torch.zeros(1, 3, 2, 2))


class Flags(nn.Module):
    """Returns whether TF32 is allowed while it runs, and the type of a product."""

    def forward(self, x):
        product = x.flatten(1) @ torch.ones(x[0].numel(), 1)
        self.seen = (
            torch.backends.cuda.matmul.allow_tf32,
            torch.backends.cudnn.allow_tf32,
            product.dtype,
        )
        return product


@pytest.mark.parametrize(
    ("precision", "seen"),
    [
        ("float32", (False, False, torch.float32)),
        ("tf32", (True, True, torch.float32)),
        ("bfloat16", (False, False, torch.bfloat16)),
        ("float16", (False, False, torch.float16)),
    ],
)
def test_a_precision_holds_for_the_forward_pass_alone(precision, seen):
    torch.backends.cudnn.allow_tf32 = True  # as torch has it when it is imported
    network = Flags()
    outputs = NetworkModel(network, card(precision=precision), CPU).outputs(torch.ones(2, 3, 4, 4))
    assert network.seen == seen
    assert outputs.dtype == torch.float32
    assert (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32) == (False,) * 2


def test_a_failing_forward_pass_leaves_no_precision_behind():
    class Failing(nn.Module):
        def forward(self, x):
            raise RuntimeError("out of luck")

    with pytest.raises(RuntimeError, match="out of luck"):
        NetworkModel(Failing(), card(precision="tf32"), CPU).outputs(torch.zeros(1, 3, 2, 2))
    assert not torch.backends.cuda.matmul.allow_tf32
    disable_tf32()


def test_16_bits_round_and_32_do_not():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Flatten(), nn.Linear(48, 5))
    inputs = torch.rand(4, 3, 4, 4)
    exact = NetworkModel(network, card(), CPU).outputs(inputs)
    rounded = NetworkModel(network, card(precision="bfloat16"), CPU).outputs(inputs)
    assert not torch.equal(exact, rounded)
    torch.testing.assert_close(exact, rounded, atol=0.02, rtol=0.02)


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Empty caches of torch and of the Hugging Face hub."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def test_a_digest_is_of_tensors_and_not_of_the_file(tmp_path):
    """Computed by hand: names in order, each with its type, its shape and its bytes."""
    one, two = torch.tensor([1.0, 2.0]), torch.tensor([[3]])
    texts = b'["a", "F32", [2]]', b'["b", "I64", [1, 1]]'
    content = texts[0] + one.numpy().tobytes() + texts[1] + two.numpy().tobytes()
    by_hand = hashlib.sha256(content).hexdigest()

    def digest(tensors, metadata=None):
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.safetensors"
        save_file(tensors, file, metadata)
        return content_sha256(file), file_sha256(file)

    plain = digest({"a": one, "b": two})
    timed = digest({"b": two, "a": one}, {"seconds": "12.5"})
    assert plain[0] == timed[0] == by_hand
    assert plain[1] != timed[1]
    others = [
        {"a": one, "c": two},
        {"a": one, "b": two + 1},
        {"a": one, "b": two.reshape(1)},
        {"a": one, "b": two.to(torch.int32)},
        {"a": one.view(torch.int32), "b": two},
        {"a": one},
    ]
    digests = {by_hand, *(digest(tensors)[0] for tensors in others)}
    assert len(digests) == 1 + len(others)


def test_a_declared_digest_is_that_of_the_file(tmp_path):
    file = tmp_path / "net.safetensors"
    save_file({"a": torch.zeros(3)}, file, {"made": "today"})
    own = content_sha256(file)
    assert card(weights=file).weights_digest() == own
    assert card(weights=file, sha256=file_sha256(file)).weights_digest() == own
    with pytest.raises(ModelError, match="expects"):
        card(weights=file, sha256=own).weights_digest()


SQUEEZENET_FILE = "squeezenet1_1-b8a52dc0.pth"


@pytest.mark.parametrize("own_folder", [None, "own"])
def test_torchvision_weights_are_found(caches, own_folder):
    """In the cache of torch, or in a folder of the user's own."""
    own = own_folder and caches / own_folder
    place = (own or caches / "torch" / "hub" / "checkpoints") / SQUEEZENET_FILE
    wanted = published("torchvision:squeezenet1_1", "IMAGENET1K_V1", own)
    with pytest.raises(ModelError) as refused:
        wanted.weights_digest()
    assert str(place) in str(refused.value)
    assert "nothing is downloaded" in str(refused.value)

    squeezenet = architectures.build("torchvision:squeezenet1_1", {}).state_dict()
    place.parent.mkdir(parents=True)
    torch.save(squeezenet, place)
    assert wanted.weights_file == place
    assert len(wanted.weights_digest()) == 64
    assert equal_states(loaded(wanted), squeezenet)


TINY = "test_resnet"
UNASKED = "test_efficientnet"
BEIT, BEIT_TAG = "beit_base_patch16_224", "in22k_ft_in22k_in1k"
NARROW = {"depth": 2, "embed_dim": 24, "num_heads": 2}
SWIN, SWIN_TAG = "swin_tiny_patch4_window7_224", "ms_in1k"
SHALLOW = {"depths": [2, 1, 1, 1], "embed_dim": 12, "num_heads": [1, 1, 1, 1]}
REGNET, REGNET_TAG = "regnety_002", "pycls_in1k"


SNAPSHOTS = f"hub/models--timm--{TINY}.r160_in1k/snapshots"


@pytest.mark.parametrize(
    "place",
    [
        f"{SNAPSHOTS}/{'0' * 40}/model.safetensors",
        f"{SNAPSHOTS}/main/model.safetensors",
        f"{TINY}.r160_in1k.bin",
    ],
    ids=["hub", "as the message says", "own folder"],
)
def test_timm_weights_are_found(caches, place):
    """In the cache of the hub; in a folder of the user's own they are called as the model."""
    network, is_own = architectures.build(f"timm:{TINY}", {}), place.endswith(".bin")
    wanted = published(f"timm:{TINY}", "r160_in1k", caches if is_own else None)
    with pytest.raises(ModelError, match=f"{TINY}.r160_in1k: no weights.*{Path(place).name}"):
        wanted.weights_digest()

    (caches / place).parent.mkdir(parents=True, exist_ok=True)
    if "0" * 40 in place:
        references = (caches / SNAPSHOTS).with_name("refs")
        references.mkdir()
        (references / "main").write_text("0" * 40)
    write = torch.save if is_own else save_file
    write(network.state_dict(), caches / place)
    assert wanted.weights_file == caches / place
    assert equal_states(loaded(wanted), network.state_dict())


@pytest.mark.parametrize(
    ("architecture", "tag", "message"),
    [
        ("torchvision:squeezenet1_1", "IMAGENET1K_V2", "did you mean 'IMAGENET1K_V1'"),
        ("torchvision:squeezenet1_2", "IMAGENET1K_V1", "did you mean 'squeezenet1_"),
        ("timm:resnet18", "a1_in1", "did you mean 'a1_in1k'"),
        ("timm:resnet1888", "a1_in1k", "did you mean 'resnet18"),
    ],
)
def test_a_misspelt_tag_names_the_nearest(caches, architecture, tag, message):
    with pytest.raises(UnknownName, match=message):
        published(architecture, tag).weights_digest()


def test_a_factory_has_no_published_weights(caches):
    with pytest.raises(ModelError, match="'pretrained:'"):
        published("factory:torch.nn:Linear", "any").weights_digest()


def test_torchvision_transforms_the_inputs_of_two_networks_itself(caches):
    (caches / "googlenet-1378be20.pth").touch()
    found = architectures.weights("torchvision:googlenet", None, "IMAGENET1K_V1", caches)
    assert found.arguments == {"transform_input": True}


def test_old_names_of_densenets_are_understood(caches):
    (caches / "densenet121-a639ec97.pth").touch()
    found = architectures.weights("torchvision:densenet121", None, "IMAGENET1K_V1", caches)
    old = "features.denseblock1.denselayer2.norm.1.weight"
    new = "features.denseblock1.denselayer2.norm1.weight"
    assert new in architectures.build("torchvision:densenet121", {}).state_dict()
    unchanged = "features.norm5.weight"
    for name in (old, new):
        assert found.adapt({name: 1, unchanged: 2}, None) == {new: 1, unchanged: 2}


def test_buffers_that_timm_computes_now_are_no_weights_of_a_beit(caches):
    """The published BEiT files hold indices that the network makes itself since."""
    state = timm.create_model(BEIT, **NARROW).state_dict()
    indices = {
        f"blocks.{block}.attn.relative_position_index": torch.zeros(197, 197, dtype=torch.int64)
        for block in range(2)
    }
    assert not state.keys() & indices.keys()
    torch.save({"model": state | indices}, caches / f"{BEIT}.{BEIT_TAG}.bin")
    assert equal_states(loaded(published(f"timm:{BEIT}", BEIT_TAG, caches, NARROW)), state)


def test_a_swin_file_of_the_old_names_is_understood(caches):
    """There, a stage ends with what is the beginning of the next one now."""
    state = timm.create_model(SWIN, **SHALLOW).state_dict()
    old = {}
    for name, tensor in state.items():
        for stage in (1, 2, 3):
            name = name.replace(f"layers.{stage}.downsample", f"layers.{stage - 1}.downsample")
        old[name.replace("head.fc.", "head.")] = tensor
    assert "layers.0.downsample.reduction.weight" in old
    assert "layers.3.downsample.reduction.weight" not in old
    old["layers.0.blocks.1.attn_mask"] = torch.zeros(64, 49, 49)
    old["layers.0.blocks.0.attn.relative_position_index"] = torch.zeros(49, 49)
    save_file(old, caches / f"{SWIN}.{SWIN_TAG}.safetensors")
    wanted = published(f"timm:{SWIN}", SWIN_TAG, caches, SHALLOW)
    assert equal_states(loaded(wanted), state)
    # What the filter does not know stays left over, and what it does not make stays missing.
    save_file(old | {"extra": torch.ones(1)}, caches / f"{SWIN}.{SWIN_TAG}.safetensors")
    with pytest.raises(ModelError, match="extra is left over"):
        loaded(wanted)
    old.pop("norm.bias")
    save_file(old, caches / f"{SWIN}.{SWIN_TAG}.safetensors")
    with pytest.raises(ModelError, match=r"norm\.bias is missing"):
        loaded(wanted)


def test_a_filter_of_the_file_alone_is_applied_too(caches):
    """RegNets of other projects name their layers otherwise; the filter asks for no network."""
    state = timm.create_model(REGNET).state_dict()
    torch.save({"model": state}, caches / f"{REGNET}.{REGNET_TAG}.bin")
    assert equal_states(loaded(published(f"timm:{REGNET}", REGNET_TAG, caches)), state)


def test_another_networks_file_is_no_published_weights(caches):
    state = {"layers.7.attn.relative_position_bias_table": torch.zeros(3, 3)}
    save_file(state, caches / f"{SWIN}.{SWIN_TAG}.safetensors")
    with pytest.raises(ModelError, match="SwinTransformer"):
        loaded(published(f"timm:{SWIN}", SWIN_TAG, caches, SHALLOW))
    torch.save([1], caches / f"{TINY}.r160_in1k.bin")
    with pytest.raises(ModelError, match="list"):
        loaded(published(f"timm:{TINY}", "r160_in1k", caches))


def test_asking_timm_for_its_filter_changes_nothing_of_it(caches):
    from timm.models import _builder

    loader, drawn = _builder.load_pretrained, torch.random.get_rng_state()
    save_file(timm.create_model(UNASKED).state_dict(), caches / f"{UNASKED}.r160_in1k.safetensors")
    found = architectures.weights(f"timm:{UNASKED}", None, "r160_in1k", caches)
    torch.random.set_rng_state(drawn)
    found.adapt({}, None)
    assert _builder.load_pretrained is loader
    assert torch.equal(torch.random.get_rng_state(), drawn)


def test_planning_with_weight_files_needs_no_torch(tmp_path):
    for suffix, state in ((".pt", {"weight": torch.ones(2, 2)}), (".safetensors", None)):
        path = tmp_path / f"one{suffix}"
        torch.save(state, path) if state else save(nn.Linear(2, 2), path, {})
        code = (
            "import sys\n"
            "from decaf.models.sources.network import NetworkCard\n"
            "card = NetworkCard(id='a', family='a', architecture='timm:resnet18', mean=[0], "
            f"std=[1], input_size=None, weights={str(path)!r})\n"
            "card.preprocessing_digest, card.weights_digest()\n"
            "print('torch' in sys.modules, 'torchvision' in sys.modules)"
        )
        assert succeeded(run_code(code)) == "False False\n"
