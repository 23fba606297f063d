"""Networks that torch compiles."""

import pytest
import torch
from small_studies import LINEAR, network_card
from torch import nn

from decaf.errors import ModelError
from decaf.models.sources.network import NetworkCard, NetworkModel

CPU = torch.device("cpu")
SETTINGS = network_card("one", **LINEAR, weights="one.safetensors")
SETTINGS |= {"input_size": None, "mean": (0.5, 0.4, 0.3), "std": (0.5, 0.25, 0.2)}


def card(**changes):
    return NetworkCard(**SETTINGS, **changes)


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

    class Refused(nn.Flatten):
        """A network for which torch finds no compiler."""

        def forward(self, x):
            raise BackendCompilerFailed(str, RuntimeError("no compiler"), None)

    monkeypatch.setattr(torch, "compile", lambda network, mode: network)
    model = NetworkModel(Refused(), card(compile_mode="default"), CPU)
    with pytest.raises(ModelError, match="model one .*'compile_mode:'"):
        model.outputs(torch.rand(2, 3, 4, 4))
