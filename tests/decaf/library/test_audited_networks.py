"""Networks as scores: scripted ones, other precisions, and outputs that hold the scores."""

from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from decaf import audit
from decaf.errors import ModelError, ResponseError

PLUS = np.array([[[0.0, 1.0]], [[0.5, 0.5]]])
MINUS = np.array([[[1.0, 1.0]], [[0.25, 0.5]]])


class Halves(torch.nn.Module):
    """Half the sum of each input, in float32."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1, bias=False)
        torch.nn.init.constant_(self.layer.weight, 0.5)

    def forward(self, x):
        return self.layer(torch.flatten(x, 1))


NETWORK = Halves().eval()
MODULES = {"module": lambda: NETWORK, "script": lambda: torch.jit.script(NETWORK)}
MODULES["trace"] = lambda: torch.jit.trace(NETWORK, torch.zeros(2, 1, 2))


@pytest.mark.filterwarnings("ignore:.*is deprecated:FutureWarning")
@pytest.mark.parametrize("of", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("name", MODULES)
def test_float64_inputs_reach_a_network_of_float32(name, of):
    audited = audit(MODULES[name](), of(PLUS), of(MINUS), epsilon=0.02, stages=3)
    # (0 + 1) / 2 - (1 + 1) / 2, and (1/2 + 1/2) / 2 - (1/4 + 1/2) / 2; half of it half way.
    np.testing.assert_allclose(audited.response[:, 0], [[0, -0.25, -0.5], [0, 0.0625, 0.125]])


def test_other_errors_of_a_network_stay_as_they_are():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        audit(NETWORK, torch.ones(2, 3), torch.zeros(2, 3))


class Scripted(torch.nn.Module):
    """Flattens by a layer of torch, whose error does not name arrays."""

    def __init__(self):
        super().__init__()
        self.flatten = torch.nn.Flatten()

    def forward(self, x):
        return self.flatten(x).mean(1)


ON_ARRAYS = {
    "function": lambda x: NETWORK(x),
    "method": NETWORK.forward,
    "operation": lambda x: torch.sigmoid(x).mean(1),
    "layer": lambda x: Scripted()(x),
    "tensor method": lambda x: x.float().mean(1),
}


@pytest.mark.parametrize("name", ON_ARRAYS)
def test_a_function_of_tensors_gets_no_arrays(name):
    with pytest.raises(ModelError, match=r"torch\.from_numpy"):
        audit(ON_ARRAYS[name], PLUS, MINUS)


def test_an_error_of_a_function_of_arrays_stays_as_it_is():
    with pytest.raises(TypeError, match="did not contain a loop"):
        audit(lambda x: x.mean() + "1", PLUS, MINUS)


Q = torch.zeros(2)
CONTAINERS = {
    "tuple": ((Q[:, None], Q), "net(x)[0]"),
    "tuple of one": ((Q,), "net(x)[0]"),
    "tuple of as many as inputs": ((Q, Q, Q, Q), "net(x)[0]"),
    "dict": ({"logits": Q, "features": Q}, "net(x)['logits']"),
    "other dict": (OrderedDict(out=Q), "net(x)['out']"),
    "object": (SimpleNamespace(logits=Q), "net(x).logits"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_outputs_that_hold_the_scores_are_refused_with_the_remedy(name):
    output, remedy = CONTAINERS[name]
    with pytest.raises(ModelError) as refusal:
        audit(lambda x: output, PLUS, MINUS)
    assert type(output).__name__ in str(refusal.value)
    assert remedy in str(refusal.value)


def test_a_row_of_numbers_may_be_a_tuple():
    audited = audit(lambda x: tuple(x.sum((1, 2)).tolist()), PLUS, MINUS, stages=2)
    assert audited.response[:, 0].tolist() == [[0, -1], [0, 0.25]]


def test_a_gaussian_path_needs_a_reference():
    with pytest.raises(ResponseError, match=r"GaussianReveal\(reference="):
        audit(lambda x: x.sum((1, 2)), PLUS, MINUS, path="gaussian")
