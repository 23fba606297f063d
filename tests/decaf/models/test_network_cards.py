"""What a network's card says: sizes, published preprocessing, compilation, and kinds of weights."""

import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import save_file
from small_studies import LINEAR, network_card
from torch import nn
from torchvision.transforms.functional import center_crop, resize

from decaf.errors import ModelError
from decaf.models.checkpoint import load_into
from decaf.models.sources.network import NetworkCard, NetworkModel

CPU = torch.device("cpu")
SETTINGS = network_card("one", **LINEAR, weights="one.safetensors")
SETTINGS |= {"input_size": None, "mean": [0.0], "std": [1.0]}


def card(**changes):
    return NetworkCard(**SETTINGS | changes)


def seen(images, **resizing):
    """(height, width) of the first channel as a network gets it."""
    fed = NetworkModel(nn.Identity(), card(**resizing), CPU)
    return fed.outputs(images)[0, 0]


def test_the_shorter_side_is_resized_and_the_central_square_kept():
    wide = torch.arange(10.0).view(1, 1, 2, 5)
    assert seen(wide, input_size=2, shorter_side=2).tolist() == [[2, 3], [7, 8]]
    high = torch.rand(1, 3, 11, 7, generator=torch.manual_seed(0))
    resized = resize(high, [4], antialias=True)  # to 11 * 4 / 7 = 6.3 rows
    assert resized.shape == (1, 3, 6, 4)
    expected = center_crop(resized, [3, 3])[0, 0]
    assert torch.equal(seen(high, input_size=3, shorter_side=4), expected)


def test_the_nearest_pixels_are_taken():
    images = torch.arange(24.0).view(1, 1, 4, 6)
    near = {"interpolation": "nearest"}
    assert seen(images, input_size=2, **near).tolist() == [[0, 3], [12, 15]]
    assert seen(images, input_size=2, shorter_side=2, **near).tolist() == [[0, 2], [12, 14]]


def test_ways_of_resizing_are_known_where_they_are_not_as_usual():
    usual = card(input_size=8).preprocessing_digest
    told = {"interpolation": "bilinear", "shorter_side": None}
    assert card(input_size=8, **told).preprocessing_digest == usual
    others = {"interpolation": "nearest"}, {"shorter_side": 9}, {"shorter_side": 8}
    digests = {card(input_size=8, **other).preprocessing_digest for other in others}
    assert len({usual, *digests}) == 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"shorter_side": 8}, "'shorter_side' .* 'input_size'"),
        ({"shorter_side": 8, "input_size": 9}, "'shorter_side' .* 'input_size'"),
        ({"interpolation": "nearest"}, "'interpolation' needs 'input_size'"),
    ],
)
def test_resizing_needs_a_size(settings, words):
    with pytest.raises(ValidationError, match=words):
        card(**settings)


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_a_compiled_network_rounds_elsewhere_and_is_another_model(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.GELU(), nn.Flatten(), nn.LazyLinear(5))
    inputs = torch.rand(6, 3, 8, 8)
    network(inputs)
    plain, quick = card(), card(compile_mode="default")
    exact, compiled = (NetworkModel(network, one, CPU) for one in (plain, quick))
    for count in (6, 6, 4, 1):
        torch.testing.assert_close(compiled.outputs(inputs[:count]), exact.outputs(inputs[:count]))
    assert list(tmp_path.rglob("*.so")), "nothing was compiled"
    first, second = compiled.outputs(inputs), compiled.outputs(1 - inputs)
    torch.testing.assert_close(first, exact.outputs(inputs))  # not written over by the second
    torch.testing.assert_close(second, exact.outputs(1 - inputs))

    def gradients(model):
        given = inputs.clone().requires_grad_()
        return torch.autograd.grad(model.differentiable_outputs(given)[:, 0].sum(), given)[0]

    torch.testing.assert_close(gradients(compiled), gradients(exact))
    assert quick.preprocessing_digest != plain.preprocessing_digest


def test_a_network_that_cannot_be_compiled_is_named_with_what_to_do(monkeypatch):
    from torch._dynamo.exc import BackendCompilerFailed

    class Compiled(nn.Flatten):
        """A network whose first call finds no compiler."""

        has_compiler = False

        def forward(self, x):
            if not self.has_compiler:
                self.has_compiler = True
                raise BackendCompilerFailed(str, RuntimeError("no compiler"), None)
            return super().forward(x)

    monkeypatch.setattr(torch, "compile", lambda network, mode: Compiled())
    model = NetworkModel(nn.Flatten(), card(compile_mode="default"), CPU)
    with pytest.raises(ModelError, match="model one .*'compile_mode:'"):
        model.outputs(torch.rand(2, 3, 4, 4))


CAST = {
    "int8": torch.int8,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "bool": torch.bool,
    "complex64": torch.complex64,
}


def network():
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


def saved(tmp_path, **changed):
    state = {name: tensor.clone() for name, tensor in network().state_dict().items()} | changed
    save_file(state, tmp_path / "net.safetensors")
    return tmp_path / "net.safetensors"


@pytest.mark.parametrize("kind", CAST)
def test_weights_of_another_kind_are_refused(tmp_path, kind):
    file = saved(tmp_path, **{"0.weight": torch.ones(2, 2).to(CAST[kind])})
    with pytest.raises(ModelError) as refusal:
        load_into(network(), file)
    assert f"0.weight is {kind}, the architecture has float32" in str(refusal.value)


def test_a_counter_of_floats_is_refused(tmp_path):
    file = saved(tmp_path, **{"1.num_batches_tracked": torch.tensor(1.5)})
    with pytest.raises(ModelError, match="float32, .* int64"):
        load_into(network(), file)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_floats_of_another_width_and_counters_are_taken(tmp_path, kind):
    file = saved(tmp_path, **{"0.weight": torch.full((2, 2), 0.5).to(kind)})
    taken = network()
    load_into(taken, file)
    assert taken[0].weight.tolist() == [[0.5, 0.5]] * 2
    assert taken[1].num_batches_tracked.dtype == torch.int64


def test_a_complex_network_is_refused():
    with pytest.raises(ModelError, match="complex"):
        NetworkModel(nn.Linear(2, 2, dtype=torch.complex64), card(), CPU)
