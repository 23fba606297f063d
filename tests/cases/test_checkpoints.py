"""Checkpoints as people publish them: old, with a loss beside the layers, or with tied layers."""

from collections import OrderedDict

import pytest
import torch
from flow_fixtures import NETWORKS
from networks.brought import Tied, normed
from safetensors.torch import load_model, save_file, save_model
from torch import nn

from decaf.errors import ModelError
from decaf.models.checkpoint import load_into
from decaf.models.sources.network import NetworkCard

X = torch.linspace(-1, 1, 12).reshape(3, 4)
COUNTER = "num_batches_tracked"


def trained(network, seed=1):
    """The network with values that differ from its initial ones, in evaluation mode."""
    torch.manual_seed(seed)
    for tensor in network.state_dict().values():
        if tensor.is_floating_point():
            tensor.copy_(torch.rand_like(tensor) + 0.5)
    return network.eval()


def loaded(build, path, **options):
    """Outputs of a network that decaf loads."""
    network = build()
    load_into(network, path, **options)
    return network.eval()(X)


def card(architecture, weights, **keys):
    fed = {"family": "f", "input_size": None, "mean": [0.0], "std": [1.0]}
    given = {"id": weights.stem + weights.suffix[1:], **fed, **keys}
    return given | {"architecture": f"factory:brought:{architecture}", "weights": str(weights)}


def without_counters(state):
    return {name: tensor for name, tensor in state.items() if not name.endswith(COUNTER)}


@pytest.mark.parametrize("suffix", ["pth", "safetensors"])
def test_counters_of_batches_may_be_absent_as_in_files_before_torch_0_4_1(tmp_path, suffix):
    network, path = trained(normed()), tmp_path / f"old.{suffix}"
    state = without_counters(network.state_dict())
    (torch.save if suffix == "pth" else save_file)(state, path)
    assert torch.equal(loaded(normed, path), network(X))


def test_a_whole_network_is_refused_with_the_lines_that_convert_it(tmp_path):
    torch.save(nn.Linear(4, 1), tmp_path / "whole.pt")
    with pytest.raises(ModelError, match=r"weights_only=False.*network\.state_dict\(\)"):
        loaded(normed, tmp_path / "whole.pt")


def test_a_single_number_of_an_old_file_has_one_axis(tmp_path):
    network = trained(normed())
    state = network.state_dict()
    counter = next(name for name in state if name.endswith(COUNTER))
    torch.save({**state, counter: torch.tensor([5])}, tmp_path / "old.pth")
    assert torch.equal(loaded(normed, tmp_path / "old.pth"), network(X))
    torch.save({**state, counter: torch.tensor([5, 6])}, tmp_path / "two.pth")
    with pytest.raises(ModelError, match=counter):
        loaded(normed, tmp_path / "two.pth")


@pytest.mark.parametrize("prefix", ["", "module."])
def test_a_counter_that_a_new_file_lacks_is_refused_as_by_torch(tmp_path, prefix):
    """Such a file says by its versions that the counter belongs there."""
    network = nn.Sequential(OrderedDict(module=trained(normed()))) if prefix else trained(normed())
    state = network.state_dict()
    assert isinstance(state, OrderedDict)
    for name in [name for name in state if name.endswith(COUNTER)]:
        del state[name]
    torch.save(state, tmp_path / "cut.pth")
    with pytest.raises(RuntimeError, match=COUNTER):
        network.load_state_dict(state)
    with pytest.raises(ModelError, match=COUNTER):
        loaded(normed, tmp_path / "cut.pth", prefix=prefix)


def test_running_means_that_are_missing_are_refused(tmp_path):
    state = without_counters(trained(normed()).state_dict())
    del state["1.running_mean"]
    torch.save(state, tmp_path / "cut.pth")
    with pytest.raises(ModelError, match=r"1\.running_mean is missing"):
        loaded(normed, tmp_path / "cut.pth")


def test_a_safetensors_file_of_a_tied_network_loads_as_by_its_own_library(tmp_path):
    network, path = trained(Tied()), tmp_path / "tied.safetensors"
    save_model(network, str(path))
    expected = Tied()
    load_model(expected, str(path))
    assert torch.equal(loaded(Tied, path), expected.eval()(X))
    assert torch.equal(loaded(Tied, path), network(X))


@pytest.mark.parametrize("dropped", ["first.", "second."])
@pytest.mark.parametrize("prefix", ["", "module."])
def test_a_torch_file_names_tied_tensors_once(tmp_path, dropped, prefix):
    network = trained(Tied())
    state = {
        prefix + name: tensor
        for name, tensor in network.state_dict().items()
        if not name.startswith((dropped, "row"))
    }
    torch.save(state, tmp_path / "tied.pth")
    assert torch.equal(loaded(Tied, tmp_path / "tied.pth", prefix=prefix), network(X))


class Untied(Tied):
    """The same names, of layers that are not tied."""

    def __init__(self):
        super().__init__()
        self.second = nn.Linear(4, 4)


def test_tensors_that_are_not_tied_in_the_network_are_missing(tmp_path):
    save_model(trained(Tied()), str(tmp_path / "tied.safetensors"))
    with pytest.raises(ModelError, match=r"second\.bias .* second\.weight"):
        loaded(Untied, tmp_path / "tied.safetensors")
    state = trained(Tied()).state_dict()
    for name in ("first.weight", "second.weight", "head.bias"):
        del state[name]
    torch.save(state, tmp_path / "cut.pth")
    words = r"first\.weight .* head\.bias .* second\.weight"
    with pytest.raises(ModelError, match=words):
        loaded(Tied, tmp_path / "cut.pth")


LOSS = {"criterion.pos_weight": torch.ones(1), "criterion.net.0.weight": torch.ones(2, 2)}


@pytest.mark.parametrize(
    ("leave_out", "prefix"),
    [
        (["criterion."], ""),
        (["criterion"], ""),
        (["criterion.pos_weight", "criterion.net."], ""),
        (["criterion."], "module."),
        (["module.criterion."], "module."),
    ],
)
def test_tensors_of_a_loss_are_left_out_by_name(tmp_path, leave_out, prefix):
    network = trained(normed())
    state = {prefix + name: tensor for name, tensor in (network.state_dict() | LOSS).items()}
    torch.save({"model": state}, tmp_path / "net.ckpt")
    options = {"entry": "model", "prefix": prefix, "leave_out": leave_out}
    assert torch.equal(loaded(normed, tmp_path / "net.ckpt", **options), network(X))


def test_numbers_beside_the_tensors_are_left_out_too(tmp_path):
    network = trained(normed())
    torch.save({**network.state_dict(), "epoch": 7}, tmp_path / "net.pth")
    with pytest.raises(ModelError, match="no state dict"):
        loaded(normed, tmp_path / "net.pth")
    assert torch.equal(loaded(normed, tmp_path / "net.pth", leave_out=["epoch"]), network(X))


def test_leaving_out_a_layer_or_nothing_is_refused(tmp_path):
    torch.save(trained(normed()).state_dict() | LOSS, tmp_path / "net.pth")
    with pytest.raises(ModelError, match=r"2\.bias .* 2\.weight"):
        loaded(normed, tmp_path / "net.pth", leave_out=["criterion.", "2."])
    with pytest.raises(ModelError, match=r"starts with 'criterio_'"):
        loaded(normed, tmp_path / "net.pth", leave_out=["criterion.", "criterio_"])


def test_leave_out_enters_the_digest_where_it_is_given(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(NETWORKS)
    (tmp_path / "net.pth").write_bytes(b"")
    plain, without, empty = (
        NetworkCard(**card("normed", tmp_path / "net.pth", **keys))
        for keys in ({}, {"leave_out": ["criterion."]}, {"leave_out": []})
    )
    assert plain.preprocessing_digest == empty.preprocessing_digest
    assert plain.preprocessing_digest != without.preprocessing_digest


@pytest.mark.parametrize(("is_renamed", "advised"), [(False, True), (True, False)])
def test_leaving_out_is_advised_only_if_no_tensor_is_missing(tmp_path, is_renamed, advised):
    state = trained(normed()).state_dict()
    if is_renamed:
        state = {name.replace("2.", "head."): tensor for name, tensor in state.items()}
    else:
        state |= {"head.bias": torch.ones(1)}
    torch.save(state, tmp_path / "net.pth")
    with pytest.raises(ModelError) as refusal:
        loaded(normed, tmp_path / "net.pth")
    assert ("leave_out: [head.]" in str(refusal.value)) is advised
    assert ("head.bias of the file belongs where 2.bias" in str(refusal.value)) is is_renamed
